package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

// TestMain runs the tests on the tier that TUNER_VEC_TIER names, else on the fastest.
func TestMain(m *testing.M) {
	if name, ok := os.LookupEnv("TUNER_VEC_TIER"); ok {
		tier, err := Named(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, "TUNER_VEC_TIER:", err)
			os.Exit(2)
		}
		Use(tier)
	}
	os.Exit(m.Run())
}

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

// near reports whether got is want to within rounding of terms summing to scale.
func near(got, want, scale float64) bool {
	return math.Abs(got-want) <= 1e-14*(1+scale)
}
