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
	refineTolerance = 1e-8
)

// ascent serves climbers of one function in batches.
type ascent struct {
	x, value, grad []float64
	moving         []*climber
}

// run climbs until all are done, at most rounds batches; where they race, one that cannot come near the best
// of them is done. It returns how many batches there were, and whether all are done.
func (a *ascent) run(gradients func(dst, grad, x []float64), climbers []*climber, b *box, rounds int, tol float64, race bool) (done int, over bool) {
	d := len(b.low)
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
		gradients(a.value, a.grad, a.x)
		if best := best(climbers); race {
			for _, c := range a.moving {
				c.floor = max(c.floor, best)
			}
		}
		for i, c := range a.moving {
			c.receive(a.value[i], a.grad[i*d:(i+1)*d], b, tol)
		}
		a.merge(b)
	}
	return done, false
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
