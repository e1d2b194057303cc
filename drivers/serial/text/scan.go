package text

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/labtuner/tuner/drivers/exec/wire"
	"github.com/labtuner/tuner/drivers/serial/protocol"
)

// scan reads the value out of a line. The whole line must match: text that is
// missing, different or left over is an error that wraps errMismatch, and so is
// a number that is not decimal and finite. Blanks before a number are passed
// over, as scanf does.
func (t template) scan(line string) (float64, error) {
	value, rest := 0.0, line
	for i, p := range t.parts {
		if p.kind == 0 {
			after, ok := strings.CutPrefix(rest, p.literal)
			if !ok {
				return 0, t.mismatch(line, fmt.Sprintf("%q should stand at %q", p.literal, cut(rest)))
			}
			rest = after
			continue
		}
		next := ""
		if i+1 < len(t.parts) {
			next = t.parts[i+1].literal
		}
		v, after, err := p.read(rest, next)
		if err != nil {
			return 0, t.mismatch(line, err.Error())
		}
		if !p.skip {
			value = v
		}
		rest = after
	}
	if rest != "" {
		return 0, t.mismatch(line, fmt.Sprintf("%q is left over", cut(rest)))
	}
	return value, nil
}

func (t template) mismatch(line, why string) error {
	return fmt.Errorf("%w: %s does not match %q: %s", protocol.ErrMismatch, wire.Quote([]byte(line)), t.text, why)
}

// cut keeps messages short.
func cut(s string) string {
	if len(s) > wire.Excerpt {
		return s[:wire.Excerpt] + "..."
	}
	return s
}

// read takes one conversion from the start of s. next is the text that follows
// it, "" at the end of the line.
func (p part) read(s, next string) (float64, string, error) {
	if p.kind == '{' {
		return p.readWord(s)
	}
	token, rest := p.token(s, next)
	if p.kind == 's' {
		if token == "" {
			return 0, "", errors.New("there is nothing to pass over")
		}
		return 0, rest, nil
	}
	number := strings.TrimLeft(token, " \t")
	// A second word is no part of the number; what wire.Number would say of it
	// would mislead.
	if i := strings.IndexFunc(number, unicode.IsSpace); i > 0 {
		if _, err := wire.Number(number[:i]); err == nil {
			return 0, "", fmt.Errorf("%q is left over after the number; if it is always there, add it to in = or to the terminator", cut(number[i:]))
		}
	}
	v, err := wire.Number(number)
	if err != nil {
		return 0, "", err
	}
	if strings.TrimSpace(number) != number {
		return 0, "", fmt.Errorf("%q has more around the number than blanks before it", cut(number))
	}
	if p.kind == 'd' && strings.ContainsAny(number, ".eE") {
		return 0, "", fmt.Errorf("%q is no whole number, which %%d wants", number)
	}
	return v, rest, nil
}

// token is what the conversion may take: up to the text that follows it, and not
// more than its width.
func (p part) token(s, next string) (token, rest string) {
	end := len(s)
	if next != "" {
		// The sign of a number is no separator.
		from := len(s) - len(strings.TrimLeft(s, " \t"))
		if p.kind != 's' && from < len(s) && (s[from] == '-' || s[from] == '+') {
			from++
		}
		if i := strings.Index(s[from:], next); i >= 0 {
			end = from + i
		}
	}
	if p.width >= 0 {
		end = min(end, p.width)
	}
	return s[:end], s[end:]
}

// readWord takes the longest word of the list.
func (p part) readWord(s string) (float64, string, error) {
	best := -1
	for i, w := range p.words {
		if strings.HasPrefix(s, w) && (best < 0 || len(w) > len(p.words[best])) {
			best = i
		}
	}
	if best < 0 {
		return 0, "", fmt.Errorf("%q begins with none of %q", cut(s), p.words)
	}
	return float64(best), s[len(p.words[best]):], nil
}
