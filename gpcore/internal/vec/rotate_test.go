package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestRotateIsOrthogonal(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for n := range 20 {
		for rows := range 6 {
			for shift := range 2 {
				const ld = 25
				m := random(rng, 8*ld)
				carry := random(rng, n)
				old, oldT := append([]float64(nil), m...), append([]float64(nil), carry...)
				cs := make([]float64, 2*rows)
				for r := range rows {
					s, c := math.Sincos(rng.Float64())
					cs[2*r], cs[2*r+1] = c, s
				}
				Rotate(carry, m, m[ld+shift:], ld, cs)
				for j := range n {
					v := oldT[j]
					for r := range rows {
						w := old[(r+1)*ld+j+shift]
						out := cs[2*r+1]*w - cs[2*r]*v
						v = cs[2*r+1]*v + cs[2*r]*w
						if !near(m[r*ld+j], out, 2) {
							t.Fatalf("n=%d row %d column %d: %g want %g", n, r, j, m[r*ld+j], out)
						}
					}
					if !near(carry[j], v, 2) {
						t.Fatalf("n=%d carried %d: %g want %g", n, j, carry[j], v)
					}
				}
			}
		}
	}
}

func TestRankOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for n := range 20 {
		for rows := range 6 {
			const ld = 25
			w, z, abg := random(rng, 6*ld), random(rng, n), random(rng, 3*rows)
			old, oldZ := append([]float64(nil), w...), append([]float64(nil), z...)
			RankOne(z, w, ld, abg)
			for j := range n {
				v, scale := oldZ[j], 1.0
				for r := range rows {
					o := old[r*ld+j]
					want := abg[3*r]*o + abg[3*r+1]*v
					scale += math.Abs(abg[3*r]*o) + math.Abs(abg[3*r+1]*v) + math.Abs(abg[3*r+2]*o)
					if !near(w[r*ld+j], want, scale) {
						t.Fatalf("n=%d row %d column %d: %g want %g", n, r, j, w[r*ld+j], want)
					}
					v += abg[3*r+2] * o
				}
				if !near(z[j], v, scale) {
					t.Fatalf("n=%d carried %d: %g want %g", n, j, z[j], v)
				}
			}
		}
	}
}
