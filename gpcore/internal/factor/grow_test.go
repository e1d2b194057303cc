package factor

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// TestGrownIsTheSame: a factor whose memory grew under it is, to the last bit, one that had all of it
// from the start, and nothing stands outside of its triangle.
func TestGrownIsTheSame(t *testing.T) {
	const n = 300
	grown, whole := New(n), &Factor{most: n}
	whole.allocate(n)
	rng := rand.New(rand.NewPCG(3, 4))
	k, l, u := make([]float64, vec.Up24(n)), make([]float64, vec.Up24(n)), make([]float64, vec.Up24(n))
	for i := range n {
		clear(k)
		for j := range i {
			k[j] = 0.01 * rng.Float64()
		}
		e := Entry{K: k, Prior: 4, Y: rng.NormFloat64(), Noise: 0.1, ScratchL: l, U: u}
		for _, f := range []*Factor{whole, grown} {
			s, ok := f.Pivot(e)
			if !ok {
				t.Fatalf("observation %d is refused", i)
			}
			f.Commit(e, s)
		}
		if i == firstRows-1 && grown.rows != firstRows {
			t.Fatalf("memory for %d rows before there are so many", grown.rows)
		}
	}
	if grown.rows != n || whole.rows != n {
		t.Fatalf("memory for %d and %d rows, want %d", grown.rows, whole.rows, n)
	}
	for i := range n {
		if !slices.Equal(grown.Row(i), whole.Row(i)) {
			t.Fatalf("row %d differs", i)
		}
	}
	if !slices.Equal(grown.W, whole.W) || !slices.Equal(grown.Alpha, whole.Alpha) || !slices.Equal(grown.B, whole.B) || !slices.Equal(grown.Y, whole.Y) ||
		!slices.Equal(grown.Noise, whole.Noise) || !slices.Equal(grown.Inv, whole.Inv) {
		t.Error("the vectors differ, or there is something outside of the triangle")
	}
	copied := New(n)
	copied.CopyFrom(grown)
	if copied.N != n || !slices.Equal(copied.W, grown.W) || !slices.Equal(copied.Y, grown.Y) {
		t.Error("the copy differs")
	}
}
