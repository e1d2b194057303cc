package irgp

import (
	"math"

	"github.com/labtuner/tuner/loop/benchmarks/experiment"
)

// crossInTrayExperiment is the cross-in-tray function, negated:
//
//	f(x) = 1e-4 (|sin x1 sin x2 exp|100 - |x|/pi|| + 1)^0.1
//
// on [-10, 10]^2, with the maximum 2.06261 at (+-1.3491, +-1.3491) (Surjanovic and
// Bingham's collection). T = 100 is our choice; the paper's text speaks of 50.
func crossInTrayExperiment() *experiment.Experiment {
	return function{name: "cross-in-tray", about: "the cross-in-tray function", names: []string{"x1", "x2"},
		bounds: [][2]float64{{-10, 10}, {-10, 10}}, best: 2.0626118708227397, steps: 100, f: CrossInTray}.experiment()
}

func CrossInTray(x []float64) float64 {
	a := math.Abs(math.Sin(x[0]) * math.Sin(x[1]) * math.Exp(math.Abs(100-math.Hypot(x[0], x[1])/math.Pi)))
	return 1e-4 * math.Pow(a+1, 0.1)
}
