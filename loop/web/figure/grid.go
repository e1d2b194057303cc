package figure

import (
	"image/color"
	"math"
	"slices"
)

// Map colours a rectangle of values by a scale. Z[j][i] is the value at X[i], Y[j]; both ascend.
type Map struct {
	X, Y  []float64
	Z     [][]float64
	Scale *Scale
	// Levels are the values at which contours are drawn over the colours.
	Levels []float64
	// Whole draws the outer cells whole, on linear axes: they reach beyond their values by half a cell.
	Whole bool
}

func (m Map) bounds() (x, y limits) { return noLimits().with(m.X...), noLimits().with(m.Y...) }

func (m Map) entry() (string, func(canvas, point, float64)) { return "", nil }

func (m Map) draw(c canvas, p place) {
	xs, ys := edges(m.X, p.x.log), edges(m.Y, p.y.log)
	if m.Whole {
		widen(xs, m.X)
		widen(ys, m.Y)
	}
	cells, colours := map[color.NRGBA][]box{}, []color.NRGBA{}
	for j := range m.Y {
		for i := 0; i < len(m.X); {
			next, colour := i+1, m.Scale.shade(m.Z[j][i])
			for next < len(m.X) && m.Scale.shade(m.Z[j][next]) == colour {
				next++ // cells of one colour are one rectangle
			}
			a, ok := p.at(xs[i], ys[j+1])
			b, fine := p.at(xs[next], ys[j])
			if ok && fine && !math.IsNaN(m.Z[j][i]) {
				if cells[colour] == nil {
					colours = append(colours, colour)
				}
				cells[colour] = append(cells[colour], box{a, b})
			}
			i = next
		}
	}
	for _, colour := range colours {
		c.boxes(colour, cells[colour]...)
	}
	for _, level := range m.Levels {
		for _, run := range chained(contour(m.X, m.Y, m.Z, level)) {
			line := make([]point, 0, len(run))
			for _, q := range run {
				if to, ok := p.at(q.x, q.y); ok {
					line = append(line, to)
				}
			}
			c.path(line, pen{colour: faint(white, 0.75), width: 0.7 * p.stroke})
		}
	}
}

// edges are the borders of cells around ascending values: in the middle between two, and
// at the first and the last value itself.
func edges(v []float64, log bool) []float64 {
	out := make([]float64, len(v)+1)
	for i := range out {
		switch {
		case i == 0:
			out[i] = v[0]
		case i == len(v):
			out[i] = v[i-1]
		case log:
			out[i] = math.Sqrt(v[i-1] * v[i])
		default:
			out[i] = (v[i-1] + v[i]) / 2
		}
	}
	return out
}

// widen moves the outer edges of the cells around values to where those have the value in their middle.
func widen(edges, v []float64) {
	if n := len(v); n > 1 {
		edges[0], edges[n] = 2*v[0]-edges[1], 2*v[n-1]-edges[n-1]
	}
}

// contour gives the segments (x1, y1, x2, y2) at which a field, linear along the edges of each
// triangle of its cells, passes a level. Each cell is cut into two triangles, so that no case is ambiguous.
func contour(x, y []float64, z [][]float64, level float64) [][4]float64 {
	var out [][4]float64
	for j := 0; j+1 < len(y); j++ {
		for i := 0; i+1 < len(x); i++ {
			a, b := corner{x[i], y[j], z[j][i]}, corner{x[i+1], y[j], z[j][i+1]}
			d, e := corner{x[i], y[j+1], z[j+1][i]}, corner{x[i+1], y[j+1], z[j+1][i+1]}
			for _, t := range [2][3]corner{{a, b, e}, {a, e, d}} {
				if s, ok := crossing(t, level); ok {
					out = append(out, s)
				}
			}
		}
	}
	return out
}

// chained joins segments that share an end into lines. Neighbouring triangles cross their common
// edge at the same numbers, so that ends are equal to the last bit.
func chained(segments [][4]float64) [][]point {
	at := map[point][]int{} // the segments that end at a point
	for i, s := range segments {
		for _, q := range []point{{s[0], s[1]}, {s[2], s[3]}} {
			at[q] = append(at[q], i)
		}
	}
	used := make([]bool, len(segments))
	follow := func(from point) (line []point) {
		for {
			next := -1
			for _, i := range at[from] {
				if !used[i] {
					next = i
					break
				}
			}
			if next < 0 {
				return line
			}
			used[next] = true
			s := segments[next]
			if from == (point{s[0], s[1]}) {
				from = point{s[2], s[3]}
			} else {
				from = point{s[0], s[1]}
			}
			line = append(line, from)
		}
	}
	var out [][]point
	for i, s := range segments {
		if used[i] {
			continue
		}
		begin := point{s[0], s[1]}
		ahead, behind := follow(begin), follow(begin)
		slices.Reverse(behind)
		out = append(out, append(append(behind, begin), ahead...))
	}
	return out
}

// corner is a value of a field at a place.
type corner struct{ x, y, z float64 }

// crossing is the segment at which a plane over a triangle passes a level.
func crossing(t [3]corner, level float64) (s [4]float64, ok bool) {
	n := 0
	for k := range t {
		a, b := t[k], t[(k+1)%3]
		if (a.z < level) == (b.z < level) || math.IsNaN(a.z) || math.IsNaN(b.z) {
			continue
		}
		if a.z > b.z {
			a, b = b, a // the triangle beside this one computes the same
		}
		f := (level - a.z) / (b.z - a.z)
		if n < 2 {
			s[2*n], s[2*n+1] = a.x+f*(b.x-a.x), a.y+f*(b.y-a.y)
		}
		n++
	}
	return s, n == 2
}

// shade is the colour of a value, grey where it is none.
func (s *Scale) shade(v float64) color.NRGBA {
	if math.IsNaN(v) {
		return Soft.rgb()
	}
	return shade((v - s.Low) / (s.High - s.Low))
}

// Levels are about n round values inside a scale.
func (s *Scale) Levels(n int) []float64 {
	if !(s.High > s.Low) {
		return nil
	}
	var out []float64
	for _, t := range (Axis{}).ticks(span{s.Low, s.High, false}, n) {
		out = append(out, t.at)
	}
	return out
}

// ScaleOf spans the finite values, in a scale of its own.
func ScaleOf(label string, values ...float64) *Scale {
	l := noLimits().with(values...)
	switch {
	case math.IsNaN(l.low):
		l.low, l.high = 0, 1
	case l.low == l.high:
		l.high = l.low + max(math.Abs(l.low)*1e-6, 1e-12)
	}
	return &Scale{Label: label, Low: l.low, High: l.high}
}
