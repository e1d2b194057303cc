package tracking

import "math"

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
