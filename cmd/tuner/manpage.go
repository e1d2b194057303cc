package main

import (
	"fmt"
	"iter"
	"maps"
	"strings"
)

// manPage is text in the man(7) language.
type manPage struct{ b strings.Builder }

func (m *manual) page(name, section string) *manPage {
	p := &manPage{}
	fmt.Fprintf(&p.b, ".TH %s %s \"%s\" \"tuner\" \"tuner manual\"\n", roff(strings.ToUpper(name)), section, m.date)
	return p
}

// String is the whole page.
func (p *manPage) String() string { return p.b.String() }

func (p *manPage) section(title string) {
	fmt.Fprintf(&p.b, ".SH \"%s\"\n", strings.ReplaceAll(roff(title), `"`, `\(dq`))
}

// text writes running text.
func (p *manPage) text(text string) {
	for line := range strings.Lines(text) {
		p.b.WriteString(notRequest(roff(strings.TrimSpace(line))) + "\n")
	}
}

func (p *manPage) bold(text string) {
	fmt.Fprintf(&p.b, ".B \"%s\"\n", strings.ReplaceAll(roff(text), `"`, `\(dq`))
}

// item writes a term and what it means.
func (p *manPage) item(term, text string) {
	p.b.WriteString(".TP\n")
	p.bold(term)
	p.text(text)
}

// paragraphs writes text as help shows it: blocks with an empty line between them, of
// which those that are indented are shown as they are.
func (p *manPage) paragraphs(text string) {
	for i, block := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		if i > 0 {
			p.b.WriteString(".PP\n")
		}
		if !strings.HasPrefix(block, "  ") {
			p.text(block)
			continue
		}
		p.b.WriteString(".nf\n.RS\n")
		for line := range strings.Lines(block) {
			p.b.WriteString(notRequest(roff(strings.TrimSuffix(strings.TrimPrefix(line, "  "), "\n"))) + "\n")
		}
		p.b.WriteString(".RE\n.fi\n")
	}
}

// roff escapes what the language would not show as it is. A hyphen is a minus, so that
// commands can be copied from the page.
func roff(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "^", `\(ha`, "~", `\(ti`, "`", `\(ga`, "’", `\(cq`, "α", `\(*a`).Replace(text)
}

// notRequest keeps a line from being taken for a request.
func notRequest(line string) string {
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		return `\&` + line
	}
	return line
}

func keysOf(m map[string]string) iter.Seq[string] { return maps.Keys(m) }
