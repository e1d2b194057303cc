package show

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"
)

// Paper is a terminal that a result is written to: lines are broken between words, and what was
// verified, a warning and an error have their colour. What is a command to be copied stays in one
// piece.
type Paper struct {
	w io.Writer
	// columns is the terminal's width, 0: lines stay as they are.
	columns int
	color   bool
	rest    []byte // a line that has no end yet
}

// NewPaper writes to w.
func NewPaper(w io.Writer, s Style) *Paper {
	p := &Paper{w: w, color: s.Color}
	if s.Live && s.Columns != nil {
		p.columns = s.Columns()
	}
	return p
}

// Write implements io.Writer. What has no line feed yet waits for Close.
func (p *Paper) Write(text []byte) (int, error) {
	p.rest = append(p.rest, text...)
	end := bytes.LastIndexByte(p.rest, '\n') + 1
	if end == 0 {
		return len(text), nil
	}
	err := p.print(p.rest[:end])
	p.rest = append(p.rest[:0], p.rest[end:]...)
	if err != nil {
		return 0, err
	}
	return len(text), nil
}

// Close writes what is left.
func (p *Paper) Close() error {
	if len(p.rest) == 0 {
		return nil
	}
	err := p.print(p.rest)
	p.rest = nil
	return err
}

func (p *Paper) print(lines []byte) error {
	var b strings.Builder
	for line := range strings.Lines(string(lines)) {
		text := strings.TrimSuffix(line, "\n")
		feed := line[len(text):]
		folded := fold(text, p.columns)
		if p.color {
			folded = paint(folded)
		}
		b.WriteString(folded + feed)
	}
	_, err := io.WriteString(p.w, b.String())
	return err
}

// narrowest is the width below which lines are not broken: nothing would be readable.
const narrowest = 20

// fold breaks a line between words where it is longer than so many columns; what follows is
// indented by two more. A command at its end is one word: it must be possible to copy it.
func fold(line string, columns int) string {
	if columns < narrowest || utf8.RuneCountInString(line) <= columns {
		return line
	}
	indent := len(line) - len(strings.TrimLeft(line, " "))
	body, command := line[indent:], ""
	if strings.HasPrefix(body, "tuner ") {
		return line // a command by itself
	}
	if i := strings.Index(body, ": tuner "); i >= 0 {
		body, command = body[:i+1], body[i+2:]
	}
	var b strings.Builder
	at := 0
	hang := strings.Repeat(" ", min(indent+2, columns/2))
	put := func(gap, word string) {
		width := utf8.RuneCountInString(word)
		switch {
		case at == 0:
			gap = strings.Repeat(" ", indent)
		case at+len(gap)+width > columns:
			gap = hang
			at = 0
			b.WriteByte('\n')
		}
		b.WriteString(gap + word)
		at += len(gap) + width
	}
	for body != "" {
		start := len(body) - len(strings.TrimLeft(body, " "))
		end := start + strings.IndexByte(body[start:]+" ", ' ')
		put(body[:start], body[start:end])
		body = body[end:]
	}
	if command != "" {
		put(" ", command)
	}
	return b.String()
}

// Colours of a terminal.
const (
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	faint  = "\x1b[2m"
	plain  = "\x1b[0m"
)

// painted are the words at the beginning of a line that have a colour.
var painted = []struct{ word, color string }{
	{"tuner: error:", red}, {"tuner: warning:", yellow}, {"tuner: verified:", green},
	{"error:", red}, {"warning:", yellow}, {"verified:", green}, {"NOT CONFIRMED", red},
}

// paint gives the word at the beginning of a line its colour, and NOT CONFIRMED wherever it stands.
func paint(line string) string {
	for _, p := range painted {
		if strings.HasPrefix(line, p.word) {
			return p.color + p.word + plain + line[len(p.word):]
		}
	}
	return strings.Replace(line, "NOT CONFIRMED", red+"NOT CONFIRMED"+plain, 1)
}
