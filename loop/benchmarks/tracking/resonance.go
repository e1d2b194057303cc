package tracking

// resonance is a Lorentzian in three dimensions, with longer tails than a Gaussian and
// another width in each variable,
//
//	f(x) = 1 / (1 + sum over i of ((x_i - c_i)/w_i)^2),  w = 0.5, 0.6, 0.9
//
// Tracking was not tuned on it.
func resonance(name string, path func(dims, step int) []float64) moving {
	widths := [3]float64{0.5, 0.6, 0.9}
	return moving{name: name, about: "a Lorentzian resonance in 3 dimensions that moves: " + name, dims: 3,
		centre: func(step int) []float64 { return path(3, step) },
		shape: func(r []float64) float64 {
			sum := 1.0
			for i, v := range r {
				sum += v * v / (widths[i] * widths[i])
			}
			return 1 / sum
		}}
}
