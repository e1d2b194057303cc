package irgp

import (
	"math"

	"github.com/labtuner/tuner/loop/benchmarks/experiment"
)

// ackleyExperiment is Ackley's function in four dimensions, negated:
//
//	f(x) = 20 exp(-0.2 sqrt(mean of x_i^2)) + exp(mean of cos 2 pi x_i) - 20 - e
//
// on [-32.768, 32.768]^4, with the maximum 0 at the origin (Surjanovic and Bingham's
// collection). T = 200 is our choice; the paper's text speaks of 125.
func ackleyExperiment() *experiment.Experiment {
	side := [2]float64{-32.768, 32.768}
	return function{name: "ackley", about: "Ackley's function in 4 dimensions", names: []string{"x1", "x2", "x3", "x4"},
		bounds: [][2]float64{side, side, side, side}, best: 0, steps: 200, f: Ackley}.experiment()
}

func Ackley(x []float64) float64 {
	squares, cosines, n := 0.0, 0.0, float64(len(x))
	for _, v := range x {
		squares += v * v
		cosines += math.Cos(2 * math.Pi * v)
	}
	return 20*math.Exp(-0.2*math.Sqrt(squares/n)) + math.Exp(cosines/n) - 20 - math.E
}

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
