package vec

// Up8 rounds up to whole tiles.
func Up8(n int) int { return (n + 7) &^ 7 }

// Up24 rounds up to whole panels.
func Up24(n int) int { return (n + 23) / 24 * 24 }

// Grown is a slice of n elements: s itself where it is large enough, else a new one
// with room to grow, whose elements are zero.
func Grown(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n, n+n/4+Lanes)
	}
	return s[:n]
}

// Constant is a slice of n elements v.
func Constant(n int, v float64) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = v
	}
	return s
}
