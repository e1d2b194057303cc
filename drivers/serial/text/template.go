package text

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// template is a line with conversions, after StreamDevice and printf:
//
//	%f %e %g     a decimal number (on input all three take any notation)
//	%d           a whole number
//	%{OFF|ON}    a word out of a list; its place, from 0, is the value
//	%*...        on input: something of this form that is passed over
//	%*s          on input: any text up to what follows
//	%%           a per cent sign
//
// with the flags "-+ 0", a width and a precision as in printf; on input a width
// is the most that is taken. Everything else stands for itself. One template
// serves both directions: format writes what scan reads.
type template struct {
	text  string
	parts []part
}

// part is literal text, or a conversion where kind is not 0.
type part struct {
	literal   string
	kind      byte // 'f', 'e', 'g', 'd', 's', or '{' for a list of words
	skip      bool
	flags     string
	width     int // -1: none
	precision int // -1: none
	words     []string
}

// maxField bounds the width and the precision of a conversion: more characters
// than any number needs.
const maxField = 64

// parseTemplate reads a template.
func parseTemplate(text string) (template, error) {
	t := template{text: text}
	literal := ""
	for rest := text; rest != ""; {
		before, after, found := strings.Cut(rest, "%")
		literal += before
		if !found {
			break
		}
		if strings.HasPrefix(after, "%") {
			literal, rest = literal+"%", after[1:]
			continue
		}
		p, tail, err := parseConversion(after)
		if err != nil {
			return template{}, fmt.Errorf("%q: %w", text, err)
		}
		if literal == "" && len(t.parts) > 0 && t.parts[len(t.parts)-1].open() {
			return template{}, fmt.Errorf("%q: two conversions touch, so it is unclear where the first ends; put text between them or give the first a width", text)
		}
		if literal != "" {
			t.parts = append(t.parts, part{literal: literal})
		}
		t.parts, literal, rest = append(t.parts, p), "", tail
	}
	if literal != "" {
		t.parts = append(t.parts, part{literal: literal})
	}
	return t, t.clear()
}

// clear refuses text that could be taken for the rest of the number before it.
func (t template) clear() error {
	for i := 1; i < len(t.parts); i++ {
		before, text := t.parts[i-1], t.parts[i].literal
		if before.kind != 's' && before.open() && text != "" && strings.IndexByte("0123456789.", text[0]) >= 0 {
			return fmt.Errorf("%q: %q follows a number and begins like more of it; it is unclear where the number ends", t.text, text)
		}
	}
	return nil
}

// open says that only what follows the conversion tells where it ends.
func (p part) open() bool { return p.kind != 0 && p.kind != '{' && p.width < 0 }

// parseConversion reads what follows a per cent sign, and returns what is left.
func parseConversion(s string) (part, string, error) {
	p := part{width: -1, precision: -1}
	if strings.HasPrefix(s, "*") {
		p.skip, s = true, s[1:]
	}
	n := 0
	for n < len(s) && strings.IndexByte("-+ 0", s[n]) >= 0 {
		n++
	}
	p.flags, s = s[:n], s[n:]
	var err error
	if p.width, s, err = parseField(s); err != nil {
		return part{}, "", err
	}
	if strings.HasPrefix(s, ".") {
		if p.precision, s, err = parseField(s[1:]); err != nil {
			return part{}, "", err
		}
		p.precision = max(p.precision, 0) // "%.f" has none, as in printf
	}
	if s == "" {
		return part{}, "", errors.New("a per cent sign at the end; write %% for the sign itself")
	}
	p.kind = s[0]
	switch p.kind {
	case 'f', 'e', 'g', 'd':
		return p, s[1:], nil
	case 's':
		if !p.skip {
			return part{}, "", errors.New("%s would read text, and a value is a number; %*s passes text over")
		}
		return p, s[1:], nil
	case '{':
		list, tail, closed := strings.Cut(s[1:], "}")
		p.words = strings.Split(list, "|")
		if !closed || len(p.words) < 2 || slices.Contains(p.words, "") {
			return part{}, "", errors.New("a list of words is written %{OFF|ON}")
		}
		return p, tail, nil
	case 'x', 'X', 'o', 'b', 'i', 'u', 'r':
		return part{}, "", fmt.Errorf("%%%c is not taken: numbers are decimal; use %%f or %%d", p.kind)
	}
	return part{}, "", fmt.Errorf("%%%c is no conversion; the conversions are %%f, %%e, %%g, %%d, %%{A|B}, and %%* before them", p.kind)
}

// parseField reads the digits of a width or precision; -1 where there are none.
func parseField(s string) (int, string, error) {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n == 0 {
		return -1, s, nil
	}
	v, err := strconv.Atoi(s[:n])
	if err != nil || v > maxField {
		return 0, "", fmt.Errorf("a width or precision of %s; at most %d are taken", s[:n], maxField)
	}
	return v, s[n:], nil
}

// values counts the conversions that carry a value.
func (t template) values() int {
	n := 0
	for _, p := range t.parts {
		if p.kind != 0 && !p.skip {
			n++
		}
	}
	return n
}

// skips says whether a conversion is passed over.
func (t template) skips() bool {
	return slices.ContainsFunc(t.parts, func(p part) bool { return p.skip })
}

// format writes v into the line. What is passed over on input is written as 0; a command
// whose value lasts for a time has that time there (see command.line).
func (t template) format(v float64) (string, error) {
	return t.formatEach(func(p part) float64 {
		if p.skip {
			return 0
		}
		return v
	})
}

// formatEach writes the line with a value for each conversion.
func (t template) formatEach(value func(part) float64) (string, error) {
	var line strings.Builder
	for _, p := range t.parts {
		if p.kind == 0 {
			line.WriteString(p.literal)
			continue
		}
		text, err := p.print(value(p))
		if err != nil {
			return "", err
		}
		line.WriteString(text)
	}
	return line.String(), nil
}

// print writes one value.
func (p part) print(v float64) (string, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "", fmt.Errorf("%v cannot be sent", v)
	}
	switch p.kind {
	case 's':
		return "-", nil
	case '{':
		i := int(math.Round(v))
		// Beyond rounding error, a value between two words means neither.
		if math.Abs(v-float64(i)) > 1e-6 || i < 0 || i >= len(p.words) {
			return "", fmt.Errorf("%v is the place of no word of %q, which count from 0", v, p.words)
		}
		return p.words[i], nil
	case 'd':
		whole := math.Round(v)
		if math.Abs(whole) > 1<<53 {
			return "", fmt.Errorf("%v is too large to be sent as a whole number", v)
		}
		return fmt.Sprintf("%"+p.flags+p.size()+"d", int64(whole)), nil
	}
	verb := "%" + p.flags + p.size() + p.digits() + string(p.kind)
	text := fmt.Sprintf(verb, v)
	// A small negative number may round to -0, which some instruments refuse.
	if strings.Contains(text, "-") && strings.Trim(text, "-+ 0.eE") == "" {
		text = fmt.Sprintf(verb, 0.0)
	}
	return text, nil
}

func (p part) size() string {
	if p.width < 0 {
		return ""
	}
	return strconv.Itoa(p.width)
}

// digits is the precision; without one it is 6, as in printf.
func (p part) digits() string {
	if p.precision < 0 {
		return ".6"
	}
	return "." + strconv.Itoa(p.precision)
}
