package figure

import (
	"image/color"
	"math"
)

// Layer is something that is drawn in a chart. Values that are not finite leave a gap.
type Layer interface {
	// bounds are the least and the greatest value on each axis; NaN where the layer has none.
	bounds() (x, y limits)
	draw(c canvas, p place)
	// entry is the layer's name in the key ("": none) and its mark.
	entry() (name string, mark func(c canvas, at point, size float64))
}

// limits grow with what they are shown.
type limits struct {
	low, high float64
	// positive is the least value above 0, which is where a logarithmic axis begins.
	positive float64
}

func noLimits() limits { return limits{math.NaN(), math.NaN(), math.NaN()} }

func (l limits) with(values ...float64) limits {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		if !(l.low <= v) {
			l.low = v
		}
		if !(l.high >= v) {
			l.high = v
		}
		if v > 0 && !(l.positive <= v) {
			l.positive = v
		}
	}
	return l
}

// place is where a chart's axes lie on the canvas.
type place struct {
	x, y   span
	a, b   point // upper left and lower right corner
	stroke float64
	font   float64
}

// at is the place of a pair of values; false where it has none.
func (p place) at(x, y float64) (point, bool) {
	u, v := p.x.share(x), p.y.share(y)
	q := point{p.a.x + u*(p.b.x-p.a.x), p.b.y - v*(p.b.y-p.a.y)}
	// What lies far outside is cut by the clip; numbers that no format takes are not drawn.
	return q, math.Abs(q.x) < 1e6 && math.Abs(q.y) < 1e6
}

// Line goes through points in their order.
type Line struct {
	Name   string
	X, Y   []float64
	Colour Colour
	Dashed bool
	// Stepped holds each value until the next one.
	Stepped bool
	// Thin is for lines that are context.
	Thin bool
	// Scale colours the line by Worth, where it is given.
	Scale *Scale
	Worth float64
}

func (l Line) bounds() (x, y limits) { return noLimits().with(l.X...), noLimits().with(l.Y...) }

func (l Line) pen(stroke float64) pen {
	p := pen{colour: l.Colour.rgb(), width: 1.6 * stroke}
	if l.Scale != nil {
		p.colour = l.Scale.shade(l.Worth)
	}
	if l.Thin {
		p.width, p.colour = 0.6*stroke, faint(p.colour, 0.6)
	}
	if l.Dashed {
		p.dash = []float64{4 * stroke, 3 * stroke}
	}
	return p
}

func (l Line) draw(c canvas, p place) {
	var run []point
	flush := func() {
		if len(run) > 1 {
			c.path(run, l.pen(p.stroke))
		}
		run = nil
	}
	for i := range l.X {
		q, ok := p.at(l.X[i], l.Y[i])
		if !ok {
			flush()
			continue
		}
		if l.Stepped && len(run) > 0 {
			run = append(run, point{q.x, run[len(run)-1].y})
		}
		run = append(run, q)
	}
	flush()
}

func (l Line) entry() (string, func(canvas, point, float64)) {
	return l.Name, func(c canvas, at point, size float64) {
		c.path([]point{{at.x, at.y}, {at.x + 1.6*size, at.y}}, l.pen(size/10))
	}
}

// Band fills between two lines over the same x.
type Band struct {
	Name         string
	X, Low, High []float64
	Colour       Colour
}

func (b Band) bounds() (x, y limits) {
	return noLimits().with(b.X...), noLimits().with(b.Low...).with(b.High...)
}

func (b Band) draw(c canvas, p place) {
	var upper, lower []point
	flush := func() {
		if len(upper) > 1 {
			for i := len(lower) - 1; i >= 0; i-- {
				upper = append(upper, lower[i])
			}
			c.path(upper, pen{colour: faint(b.Colour.rgb(), 0.2), closed: true})
		}
		upper, lower = nil, nil
	}
	for i := range b.X {
		high, ok := p.at(b.X[i], b.High[i])
		low, fine := p.at(b.X[i], b.Low[i])
		if !ok || !fine {
			flush()
			continue
		}
		upper, lower = append(upper, high), append(lower, low)
	}
	flush()
}

func (b Band) entry() (string, func(canvas, point, float64)) {
	return b.Name, func(c canvas, at point, size float64) {
		c.boxes(faint(b.Colour.rgb(), 0.2), box{point{at.x, at.y - 0.35*size}, point{at.x + 1.6*size, at.y + 0.35*size}})
	}
}

// Shape is the form of a mark.
type Shape int

// The shapes of marks.
const (
	Disc Shape = iota
	Circle
	Cross
	Diamond
)

// Points are marks, with bars of X ± XError and Y ± YError where those are given.
type Points struct {
	Name           string
	X, Y           []float64
	XError, YError []float64
	Colour         Colour
	Shape          Shape
	// Worth colours each mark by a scale, where it is given.
	Worth []float64
	Scale *Scale
	// Large is for the few marks that matter most.
	Large bool
}

func (s Points) bounds() (x, y limits) {
	x, y = noLimits().with(s.X...), noLimits().with(s.Y...)
	for i := range s.XError {
		x = x.with(s.X[i]-s.XError[i], s.X[i]+s.XError[i])
	}
	for i := range s.YError {
		y = y.with(s.Y[i]-s.YError[i], s.Y[i]+s.YError[i])
	}
	return x, y
}

func (s Points) colour(i int) color.NRGBA {
	if s.Worth == nil || s.Scale == nil {
		return s.Colour.rgb()
	}
	return s.Scale.shade(s.Worth[i])
}

func (s Points) radius(stroke float64) float64 {
	switch {
	case s.Large:
		return 5 * stroke
	case len(s.X) > 400:
		return 1.3 * stroke
	}
	return 2.2 * stroke
}

func (s Points) draw(c canvas, p place) {
	for i := range s.X {
		bar := pen{colour: faint(s.colour(i), 0.55), width: 0.8 * p.stroke}
		if s.XError != nil {
			segment(c, p, [4]float64{s.X[i] - s.XError[i], s.Y[i], s.X[i] + s.XError[i], s.Y[i]}, bar)
		}
		if s.YError != nil {
			segment(c, p, [4]float64{s.X[i], s.Y[i] - s.YError[i], s.X[i], s.Y[i] + s.YError[i]}, bar)
		}
	}
	for i := range s.X {
		if q, ok := p.at(s.X[i], s.Y[i]); ok {
			s.mark(c, q, s.radius(p.stroke), s.colour(i))
		}
	}
}

// segment draws a line between two pairs of values, where both have a place.
func segment(c canvas, p place, v [4]float64, ink pen) {
	from, ok := p.at(v[0], v[1])
	to, fine := p.at(v[2], v[3])
	if ok && fine {
		c.path([]point{from, to}, ink)
	}
}

func (s Points) mark(c canvas, q point, r float64, colour color.NRGBA) {
	switch s.Shape {
	case Circle:
		c.circle(q, r, pen{colour: colour, width: 0.45 * r})
	case Cross:
		ink := pen{colour: colour, width: 0.5 * r}
		c.path([]point{{q.x - r, q.y - r}, {q.x + r, q.y + r}}, ink)
		c.path([]point{{q.x - r, q.y + r}, {q.x + r, q.y - r}}, ink)
	case Diamond:
		edge := []point{{q.x, q.y - 1.2*r}, {q.x + 1.2*r, q.y}, {q.x, q.y + 1.2*r}, {q.x - 1.2*r, q.y}}
		c.path(edge, pen{colour: colour, closed: true})
		c.path(edge, pen{colour: white, width: 0.25 * r, closed: true})
	default:
		c.circle(q, r, pen{colour: colour})
	}
}

func (s Points) entry() (string, func(canvas, point, float64)) {
	return s.Name, func(c canvas, at point, size float64) {
		colour := s.Colour.rgb()
		if s.Worth != nil {
			colour = shade(0.4)
		}
		s.mark(c, point{at.x + 0.8*size, at.y}, min(s.radius(size/10), 0.4*size), colour)
	}
}

// Rule is a straight line across the chart at one value.
type Rule struct {
	Name     string
	At       float64
	Vertical bool
	Colour   Colour
	Dashed   bool
}

func (r Rule) bounds() (x, y limits) {
	if r.Vertical {
		return noLimits().with(r.At), noLimits()
	}
	return noLimits(), noLimits().with(r.At)
}

func (r Rule) draw(c canvas, p place) {
	line := Line{Colour: r.Colour, Dashed: r.Dashed}.pen(p.stroke)
	if r.Vertical {
		if u := p.x.share(r.At); u >= 0 && u <= 1 {
			x := p.a.x + u*(p.b.x-p.a.x)
			c.path([]point{{x, p.a.y}, {x, p.b.y}}, line)
		}
		return
	}
	if v := p.y.share(r.At); v >= 0 && v <= 1 {
		y := p.b.y - v*(p.b.y-p.a.y)
		c.path([]point{{p.a.x, y}, {p.b.x, y}}, line)
	}
}

func (r Rule) entry() (string, func(canvas, point, float64)) {
	return Line{Name: r.Name, Colour: r.Colour, Dashed: r.Dashed}.entry()
}

// Bars are horizontal bars from 0, one at each whole number of the other axis.
type Bars struct {
	Name   string
	Value  []float64
	Error  []float64
	Colour Colour
	// Row and Rows place the bars of several series beside each other.
	Row, Rows int
}

func (b Bars) bounds() (x, y limits) {
	x = noLimits().with(0).with(b.Value...)
	for i := range b.Error {
		x = x.with(b.Value[i] + b.Error[i])
	}
	return x, noLimits().with(0, float64(len(b.Value)-1))
}

func (b Bars) draw(c canvas, p place) {
	rows := float64(max(b.Rows, 1))
	thick := 0.7 / rows
	for i, v := range b.Value {
		middle := float64(i) + (float64(b.Row)-(rows-1)/2)*thick
		from, ok := p.at(0, middle-thick/2)
		to, fine := p.at(v, middle+thick/2)
		if !ok || !fine {
			continue
		}
		c.boxes(b.Colour.rgb(), box{point{min(from.x, to.x), min(from.y, to.y)}, point{max(from.x, to.x), max(from.y, to.y)}})
		if b.Error != nil {
			segment(c, p, [4]float64{v - b.Error[i], middle, v + b.Error[i], middle}, pen{colour: Ink.rgb(), width: p.stroke})
		}
	}
}

func (b Bars) entry() (string, func(canvas, point, float64)) {
	return b.Name, func(c canvas, at point, size float64) {
		c.boxes(b.Colour.rgb(), box{point{at.x, at.y - 0.3*size}, point{at.x + 1.6*size, at.y + 0.3*size}})
	}
}
