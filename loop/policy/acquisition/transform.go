package acquisition

import (
	"math"

	"github.com/labtuner/tuner/loop/policy/cost"
	"github.com/labtuner/tuner/loop/policy/space"
)

// transformation is a growing function of an objective over its cost: with a(x) the
// objective's value plus the offset and c(x) the cost over a typical one,
//
//	a/c,   or, where floor is positive,   log max(a, floor) - log c.
//
// An acquisition that falls by orders of magnitude, as an improvement does, is climbed
// in its logarithm: a search's tolerances are relative to 1. Upper bounds stay upper
// bounds.
type transformation struct {
	offset float64
	floor  float64
	price  *cost.Price // nil: c = 1
}

// Fork implements [space.Adjustment].
func (r transformation) Fork() space.Adjustment { return r }

// Adjust implements [space.Adjustment].
func (r transformation) Adjust(dst, grad, x []float64, _ bool) {
	if len(dst) == 0 {
		return
	}
	size := len(x) / len(dst)
	slope := make([]float64, size)
	for j := range dst {
		c, at := 1.0, x[j*size:(j+1)*size]
		switch {
		case r.price != nil && grad != nil:
			c = r.price.Gradient(slope, at)
		case r.price != nil:
			c = r.price.At(at)
		}
		a := dst[j] + r.offset
		if dst[j] = a / c; r.floor > 0 {
			dst[j] = math.Log(max(a, r.floor)) - math.Log(c)
		}
		if grad != nil {
			r.gradient(grad[j*size:(j+1)*size], slope, a, c)
		}
	}
}

// gradient changes the gradient of an objective at a value a and a cost c with this slope.
func (r transformation) gradient(g, slope []float64, a, c float64) {
	for i := range g {
		switch {
		case r.floor == 0:
			g[i] = g[i]/c - a*slope[i]/(c*c)
		case a > r.floor:
			g[i] = g[i]/a - slope[i]/c
		default:
			g[i] = -slope[i] / c
		}
	}
}
