package rahbo

import (
	"fmt"
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
		name: "sine-" + experiment.Short(scale), about: about("a sine with one quiet and one noisy maximum", scale, 1), figure: "2",
		steps: 60, initial: 10, seeds: 30, alpha: 1,
		variables: experiment.Variables([]string{"x"}, [][2]float64{{0, 2}}),
		truth:     func(x []float64) float64 { return math.Sin(2 * math.Pi * x[0]) },
		noiseSD:   func(x []float64) float64 { return scale*landscape.Sigmoid(30*(x[0]-1)) + 0.1 },
		places:    []experiment.Place{{Name: "quiet", X: []float64{0.25}}, {Name: "noisy", X: []float64{1.25}}},
		quiet:     "quiet",
	}
}

// branin is f = -[Branin's function] with the noise standard deviation
//
//	rho(x) = v(x1, 3.2) v(x2, 0),  v(z, s) = scale sigmoid(2 (z - s)) + 0.2
//
// At scale 1 rho is 1.43 at the optimum A (9.42478, 2.475), 0.80 at B (pi, 2.275) and
// 0.24 at C (-pi, 12.275). The mean-variance optimum is near C: -0.4555 at scale 1 and
// alpha 1, -0.4267 at alpha 0.5, -0.5915 at scale 2 (Makarova et al., section 5 and
// their code). The paper repeats it 25 times; 40 seeds are ours.
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
// optimum, near m1, is on the edge of an instability: its shot noise is 0.6, so from
// alpha 0.5 on it is worth less than the quiet one near m2, 8 % less bright. Every constant
// is ours; nothing here is a claim about a particular laser.
func fel(alpha float64) problem {
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
		name: "fel" + suffix(alpha), about: fmt.Sprintf("a free-electron laser over 4 quadrupoles (our surrogate), alpha %g", alpha), figure: "4 (our surrogate)",
		steps: 200, initial: 30, seeds: 15, alpha: alpha,
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
