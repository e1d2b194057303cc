package optimum

import (
	"math"
	"slices"
)

// Bound is what a sensor is to show. A setting keeps it where the sensor's mean over the
// shots lies within; under a control set that leaves variables random, where that is so
// of a share of their draws.
type Bound struct {
	// Sensor is its name; one that the plant does not have keeps every bound.
	Sensor string
	// Low and High in the sensor's unit, infinite where there is none.
	Low, High float64
}

// keptShare is the share of the draws of random variables that must keep the bounds.
const keptShare = 0.95

// keeps reports whether a setting of every variable keeps the bounds.
func (j *judge) keeps(u []float64) bool {
	for _, b := range j.query.Bounds {
		if v := j.shown(b.Sensor, u); v < b.Low || v > b.High {
			return false
		}
	}
	return true
}

// shown is what a sensor shows on average, NaN where the search cannot know.
func (j *judge) shown(sensor string, u []float64) float64 {
	for _, s := range j.plant.Sensors {
		if s.Name != sensor {
			continue
		}
		switch s.From {
		case Variable:
			return j.plant.Axes[s.Index].at(u[s.Index])
		case Constant:
			return s.Value
		case Signal:
			mean, _ := j.plant.Moments(s.Index, u)
			return mean
		}
	}
	return math.NaN()
}

// kept is a value, or NaN where more of n draws broke a bound than may.
func (j *judge) kept(value float64, broken, n int) float64 {
	if float64(broken) > (1-keptShare)*float64(n) {
		return math.NaN()
	}
	return value
}

// alongEdge improves a point that was found: where bounds are to be kept the best one
// lies on an edge as a rule, along which no step on one axis leads. It tries points of a
// lattice in boxes around the best so far, each half as wide as the last.
func (j *judge) alongEdge(axes []int, value func(u []float64) float64) func(u []float64, v float64) ([]float64, float64) {
	return func(u []float64, v float64) ([]float64, float64) {
		if u == nil || len(j.query.Bounds) == 0 || j.finite() {
			return u, v
		}
		const tries = 128
		box := spreadOut(tries, len(axes))
		for width := searchStep; width > searchEnd; width /= 2 {
			for _, on := range box {
				w := slices.Clone(u)
				for k, i := range axes {
					w[i] = min(max(u[i]+width*(2*on[k]-1), 0), 1)
				}
				if got := value(w); got > v {
					u, v = w, got
				}
			}
		}
		return u, v
	}
}
