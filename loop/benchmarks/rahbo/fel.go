package rahbo

import (
	"math"

	"github.com/labtuner/tuner/loop/benchmarks/experiment"
	"github.com/labtuner/tuner/loop/benchmarks/landscape"
)

// fel is our surrogate of a free-electron laser's pulse energy (in mJ) over four
// quadrupole currents (in A, about a nominal setting), of the form that Makarova et al.
// fitted to SwissFEL, whose data are not public: a Gaussian of a linear map,
//
//	g(x; m) = exp(-|F (x - m)|^2)
//	f(x)    = 0.08 + 1.0 g(x; m1) + 0.9 g(x; m2)
//	rho(x)  = 0.04 + 0.5 exp(-|x - m1|^2 / (2 0.12^2)) + 0.10 (1 - g(x; m2))
//
// on [-0.3, 0.3]^4, where row i of F is 7 at i and 3 at i+1 (cyclic). F couples
// neighbouring quadrupoles, as focusing and defocusing magnets do: a peak is narrow where
// both grow together and wide where one grows and the other falls. The brighter
// optimum, near m1, is on the edge of an instability: its shot noise is 0.6, so at
// alpha 1 it is worth less than the quiet one near m2, 8 % less bright. Every constant
// is ours; nothing here is a claim about a particular laser.
func fel() problem {
	m1 := []float64{0.14, 0.02, 0.12, -0.06}
	m2 := []float64{-0.12, -0.04, -0.08, 0.10}
	g := func(x, m []float64) float64 {
		sum := 0.0
		for i := range m {
			own, next := x[i]-m[i], x[(i+1)%4]-m[(i+1)%4]
			row := 7*own + 3*next
			sum += row * row
		}
		return math.Exp(-sum)
	}
	return problem{
		name: "fel", about: "a free-electron laser over 4 quadrupoles (our surrogate), alpha 1", figure: "6 (our surrogate)",
		steps: 200, initial: 30, seeds: 15, alpha: 1,
		variables: experiment.Variables([]string{"q1", "q2", "q3", "q4"}, [][2]float64{{-0.3, 0.3}, {-0.3, 0.3}, {-0.3, 0.3}, {-0.3, 0.3}}),
		truth:     func(x []float64) float64 { return 0.08 + 1.0*g(x, m1) + 0.9*g(x, m2) },
		noiseSD: func(x []float64) float64 {
			d := landscape.Distance(x, m1) / 0.12
			return 0.04 + 0.5*math.Exp(-d*d/2) + 0.10*(1-g(x, m2))
		},
		places: []experiment.Place{{Name: "bright", X: m1}, {Name: "quiet", X: m2}},
		quiet:  "quiet",
	}
}
