package vec

import (
	"math/rand/v2"
	"testing"
)

func TestPanels(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for n := range 7 {
		const d = 2
		p := &Pairs{Rows: random(rng, n*d), Lanes: random(rng, d*Lanes), N: n, D: d}
		s, weights, sum, squares := random(rng, n*Lanes), random(rng, n), random(rng, Lanes), random(rng, Lanes)
		g := random(rng, d*Lanes)
		was := append([]float64(nil), g...)
		Combine(sum, weights, s)
		SumSquares(squares, s, n)
		Moments(g, s, p)
		for j := range Lanes {
			a, q := 0.0, 0.0
			m := [d]float64{was[j], was[Lanes+j]}
			for k := range n {
				v := s[k*Lanes+j]
				a += weights[k] * v
				q += v * v
				for i := range d {
					m[i] += v * (p.Lanes[i*Lanes+j] - p.Rows[k*d+i])
				}
			}
			if !near(sum[j], a, 20) || !near(squares[j], q, q) || !near(g[j], m[0], 50) || !near(g[Lanes+j], m[1], 50) {
				t.Fatalf("n=%d lane %d", n, j)
			}
		}
		a := append([]float64(nil), s...)
		Multiply(a, s)
		for i := range a {
			if a[i] != s[i]*s[i] {
				t.Fatal("multiply")
			}
		}
	}
}
