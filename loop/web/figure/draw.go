package figure

import (
	"math"
	"strings"
)

// draw lays the figure out: title and note, then the charts in rows.
func (f *Figure) draw(c canvas, s Size) {
	c.boxes(white, box{point{0, 0}, point{s.Width, s.Height}})
	margin, top := 0.8*s.Font, 0.8*s.Font
	for i, words := range []string{f.Title, f.Note} {
		if words == "" {
			continue
		}
		t := lettering{size: s.Font * 1.1, colour: Ink.rgb(), bold: true}
		if i == 1 {
			t = lettering{size: s.Font * 0.85, colour: faint(Ink.rgb(), 0.75)}
		}
		for _, line := range wrap(words, t.size, s.Width-2*margin, 2) {
			top += t.size
			c.text(point{margin, top}, line, t)
			top += 0.25 * t.size
		}
		top += 0.2 * s.Font
	}
	text := axisText(s)
	if f.OneKey {
		top = f.Charts[0].key(c, point{margin, top}, s.Width-2*margin, text)
	}
	scaled := 0.0
	for _, p := range f.Charts {
		if p.Scale != nil {
			scaled = max(scaled, p.Scale.width(text.size))
		}
	}
	columns := f.columns(s)
	rows := (len(f.Charts) + columns - 1) / columns
	w, h := (s.Width-2*margin)/float64(columns), (s.Height-top-0.4*s.Font)/float64(rows)
	for i := range f.Charts {
		a := point{margin + float64(i%columns)*w, top + float64(i/columns)*h}
		p := f.Charts[i]
		p.keyless, p.scaled = f.OneKey, scaled
		p.draw(c, a, point{a.x + w - 0.6*s.Font, a.y + h}, s)
	}
}

// axisText is the lettering of axes and keys.
func axisText(s Size) lettering { return lettering{size: 0.85 * s.Font, colour: Ink.rgb()} }

// columns is how many charts stand beside each other.
func (f *Figure) columns(s Size) int {
	if f.Columns > 0 {
		return min(f.Columns, len(f.Charts))
	}
	best, worst := 1, math.Inf(1)
	for n := 1; n <= len(f.Charts); n++ { // the shape of a chart nearest to 4:3, with little room left over
		rows := (len(f.Charts) + n - 1) / n
		shape, empty := s.Width/float64(n)/(s.Height/float64(rows)), n*rows-len(f.Charts)
		if off := math.Abs(math.Log(shape/(4.0/3))) + 0.2*float64(empty); off < worst {
			best, worst = n, off
		}
	}
	return best
}

// draw puts a chart between two corners.
func (p *Chart) draw(c canvas, a, b point, s Size) {
	text := axisText(s)
	top := a.y + 0.3*s.Font
	if p.Title != "" {
		top += s.Font
		c.text(point{a.x, top}, clipped(p.Title, 0.95*s.Font, b.x-a.x), lettering{size: 0.95 * s.Font, colour: Ink.rgb(), bold: true})
		top += 0.3 * s.Font
	}
	x, y := noLimits(), noLimits()
	for _, l := range p.Layers {
		lx, ly := l.bounds()
		x, y = x.with(lx.low, lx.positive, lx.high), y.with(ly.low, ly.positive, ly.high)
	}
	at := place{x: p.X.spanOf(x), y: p.Y.spanOf(y), stroke: s.Font / 10, font: text.size}
	if !p.keyless {
		top = p.key(c, point{a.x, top}, b.x-a.x, text)
	}
	yTicks := p.Y.ticks(at.y, max(3, int((b.y-top)/(2.6*text.size))))
	wide := 0.0
	for _, t := range yTicks {
		wide = max(wide, widthOf(t.text, text.size))
	}
	wide = min(wide, 0.4*(b.x-a.x))
	at.a = point{a.x + wide + 0.6*s.Font, top + 0.3*s.Font}
	if p.Y.Label != "" {
		at.a.x += 1.3 * text.size
	}
	at.b = point{b.x, b.y - 1.6*text.size}
	if p.X.Label != "" {
		at.b.y -= 1.3 * text.size
	}
	if p.Scale != nil {
		at.b.x -= 1.2*s.Font + p.scaled
	}
	if at.b.x-at.a.x < s.Font || at.b.y-at.a.y < s.Font {
		return // no room: too many charts for this size
	}
	p.axes(c, at, yTicks, text, a.x)
	c.clip(at.a, at.b)
	for _, l := range p.Layers {
		l.draw(c, at)
	}
	c.unclip()
	c.path([]point{at.a, {at.b.x, at.a.y}, at.b, {at.a.x, at.b.y}}, pen{colour: faint(Ink.rgb(), 0.5), width: 0.5 * at.stroke, closed: true})
	if p.Scale != nil {
		p.Scale.draw(c, point{at.b.x + 0.6*s.Font, at.a.y}, at.b.y, b.x, text)
	}
}

// axes draws grid, ticks and labels.
func (p *Chart) axes(c canvas, at place, yTicks []tick, text lettering, left float64) {
	grid := pen{colour: gridLine, width: 0.5 * at.stroke}
	for _, t := range yTicks {
		q := at.b.y - at.y.share(t.at)*(at.b.y-at.a.y)
		if len(p.Y.Names) == 0 {
			c.path([]point{{at.a.x, q}, {at.b.x, q}}, grid)
		}
		end := text
		end.anchor = 1
		c.text(point{at.a.x - 0.4*text.size, q + 0.35*text.size}, clipped(t.text, text.size, at.a.x-left), end)
	}
	middle := text
	middle.anchor = 0.5
	for _, t := range p.X.spaced(at.x, at.b.x-at.a.x, text.size) {
		q := at.a.x + at.x.share(t.at)*(at.b.x-at.a.x)
		if len(p.X.Names) == 0 {
			c.path([]point{{q, at.a.y}, {q, at.b.y}}, grid)
		}
		c.text(point{q, at.b.y + 1.2*text.size}, t.text, middle)
	}
	c.text(point{(at.a.x + at.b.x) / 2, at.b.y + 2.6*text.size}, clipped(p.X.Label, text.size, at.b.x-left), middle)
	middle.up = true
	c.text(point{left + 0.9*text.size, (at.a.y + at.b.y) / 2}, clipped(p.Y.Label, text.size, at.b.y-at.a.y+2*text.size), middle)
}

// spaced are as many ticks as have room beside each other.
func (a Axis) spaced(s span, width, size float64) []tick {
	for about := max(2, int(width/(3*size))); ; about-- {
		ticks, need := a.ticks(s, about), 0.0
		for _, t := range ticks {
			need = max(need, widthOf(t.text, size))
		}
		if room := width / float64(max(len(ticks), 1)); need+0.8*size <= room || about <= 2 {
			if len(a.Names) > 0 {
				for i := range ticks {
					ticks[i].text = clipped(ticks[i].text, size, room-0.5*size)
				}
			}
			return ticks
		}
		if len(a.Names) > 0 {
			about = 3 // names are all there, however many
		}
	}
}

// key draws the marks and names of the layers, in rows, and returns where it ends.
func (p *Chart) key(c canvas, at point, width float64, text lettering) float64 {
	x, y, any := at.x, at.y, false
	for _, l := range p.Layers {
		name, mark := l.entry()
		if name == "" {
			continue
		}
		need := 1.6*text.size + 0.5*text.size + widthOf(name, text.size) + 1.2*text.size
		if !any {
			y += 1.1 * text.size
		} else if x+need > at.x+width {
			x, y = at.x, y+1.3*text.size
		}
		any = true
		mark(c, point{x, y - 0.35*text.size}, text.size)
		c.text(point{x + 2.1*text.size, y}, clipped(name, text.size, width-2.1*text.size), text)
		x += need
	}
	if any {
		y += 0.4 * text.size
	}
	return y
}

// width is the room that a scale takes beside its chart.
func (s *Scale) width(size float64) float64 {
	wide := 0.0
	for _, t := range s.ticks() {
		wide = max(wide, widthOf(t.text, size))
	}
	if s.Label == "" {
		return 0.8*size + 0.4*size + wide
	}
	return 0.8*size + 0.4*size + wide + 1.4*size
}

func (s *Scale) ticks() []tick { return Axis{}.ticks(span{s.Low, s.High, false}, 5) }

// draw puts a scale at its upper left corner, down to a height.
func (s *Scale) draw(c canvas, at point, bottom, right float64, text lettering) {
	const steps = 64
	h := (bottom - at.y) / steps
	for i := range steps {
		y := bottom - float64(i)*h
		c.boxes(shade((float64(i)+0.5)/steps), box{point{at.x, y - h}, point{at.x + 0.8*text.size, y}})
	}
	for _, t := range s.ticks() {
		y := bottom - (t.at-s.Low)/(s.High-s.Low)*(bottom-at.y)
		c.text(point{at.x + 1.2*text.size, y + 0.35*text.size}, t.text, text)
	}
	label := text
	label.anchor, label.up = 0.5, true
	c.text(point{right, (at.y + bottom) / 2}, clipped(s.Label, text.size, bottom-at.y+2*text.size), label)
}

// wrap breaks words into at most n lines of a width; what remains is cut.
func wrap(words string, size, width float64, n int) []string {
	var lines []string
	line := ""
	for _, w := range strings.Fields(words) {
		next := strings.TrimSpace(line + " " + w)
		if line != "" && widthOf(next, size) > width && len(lines)+1 < n {
			lines, next = append(lines, line), w
		}
		line = next
	}
	return append(lines, clipped(line, size, width))
}

// clipped shortens a text to a width, with an ellipsis.
func clipped(words string, size, width float64) string {
	if widthOf(words, size) <= width {
		return words
	}
	letters := []rune(words)
	for n := len(letters) - 1; n > 0; n-- {
		if short := strings.TrimSpace(string(letters[:n])) + "…"; widthOf(short, size) <= width {
			return short
		}
	}
	return ""
}
