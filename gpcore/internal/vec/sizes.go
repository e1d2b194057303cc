package vec

import "math/bits"

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

// covers reports whether s holds n rows of width elements, each ld after the other.
// It does not overflow: the faster tiers read memory on its word.
func covers(s []float64, n, width, ld int) bool {
	if n <= 0 || width <= 0 {
		return true
	}
	if ld < 0 || width > len(s) {
		return false
	}
	high, low := bits.Mul64(uint64(n-1), uint64(ld))
	return high == 0 && low <= uint64(len(s)-width)
}

// covered panics with a message of this package unless all arguments fit.
func covered(ok bool, message string) {
	if !ok {
		panic(message)
	}
}
