package vec

import (
	"math"
	"math/rand/v2"
)

// The tests of single functions compare the definition with plain mathematics, on
// the fastest tier of this processor. Tolerances are a few roundings of the sum of
// absolute values. That the other tiers return the same bits is shown by
// tier_test.go.

func random(rng *rand.Rand, n int) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = rng.NormFloat64()
	}
	return s
}

// near says whether got is want to within rounding of terms summing to scale.
func near(got, want, scale float64) bool {
	return math.Abs(got-want) <= 1e-14*(1+scale)
}
