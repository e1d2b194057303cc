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
