package main

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

// headings gives each heading the anchor that github.com gives it.
type headings struct{ used map[string]bool }

// Generate is called with a heading's text as it stands in the source.
func (h *headings) Generate(value []byte, _ ast.NodeKind) []byte {
	base := anchorOf(string(value))
	name := base
	for i := 1; h.used[name]; i++ {
		name = fmt.Sprintf("%s-%d", base, i)
	}
	h.used[name] = true
	return []byte(name)
}

// Put notes an anchor that the source gives itself.
func (h *headings) Put(value []byte) { h.used[string(value)] = true }

func anchorOf(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			b.WriteRune(r)
		}
	}
	return b.String()
}

// titleOf is the text of a page's first heading.
func titleOf(document ast.Node, source []byte) string {
	for n := document.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			var b strings.Builder
			collect(&b, h, source)
			return b.String()
		}
	}
	return "tuner"
}

func collect(b *strings.Builder, n ast.Node, source []byte) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(source))
		}
		collect(b, c, source)
	}
}
