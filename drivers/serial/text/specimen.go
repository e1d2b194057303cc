package text

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// specimen gives a short text that matches a regular expression. A described
// instrument says what its answers must match; served, it must say something
// that does.
func specimen(expression string) (string, error) {
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	write(&text, parsed.Simplify())
	matcher, err := regexp.Compile(expression)
	if err != nil {
		return "", err
	}
	if !matcher.MatchString(text.String()) {
		return "", fmt.Errorf("no answer was found that matches %q; write the expression more plainly", expression)
	}
	return text.String(), nil
}

// write appends a text that matches r, as short as choosing the least of
// everything makes it.
func write(text *strings.Builder, r *syntax.Regexp) {
	switch r.Op {
	case syntax.OpLiteral:
		text.WriteString(string(r.Rune))
	case syntax.OpCharClass:
		text.WriteRune(member(r.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		text.WriteByte('x')
	case syntax.OpCapture, syntax.OpPlus:
		write(text, r.Sub[0])
	case syntax.OpRepeat:
		for range r.Min {
			write(text, r.Sub[0])
		}
	case syntax.OpConcat:
		for _, sub := range r.Sub {
			write(text, sub)
		}
	case syntax.OpAlternate:
		write(text, r.Sub[0])
	}
	// What is left matches the empty text: anchors, stars, question marks.
}

// member picks a rune of a class, which is a list of ranges: one that can be
// seen, if there is one.
func member(class []rune) rune {
	for _, nice := range "0Ax-, " {
		for i := 0; i+1 < len(class); i += 2 {
			if class[i] <= nice && nice <= class[i+1] {
				return nice
			}
		}
	}
	if len(class) == 0 {
		return ' '
	}
	return class[0]
}
