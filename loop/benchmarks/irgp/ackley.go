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
