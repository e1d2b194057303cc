package figure

import (
	"encoding/xml"
	"fmt"
	"image/color"
	"io"
	"strconv"
	"strings"
)

// svg collects the elements of an SVG file.
type svg struct {
	size  Size
	body  strings.Builder
	clips int
}

func newSVG(s Size) canvas { return &svg{size: s} }

// short writes a coordinate to a hundredth of a point.
func short(v float64) string {
	s := strings.TrimRight(strconv.FormatFloat(v, 'f', 2, 64), "0")
	if s = strings.TrimSuffix(s, "."); s == "-0" {
		return "0"
	}
	return s
}

func (s *svg) add(format string, args ...any) { fmt.Fprintf(&s.body, format+"\n", args...) }

// paint is a colour as the value of an attribute, with its opacity.
func paint(kind string, c color.NRGBA) string {
	out := fmt.Sprintf(`%s="#%02x%02x%02x"`, kind, c.R, c.G, c.B)
	if c.A < 255 {
		out += fmt.Sprintf(` %s-opacity="%s"`, kind, short(float64(c.A)/255))
	}
	return out
}

func (p pen) svg() string {
	if p.width == 0 {
		return paint("fill", p.colour)
	}
	out := `fill="none" ` + paint("stroke", p.colour) + ` stroke-width="` + short(p.width) + `"`
	if len(p.dash) > 0 {
		lengths := make([]string, len(p.dash))
		for i, d := range p.dash {
			lengths[i] = short(d)
		}
		out += ` stroke-dasharray="` + strings.Join(lengths, " ") + `"`
	}
	return out
}

func (s *svg) path(points []point, ink pen) {
	var d strings.Builder
	for i, q := range points {
		d.WriteString([]string{"L", "M"}[b2i(i == 0)] + short(q.x) + " " + short(q.y))
	}
	if ink.closed {
		d.WriteString("Z")
	}
	s.add(`<path d="%s" %s/>`, d.String(), ink.svg())
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (s *svg) boxes(fill color.NRGBA, of ...box) {
	var d strings.Builder
	for _, r := range of {
		fmt.Fprintf(&d, "M%s %sH%sV%sH%sZ", short(r.a.x), short(r.a.y), short(r.b.x), short(r.b.y), short(r.a.x))
	}
	s.add(`<path d="%s" %s shape-rendering="crispEdges"/>`, d.String(), paint("fill", fill))
}

func (s *svg) circle(at point, radius float64, ink pen) {
	s.add(`<circle cx="%s" cy="%s" r="%s" %s/>`, short(at.x), short(at.y), short(radius), ink.svg())
}

// fitted is from how many letters on a text is given the width that the layout reckons with.
const fitted = 8

func (s *svg) text(at point, words string, t lettering) {
	if words == "" {
		return
	}
	more := ""
	if t.anchor > 0 {
		more += ` text-anchor="` + []string{"middle", "end"}[b2i(t.anchor == 1)] + `"`
	}
	if t.bold {
		more += ` font-weight="bold"`
	}
	if !t.bold && len(words) >= fitted { // where the reader's font is wider, words still fit beside each other
		more += ` textLength="` + short(widthOf(words, t.size)) + `" lengthAdjust="spacingAndGlyphs"`
	}
	if t.up {
		more += fmt.Sprintf(` transform="rotate(-90 %s %s)"`, short(at.x), short(at.y))
	}
	s.add(`<text x="%s" y="%s" font-size="%s" %s%s>%s</text>`, short(at.x), short(at.y), short(t.size), paint("fill", t.colour), more, escaped(words))
}

func escaped(words string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(words)) // a Builder takes everything
	return out.String()
}

func (s *svg) clip(a, b point) {
	s.clips++
	// The name has the size in it: figures of one page do not take each other's.
	name := fmt.Sprintf("clip%d-%s-%s-%s-%s", s.clips, short(a.x), short(a.y), short(b.x), short(b.y))
	s.add(`<clipPath id="%s"><rect x="%s" y="%s" width="%s" height="%s"/></clipPath><g clip-path="url(#%s)">`, name, short(a.x), short(a.y), short(b.x-a.x), short(b.y-a.y), name)
}

func (s *svg) unclip() { s.add("</g>") }

func (s *svg) write(w io.Writer, title string) error {
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]spt" height="%[2]spt" viewBox="0 0 %[1]s %[2]s" font-family="Helvetica, Arial, 'Liberation Sans', sans-serif" role="img">
<title>%[3]s</title>
%[4]s</svg>
`, short(s.size.Width), short(s.size.Height), escaped(title), s.body.String())
	return err
}
