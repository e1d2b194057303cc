package acquisition

import (
	"math"

	"github.com/labtuner/tuner/loop/policy/cost"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/space"
)

// transformation is a growing function of an objective over its cost: with a(x) the
// objective's value plus the offset and c(x) the cost over a typical one,
//
//	a/c,   or, where floor is positive,   log max(a, floor) - log c,
//
// and, where there is a tail, log a in its own words from the floor down; where the objective is the
// logarithm already (logged), less log c.
//
// An acquisition that falls by orders of magnitude, as an improvement does, is climbed
// in its logarithm: a search's tolerances are relative to 1. Upper bounds stay upper
// bounds.
type transformation struct {
	offset float64
	floor  float64
	tail   tail        // nil: the function is flat below the floor
	price  *cost.Price // nil: c = 1
	logged bool

	slope, at, logs, slopes []float64 // scratch
}

// Fork implements [space.Adjustment].
func (r *transformation) Fork() space.Adjustment {
	f := &transformation{offset: r.offset, floor: r.floor, price: r.price, logged: r.logged}
	if r.tail != nil {
		f.tail = r.tail.fork()
	}
	return f
}

// Follow makes a fork one of another transformation.
func (r *transformation) Follow(a space.Adjustment) (space.Adjustment, bool) {
	o, ok := a.(*transformation)
	if !ok || (r.tail == nil) != (o.tail == nil) || r.tail != nil && !r.tail.follow(o.tail) {
		return nil, false
	}
	r.offset, r.floor, r.price, r.logged = o.offset, o.floor, o.price, o.logged
	return r, true
}

// Adjust implements [space.Adjustment].
func (r *transformation) Adjust(dst, grad, x []float64, surrogate bool) {
	if len(dst) == 0 {
		return
	}
	size := len(x) / len(dst)
	logs, slopes := r.below(dst, grad, x, surrogate)
	r.slope = num.Resized(r.slope, size)
	slope := r.slope
	clear(slope)
	for j := range dst {
		c, at := 1.0, x[j*size:(j+1)*size]
		switch {
		case r.price != nil && grad != nil:
			c = r.price.Gradient(slope, at)
		case r.price != nil:
			c = r.price.At(at)
		}
		a := dst[j] + r.offset
		switch {
		case r.logged:
			dst[j] = a - math.Log(c)
		case r.floor > 0:
			dst[j] = math.Log(max(a, r.floor)) - math.Log(c)
		default:
			dst[j] = a / c
		}
		if logs != nil && a <= r.floor {
			dst[j] = logs[0] - math.Log(c)
			logs = logs[1:]
		}
		if grad != nil {
			r.gradient(grad[j*size:(j+1)*size], slope, a, c)
			if len(slopes) > 0 && a <= r.floor {
				for i := range size {
					grad[j*size+i] += slopes[i]
				}
				slopes = slopes[size:]
			}
		}
	}
}

// below has the tail's logarithms and gradients at those of the settings whose values are at or below
// the floor; nil where there are none.
func (r *transformation) below(dst, grad, x []float64, surrogate bool) (logs, slopes []float64) {
	if r.tail == nil {
		return nil, nil
	}
	size := len(x) / len(dst)
	r.at = r.at[:0]
	for j, v := range dst {
		if v+r.offset <= r.floor {
			r.at = append(r.at, x[j*size:(j+1)*size]...)
		}
	}
	if len(r.at) == 0 {
		return nil, nil
	}
	r.logs = num.Resized(r.logs, len(r.at)/size)
	if logs = r.logs; grad != nil {
		r.slopes = num.Resized(r.slopes, len(r.at))
		slopes = r.slopes
		clear(slopes)
	}
	r.tail.logs(logs, slopes, r.at, surrogate)
	return logs, slopes
}

// gradient changes the gradient of an objective at a value a and a cost c with this slope.
func (r *transformation) gradient(g, slope []float64, a, c float64) {
	for i := range g {
		switch {
		case r.logged:
			g[i] -= slope[i] / c
		case r.floor == 0:
			g[i] = g[i]/c - a*slope[i]/(c*c)
		case a > r.floor:
			g[i] = g[i]/a - slope[i]/c
		default:
			g[i] = -slope[i] / c
		}
	}
}
