package acquisition

import (
	"math"

	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/loop/policy/cost"
)

// transformed is a growing function of an objective over its cost: with a(x) the inner
// value plus the offset and c(x) the cost over a typical one,
//
//	a/c,   or, where floor is positive,   log max(a, floor) - log c.
//
// An acquisition that falls by orders of magnitude, as an improvement does, is climbed
// in its logarithm: a search's tolerances are relative to 1. Upper bounds stay upper
// bounds. What the inner objective can, the result can.
type transformed struct {
	inner  search.Objective
	offset float64
	floor  float64
	price  *cost.Price // nil: c = 1
}

func newTransformed(r transformed) search.Objective {
	switch inner := r.inner.(type) {
	case search.Surrogated:
		return &transformedSurrogate{transformedGradient{r, inner}, inner}
	case search.Differentiable:
		return &transformedGradient{r, inner}
	}
	return &r
}

// Dim implements [search.Objective].
func (r *transformed) Dim() int { return r.inner.Dim() }

// Values implements [search.Objective].
func (r *transformed) Values(dst, x []float64) {
	r.inner.Values(dst, x)
	r.values(dst, x)
}

// Fork implements [search.Objective].
func (r *transformed) Fork() search.Objective {
	f := *r
	f.inner = r.inner.Fork()
	return newTransformed(f)
}

// Prepare implements [search.Preparer].
func (r *transformed) Prepare() {
	if q, ok := r.inner.(search.Preparer); ok {
		q.Prepare()
	}
}

// Scales implements [search.Scaled].
func (r *transformed) Scales(dst []float64) bool {
	s, ok := r.inner.(search.Scaled)
	return ok && s.Scales(dst)
}

// values turns inner values into those of the result.
func (r *transformed) values(dst, x []float64) {
	size := r.Dim()
	for j := range dst {
		c := 1.0
		if r.price != nil {
			c = r.price.At(x[j*size : (j+1)*size])
		}
		a := dst[j] + r.offset
		if dst[j] = a / c; r.floor > 0 {
			dst[j] = math.Log(max(a, r.floor)) - math.Log(c)
		}
	}
}

// gradients does the same with inner gradients.
func (r *transformed) gradients(dst, grad, x []float64) {
	size := r.Dim()
	slope := make([]float64, size)
	for j := range dst {
		c := 1.0
		if r.price != nil {
			c = r.price.Gradient(slope, x[j*size:(j+1)*size])
		}
		a, g := dst[j]+r.offset, grad[j*size:(j+1)*size]
		dst[j] = a / c
		if r.floor > 0 {
			dst[j] = math.Log(max(a, r.floor)) - math.Log(c)
		}
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
}

// transformedGradient has gradients.
type transformedGradient struct {
	transformed
	d search.Differentiable
}

// Gradients implements [search.Differentiable].
func (r *transformedGradient) Gradients(dst, grad, x []float64) {
	r.d.Gradients(dst, grad, x)
	r.gradients(dst, grad, x)
}

// transformedSurrogate has a surrogate as well.
type transformedSurrogate struct {
	transformedGradient
	s search.Surrogated
}

// Surrogate implements [search.Surrogated].
func (r *transformedSurrogate) Surrogate() search.SurrogateKind { return r.s.Surrogate() }

// SurrogateValues implements [search.Surrogated].
func (r *transformedSurrogate) SurrogateValues(dst, x []float64) {
	r.s.SurrogateValues(dst, x)
	r.values(dst, x)
}

// SurrogateGradients implements [search.Surrogated].
func (r *transformedSurrogate) SurrogateGradients(dst, grad, x []float64) {
	r.s.SurrogateGradients(dst, grad, x)
	r.gradients(dst, grad, x)
}
