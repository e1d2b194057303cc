package rahbo

import (
	"math"

	"github.com/labtuner/tuner/loop/benchmarks/experiment"
	"github.com/labtuner/tuner/loop/benchmarks/landscape"
)

// branin is f = -[Branin's function] with the noise standard deviation
//
//	rho(x) = v(x1, 3.2) v(x2, 0),  v(z, s) = scale sigmoid(2 (z - s)) + 0.2
//
// At scale 1 rho is 1.43 at the optimum A (9.42478, 2.475), 0.80 at B (pi, 2.275) and
// 0.24 at C (-pi, 12.275). The mean-variance optimum is near C: -0.4555 at scale 1 and
// alpha 1, -0.4267 at alpha 0.5, -0.5915 at scale 2 (Makarova et al., section 5 and
// their code).
func branin(scale, alpha float64) problem {
	v := func(z, shift float64) float64 { return scale*landscape.Sigmoid(2*(z-shift)) + 0.2 }
	return problem{
		name: "branin-" + experiment.Short(scale) + suffix(alpha), about: about("Branin's function with three optima, one of them quiet", scale, alpha), figure: "5a",
		steps: 150, initial: 10, seeds: 40, alpha: alpha,
		variables: experiment.Variables([]string{"x1", "x2"}, landscape.BraninBounds()),
		truth:     func(x []float64) float64 { return -landscape.Branin(x[0], x[1]) },
		noiseSD:   func(x []float64) float64 { return v(x[0], 3.2) * v(x[1], 0) },
		places: []experiment.Place{{Name: "A", X: []float64{9.42478, 2.475}}, {Name: "B", X: []float64{math.Pi, 2.275}},
			{Name: "C", X: []float64{-math.Pi, 12.275}}},
		quiet: "C",
	}
}
