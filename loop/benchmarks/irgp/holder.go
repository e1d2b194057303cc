package irgp

import (
	"math"

	"github.com/labtuner/tuner/loop/benchmarks/experiment"
)

// holderExperiment is the Holder table function, negated:
//
//	f(x) = |sin x1 cos x2 exp|1 - |x|/pi||
//
// on [-10, 10]^2, with the maximum 19.2085 at (+-8.05502, +-9.66459) (Surjanovic and
// Bingham's collection). T = 100 is our choice; the paper's text speaks of 60.
func holderExperiment() *experiment.Experiment {
	return function{name: "holder", about: "the Holder table function", names: []string{"x1", "x2"},
		bounds: [][2]float64{{-10, 10}, {-10, 10}}, best: 19.208502567886743, steps: 100, f: Holder}.experiment()
}

func Holder(x []float64) float64 {
	return math.Abs(math.Sin(x[0]) * math.Cos(x[1]) * math.Exp(math.Abs(1-math.Hypot(x[0], x[1])/math.Pi)))
}
