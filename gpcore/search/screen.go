package search

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/sobol"
)

// screen are the points of a problem that every run looks at first, with its cheapest
// stand-in for the objective.
type screen struct {
	points  []float64 // rows of d, fixed for the search's life
	values  []float64 // minus infinity where not looked at, or crossed out
	inUse   int       // how many of them this run looks at
	watched Watched   // what is kept of them from run to run, or nil

	made     []bool      // which points are computed; nil for a list
	sequence *sobol.Owen // that they are taken from; nil for one coordinate
	corners  int
}

// highest is the screened point with the largest value, -1 where there is none.
func (c *screen) highest() int {
	at, best := -1, math.Inf(-1)
	for k, v := range c.values {
		if v > best {
			at, best = k, v
		}
	}
	return at
}

// newScreen has room for n screening points, rounded up to whole panels: equally spaced for one coordinate, else the corners
// of the box, where there are few, and scrambled Sobol points, every third with one
// coordinate moved to its nearer bound. Uncertainty is largest at the edges, and maxima
// there are narrow seen from inside. Of them only the first is computed yet: most runs look at a
// quarter.
func newScreen(m *domain, n int, seed uint64) screen {
	n = vec.Up24(n)
	c := screen{points: make([]float64, n*m.d), values: vec.Constant(n, math.Inf(-1)), made: make([]bool, n)}
	if m.d > 1 && m.d <= 6 && 1<<m.d < n {
		c.corners = 1 << m.d
	}
	if m.d > 1 {
		c.sequence = sobol.NewOwen(m.d, seed)
	}
	c.compute(m, 0, 1)
	return c
}

// compute computes points from..to-1, unless they are. Calls for different points may overlap.
func (c *screen) compute(m *domain, from, to int) {
	for k := from; k < min(to, len(c.made)); k++ {
		if !c.made[k] {
			c.computePoint(m, k)
			c.made[k] = true
		}
	}
}

// computePoint computes point k.
func (c *screen) computePoint(m *domain, k int) {
	x := c.points[k*m.d : (k+1)*m.d]
	switch {
	case m.d == 1:
		x[0] = spacedPoint(k, len(c.points))
	case k < c.corners:
		for i := range x {
			x[i] = float64(k >> i & 1)
		}
	default:
		c.sequence.Point(x, k-c.corners)
		if i := k % (3 * m.d); i < m.d {
			x[i] = math.Round(x[i])
		}
	}
	for i := range x {
		x[i] = m.box.low[i] + x[i]*(m.box.high[i]-m.box.low[i])
	}
	m.snapSteps(x)
}

// spacedPoint is point k of n equally spaced ones on [0, 1], every fourth of them first, so
// that the first quarter covers the range as well.
func spacedPoint(k, n int) float64 {
	quarter := n / maxFactor
	at := k * maxFactor
	if k >= quarter {
		r := k - quarter
		at = r/(maxFactor-1)*maxFactor + r%(maxFactor-1) + 1
	}
	return float64(at) / float64(n-1)
}
