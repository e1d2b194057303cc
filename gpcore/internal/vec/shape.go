package vec

import "math/bits"

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
