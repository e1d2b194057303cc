package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestDotsAndAxpys(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for n := range 40 {
		const ldw = 41
		w, x, y, c := random(rng, Rows*ldw), random(rng, n), random(rng, n), random(rng, Rows)
		l, was := make([]float64, Rows), append([]float64(nil), y...)
		Dots8(l, w, ldw, x)
		Axpys8(y, w, ldw, c)
		for r := range Rows {
			s, a := 0.0, 0.0
			for j := range n {
				s += w[r*ldw+j] * x[j]
				a += math.Abs(w[r*ldw+j] * x[j])
			}
			if !near(l[r], s, a) || l[r] != Dot(x, w[r*ldw:]) {
				t.Fatalf("n=%d row %d: %g want %g", n, r, l[r], s)
			}
		}
		for j := range n {
			s, a := was[j], 0.0
			for r := range Rows {
				s += c[r] * w[r*ldw+j]
				a += math.Abs(c[r] * w[r*ldw+j])
			}
			if !near(y[j], s, a) {
				t.Fatalf("n=%d column %d: %g want %g", n, j, y[j], s)
			}
		}
		z := append([]float64(nil), was...)
		Axpy(z, 0.5, x)
		for j := range n {
			if want := was[j] + 0.5*x[j]; !near(z[j], want, math.Abs(want)) {
				t.Fatalf("n=%d column %d: %g want %g", n, j, z[j], want)
			}
		}
	}
}

// Partial sums that no element of an incomplete group belongs to keep their sign.
// Every product underflows to -0 here, so the sum of eight or more is -0, whatever
// the tier; with fewer, a partial sum is still +0.
func TestDotKeepsNegativeZeros(t *testing.T) {
	const least = 0x1p-1074
	for _, tier := range Tiers() {
		restore := Use(tier)
		for n := 1; n < 40; n++ {
			x, w, l := make([]float64, n), make([]float64, Rows*n), make([]float64, Rows)
			for i := range x {
				x[i] = -least
			}
			for i := range w {
				w[i] = least
			}
			Dots8(l, w, n, x)
			for _, s := range append(l, Dot(x, w)) {
				if s != 0 || math.Signbit(s) != (n >= 8) {
					t.Errorf("%v: sum of %d products of -0 is %g, negative: %v", tier, n, s, math.Signbit(s))
				}
			}
		}
		restore()
	}
}
