package rahbo

import (
	"math"

	"github.com/labtuner/tuner/loop/benchmarks/experiment"
	"github.com/labtuner/tuner/loop/benchmarks/landscape"
)

// sine is f(x) = sin(2 pi x) on [0, 2] with the noise standard deviation
//
//	rho(x) = scale sigmoid(30 (x - 1)) + 0.1
//
// Both maxima of f, at 0.25 and 1.25, are 1; the first is quiet (rho 0.1, MV 0.99 at
// alpha 1), the second has rho = 0.1 + scale (Makarova et al., section 5).
func sine(scale float64) problem {
	return problem{
		name: "sine-" + experiment.Short(scale), about: about("a sine with one quiet and one noisy maximum", scale, 1), figure: "3",
		steps: 60, initial: 10, seeds: 30, alpha: 1,
		variables: experiment.Variables([]string{"x"}, [][2]float64{{0, 2}}),
		truth:     func(x []float64) float64 { return math.Sin(2 * math.Pi * x[0]) },
		noiseSD:   func(x []float64) float64 { return scale*landscape.Sigmoid(30*(x[0]-1)) + 0.1 },
		places:    []experiment.Place{{Name: "quiet", X: []float64{0.25}}, {Name: "noisy", X: []float64{1.25}}},
		quiet:     "quiet",
	}
}
