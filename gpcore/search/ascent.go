package search

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// Rounds and tolerances of the climbs. A climb on the surrogate only has to come near
// enough for its end to be a bound; refineTolerance is what may be left to gain,
// relative to 1+|value|.
const (
	climbRounds     = 16
	climbTolerance  = 1e-5
	refineRounds    = 40
	refineTolerance = 2e-7
)

// ascent serves climbers of one function in batches.
type ascent struct {
	x, value, grad []float64
	limits         Limits
	moving         []*climber
}

// slopes are an objective's values and gradients, or its surrogate's, and what they say of limits.
type slopes struct {
	gradients func(dst, grad, x []float64)
	limited   Limited // nil where the objective is none
	surrogate bool    // they are the surrogate's
}

// limits is how many there are.
func (s slopes) limits() int {
	if s.limited == nil {
		return 0
	}
	return s.limited.Limits()
}

// weight is that of their penalty near the edge.
func (s slopes) weight() float64 {
	if s.limited == nil {
		return 0
	}
	return s.limited.Weight()
}

// run climbs until all are done, at most rounds batches; where they race, one that cannot come near the best
// of them is done. It returns how many batches there were, and whether all are done.
func (a *ascent) run(of slopes, climbers []*climber, b *box, rounds int, tol float64, race bool) (done int, over bool) {
	d := len(b.low)
	for _, c := range climbers {
		c.edge.weight = of.weight()
	}
	for ; done < rounds; done++ {
		a.x, a.moving = a.x[:0], a.moving[:0]
		for _, c := range climbers {
			if !c.done {
				a.moving = append(a.moving, c)
				a.x = append(a.x, c.trial...)
			}
		}
		m := len(a.moving)
		if m == 0 {
			return done, true
		}
		a.value, a.grad = vec.Grown(a.value, m), vec.Grown(a.grad, m*d)
		a.look(of, m, d)
		if best := best(climbers); race {
			for _, c := range a.moving {
				c.floor = max(c.floor, best)
			}
		}
		for i, c := range a.moving {
			c.receive(a.value[i], a.grad[i*d:(i+1)*d], a.limits.of(i, m), b, tol)
		}
		a.merge(b)
	}
	return done, false
}

// look evaluates the trial points of m climbers in d coordinates.
func (a *ascent) look(of slopes, m, d int) {
	limits := of.limits()
	a.limits = a.limits.resized(m, limits, d)
	if limits == 0 {
		of.gradients(a.value, a.grad, a.x)
	} else {
		of.limited.LimitedGradients(a.value, a.grad, a.limits, a.x, of.surrogate)
	}
}

// best is the greatest value of climbers.
func best(climbers []*climber) float64 {
	v := math.Inf(-1)
	for _, c := range climbers {
		if c.started {
			v = max(v, c.value)
		}
	}
	return v
}

// mergeDistance is the distance, in scales, below which two climbers are on the way to one
// maximum: the lower one stops.
const mergeDistance = 0.03

func (a *ascent) merge(b *box) {
	for i, c := range a.moving {
		for _, o := range a.moving[:i] {
			s := 0.0
			for k, v := range c.x {
				t := (v - o.x[k]) / b.scale[k]
				s += t * t
			}
			if s >= mergeDistance*mergeDistance {
				continue
			}
			if c.value > o.value {
				o.done, o.merged = true, true
			} else {
				c.done, c.merged = true, true
			}
		}
	}
}
