package tracking

import "math"

// bump is one Gaussian of width 0.45,
//
//	f(x) = exp(-|x - c|^2 / (2 0.45^2))
//
// in two or four dimensions: the problems on which the defaults of tracking were chosen.
func bump(name string, dims int, path func(dims, step int) []float64) moving {
	return moving{name: name, about: "a Gaussian bump that moves: " + name, dims: dims,
		centre: func(step int) []float64 { return path(dims, step) },
		shape: func(r []float64) float64 {
			sum := 0.0
			for _, v := range r {
				sum += v * v
			}
			return math.Exp(-sum / (2 * 0.45 * 0.45))
		}}
}

// twoPeaks is a peak with a lower and wider one beside it that moves along,
//
//	f(x) = max(exp(-|r|^2 / (2 0.4^2)), 0.6 exp(-|r - s|^2 / (2 0.6^2))),  r = x - c, s = (0.9, 0.9)
//
// in two dimensions, so that a search from scratch can end on the wrong one. Tracking
// was not tuned on it.
func twoPeaks(name string, path func(dims, step int) []float64) moving {
	return moving{name: name, about: "two peaks in 2 dimensions that move together: " + name, dims: 2,
		centre: func(step int) []float64 { return path(2, step) },
		shape: func(r []float64) float64 {
			main := math.Exp(-(r[0]*r[0] + r[1]*r[1]) / (2 * 0.4 * 0.4))
			a, b := r[0]-0.9, r[1]-0.9
			return max(main, 0.6*math.Exp(-(a*a+b*b)/(2*0.6*0.6)))
		}}
}

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
