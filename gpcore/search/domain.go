package search

import "math"

// domain is where the points of a problem may be.
type domain struct {
	d      int
	axes   []Axis
	listed bool // the points of a list, no axes
	box    box
	span   []float64 // of the range
	steps  []int     // discrete coordinates with few values
	grids  []int     // discrete coordinates with many values
}

// newDomain is that of problem p with d coordinates.
func newDomain(p *Problem, d int) domain {
	v := make([]float64, 4*d)
	m := domain{
		d: d, axes: p.Axes, listed: p.List != nil, span: v[3*d:],
		box: box{low: v[:d], high: v[d : 2*d], scale: v[2*d : 3*d], fixed: make([]bool, d)},
	}
	if m.listed {
		m.setBoxFromList(p.List)
	} else {
		m.setAxes()
	}
	for i := range d {
		m.span[i] = m.box.high[i] - m.box.low[i]
	}
	return m
}

// setBoxFromList makes the box that of the rows of a list.
func (m *domain) setBoxFromList(list []float64) {
	for i := range m.d {
		m.box.low[i], m.box.high[i] = list[i], list[i]
	}
	for k, v := range list {
		m.box.low[k%m.d], m.box.high[k%m.d] = min(m.box.low[k%m.d], v), max(m.box.high[k%m.d], v)
	}
}

// setAxes takes the box and sorts the coordinates by how many values they have.
func (m *domain) setAxes() {
	for i := range m.axes {
		a := &m.axes[i]
		m.box.low[i], m.box.high[i] = a.bounds()
		switch n := a.count(); {
		case n == 0:
		case n <= stepwise:
			m.steps = append(m.steps, i)
			m.box.fixed[i] = true
		default:
			m.grids = append(m.grids, i)
		}
	}
}

// hold has climbers leave coordinates as they are, or not.
func (m *domain) hold(coordinates []int, still bool) {
	for _, i := range coordinates {
		m.box.fixed[i] = still
	}
}

// snapSteps moves the coordinates with few values to the nearest.
func (m *domain) snapSteps(x []float64) {
	for _, i := range m.steps {
		a := &m.axes[i]
		x[i] = a.at(a.index(x[i]))
	}
}

// snapGrids moves the coordinates with many discrete values to the nearest.
func (m *domain) snapGrids(x []float64) {
	for _, i := range m.grids {
		a := &m.axes[i]
		x[i] = a.at(a.index(x[i]))
	}
}

// neighbours appends x with discrete coordinate i one value up and one value down.
func (m *domain) neighbours(dst, x []float64, i int) []float64 {
	a := &m.axes[i]
	at := a.index(x[i])
	for _, k := range [2]int{at - 1, at + 1} {
		if k >= 0 && k < a.count() {
			dst = append(dst, x...)
			dst[len(dst)-m.d+i] = a.at(k)
		}
	}
	return dst
}

// shortest is the smallest typical distance relative to the range.
func (m *domain) shortest() float64 {
	s := 1.0
	for i, v := range m.box.scale {
		if m.span[i] > 0 {
			s = min(s, v/m.span[i])
		}
	}
	return s
}

func (m *domain) within(x, y []float64, distance float64) bool {
	s := 0.0
	for i, v := range x {
		if m.span[i] > 0 {
			t := (v - y[i]) / m.span[i]
			s += t * t
		}
	}
	return s < distance*distance
}

// near reports whether x is within a distance, relative to the ranges, of one of the rows.
func (m *domain) near(x, rows []float64, distance float64) bool {
	for k := 0; k < len(rows); k += m.d {
		if m.within(x, rows[k:k+m.d], distance) {
			return true
		}
	}
	return false
}

// nearest is the row nearest to x, relative to the ranges.
func (m *domain) nearest(x, rows []float64) []float64 {
	best, least := 0, math.Inf(1)
	for k := 0; k < len(rows); k += m.d {
		s := 0.0
		for i, v := range x {
			if m.span[i] > 0 {
				t := (v - rows[k+i]) / m.span[i]
				s += t * t
			}
		}
		if s < least {
			best, least = k, s
		}
	}
	return rows[best : best+m.d]
}
