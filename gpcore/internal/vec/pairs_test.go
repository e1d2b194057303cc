package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestKernels(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for _, c := range []struct {
		name string
		fill func(*Pairs)
		want func(q, inner float64) float64
	}{
		{"gaussian", Gaussian, func(q, _ float64) float64 { return math.Exp2(-q) }},
		{"matern 5/2", Matern52, func(q, _ float64) float64 { return (1 + math.Sqrt(q) + q/3) * math.Exp(-math.Sqrt(q)) }},
		{"matern 3/2", Matern32, func(q, _ float64) float64 { return (1 + math.Sqrt(q)) * math.Exp(-math.Sqrt(q)) }},
		{"exponential", Exponential, func(q, _ float64) float64 { return math.Exp(-math.Sqrt(q)) }},
		{"distances", Distances, func(q, _ float64) float64 { return q }},
		{"inner", Inner, func(_, p float64) float64 { return p }},
	} {
		for d := range 5 {
			for n := range 6 {
				p := &Pairs{
					Rows: random(rng, n*d), Lanes: random(rng, d*Lanes), N: n, D: d,
					Variance: 1.7, Out: random(rng, n*Lanes), Weights: random(rng, n), Sum: random(rng, Lanes),
				}
				c.fill(p)
				for j := range Lanes {
					sum := 0.0
					for k := range n {
						q, in := 0.0, 0.0
						for i := range d {
							a, b := p.Rows[k*d+i], p.Lanes[i*Lanes+j]
							q += (a - b) * (a - b)
							in += a * b
						}
						want := 1.7 * c.want(q, in)
						if !near(p.Out[k*Lanes+j], want, math.Abs(want)+math.Abs(in)) {
							t.Fatalf("%s d=%d: %g want %g", c.name, d, p.Out[k*Lanes+j], want)
						}
						sum += want * p.Weights[k]
					}
					if !near(p.Sum[j], sum, 50) {
						t.Fatalf("%s d=%d n=%d: sum %g want %g", c.name, d, n, p.Sum[j], sum)
					}
				}
			}
		}
	}
}

// Far away a covariance must vanish: neither may a growing factor lift it, nor an
// infinite distance make it infinite or NaN.
func TestFarAwayIsNothing(t *testing.T) {
	for _, tier := range Tiers() {
		restore := Use(tier)
		for f := gaussian; f <= exponential; f++ {
			last := math.Inf(1)
			for _, r := range []float64{100, 700, 1e4, 1e100, 1e150, 1e200, math.MaxFloat64, math.Inf(1)} {
				lanes := make([]float64, Lanes)
				for j := range lanes {
					lanes[j] = r
				}
				p := &Pairs{Rows: []float64{0}, Lanes: lanes, N: 1, D: 1, Variance: 1, Out: make([]float64, Lanes)}
				p.fill(f)
				for _, v := range p.Out {
					if !(v >= 0 && v <= last && v < 1e-38) || r > 700 && v > 1e-290 {
						t.Errorf("%v: function %d at distance %g is %g", tier, f, r, v)
					}
				}
				last = p.Out[0]
			}
		}
		restore()
	}
}
