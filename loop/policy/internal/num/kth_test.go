package num

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestKth: as in the sorted slice, with equal values and at all places.
func TestKth(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 1; n < 40; n++ {
		v := make([]float64, n)
		for i := range v {
			v[i] = float64(rng.IntN(1 + n/2))
		}
		sorted := slices.Sorted(slices.Values(v))
		for k := range v {
			if got := Kth(v, k); got != sorted[k] {
				t.Fatalf("place %d of %v: %v", k, sorted, got)
			}
		}
		if slices.Sort(v); !slices.Equal(v, sorted) {
			t.Fatalf("%v are left of %v", v, sorted)
		}
	}
}
