package num

import "math"

// NaNs returns a new slice of n NaN.
func NaNs(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.NaN()
	}
	return x
}

// Finite reports whether a value is a number and not infinite.
func Finite(v float64) bool { return math.Abs(v) <= math.MaxFloat64 }

// Argmax is the position of the first greatest value.
func Argmax(values []float64) int {
	best := 0
	for i, v := range values {
		if v > values[best] {
			best = i
		}
	}
	return best
}

// Position is where a value is in a list, -1 where it is not.
func Position(list []int, v int) int {
	for i, w := range list {
		if w == v {
			return i
		}
	}
	return -1
}

// SquaredDistance is the squared Euclidean distance of two points.
func SquaredDistance(x, y []float64) float64 {
	s := 0.0
	for i, v := range x {
		s += (v - y[i]) * (v - y[i])
	}
	return s
}

// Resized is s with n elements, in its own memory where that suffices.
func Resized(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}

// NormalCDF is the standard normal distribution function.
func NormalCDF(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }

// NormalDensity is the standard normal density.
func NormalDensity(z float64) float64 { return math.Exp(-0.5*z*z) / math.Sqrt(2*math.Pi) }

// VarianceOf is the variance of values with weights whose sum is one.
func VarianceOf(values, weight []float64) float64 {
	mean, sum := 0.0, 0.0
	for q, v := range values {
		mean += weight[q] * v
	}
	for q, v := range values {
		sum += weight[q] * (v - mean) * (v - mean)
	}
	return sum
}
