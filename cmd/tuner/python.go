package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// parsePython reads a value as Python's repr writes it: numbers, nan, inf, strings, True,
// False, None, lists, tuples and dictionaries, and what numpy wraps around them, such as
// array([1., 2.]) and np.float64(0.5). Lists, tuples and arrays become []any, all numbers
// float64; what a dictionary holds is read and dropped.
func parsePython(text string) (any, error) {
	p := pythonParser{text: text}
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	p.space()
	if p.at < len(p.text) && p.text[p.at] != '#' {
		return nil, p.bad("the value ends")
	}
	return v, nil
}

// pythonDepth bounds nesting: an archive has lists of lists.
const pythonDepth = 32

type pythonParser struct {
	text string
	at   int
}

func (p *pythonParser) bad(wanted string) error {
	found := p.text[min(p.at, len(p.text)):]
	if len(found) > 20 {
		found = found[:20] + "..."
	}
	return fmt.Errorf("character %d: %s expected, found %q", p.at+1, wanted, found)
}

func (p *pythonParser) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r", p.text[p.at]) >= 0 {
		p.at++
	}
}

// take passes over a character if it is next.
func (p *pythonParser) take(c byte) bool {
	p.space()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *pythonParser) value(depth int) (any, error) {
	if depth > pythonDepth {
		return nil, p.bad(fmt.Sprintf("nesting of at most %d", pythonDepth))
	}
	p.space()
	if p.at == len(p.text) {
		return nil, p.bad("a value")
	}
	switch c := p.text[p.at]; {
	case c == '[' || c == '(':
		p.at++
		return p.list(map[byte]byte{'[': ']', '(': ')'}[c], depth)
	case c == '{':
		p.at++
		return p.dictionary(depth)
	case c == '\'' || c == '"':
		return p.quoted(c)
	case c == '-' || c == '+' || c == '.' || c >= '0' && c <= '9':
		return p.number()
	}
	return p.word(depth)
}

// list reads values up to closing.
func (p *pythonParser) list(closing byte, depth int) (any, error) {
	out := []any{}
	for !p.take(closing) {
		if len(out) > 0 && !p.take(',') {
			return nil, p.bad(fmt.Sprintf("a comma or %q", closing))
		}
		if p.take(closing) { // after a last comma
			break
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func (p *pythonParser) dictionary(depth int) (any, error) {
	for first := true; !p.take('}'); first = false {
		if !first && !p.take(',') {
			return nil, p.bad("a comma or '}'")
		}
		if p.take('}') {
			break
		}
		if _, err := p.value(depth + 1); err != nil {
			return nil, err
		}
		if !p.take(':') {
			return nil, p.bad("a colon")
		}
		if _, err := p.value(depth + 1); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// quoted reads a string. Escapes are passed over, not resolved, but for that of a quote:
// only names are used.
func (p *pythonParser) quoted(quote byte) (any, error) {
	var b strings.Builder
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '\\' && p.at+1 < len(p.text):
			p.at++
			b.WriteByte(p.text[p.at])
		case c == quote:
			p.at++
			return b.String(), nil
		default:
			b.WriteByte(c)
		}
	}
	return nil, p.bad("the end of a string")
}

func (p *pythonParser) number() (any, error) {
	from := p.at
	for p.at < len(p.text) && strings.IndexByte("+-.0123456789eEinf", p.text[p.at]) >= 0 { // -inf as well
		p.at++
	}
	x, err := strconv.ParseFloat(p.text[from:p.at], 64)
	if err != nil {
		p.at = from
		return nil, p.bad("a number")
	}
	return x, nil
}

// word reads a name: a constant, or a call that wraps a value.
func (p *pythonParser) word(depth int) (any, error) {
	from := p.at
	for p.at < len(p.text) && (p.text[p.at] == '.' || p.text[p.at] == '_' || p.text[p.at] >= '0' && p.text[p.at] <= '9' ||
		p.text[p.at] >= 'a' && p.text[p.at] <= 'z' || p.text[p.at] >= 'A' && p.text[p.at] <= 'Z') {
		p.at++
	}
	name := p.text[from:p.at]
	switch name {
	case "True", "np.True_":
		return true, nil
	case "False", "np.False_":
		return false, nil
	case "None":
		return nil, nil
	case "nan":
		return math.NaN(), nil
	case "inf":
		return math.Inf(1), nil
	}
	if name == "" || !p.take('(') {
		p.at = from
		return nil, p.bad("a value")
	}
	v, err := p.value(depth + 1)
	if err != nil {
		return nil, err
	}
	for !p.take(')') { // further arguments, such as dtype=float64, say nothing of the value
		if p.at == len(p.text) {
			return nil, p.bad("')'")
		}
		p.at++
	}
	return v, nil
}
