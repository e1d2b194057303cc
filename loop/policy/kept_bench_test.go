package policy

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// runningSpec is the specification of a run of a kind in d variables, without fits after the first.
func runningSpec(kind string, d int) Spec {
	s := rahboSpec(d, 1)
	s.Kind, s.Model.RefitEvery = kind, math.MaxInt
	s.Model.Capacity = 1024
	for i := range s.Variables {
		s.Variables[i].Start = 0.5
	}
	if kind != "rahbo" {
		s.Risk = 0
	}
	return s
}

// grown is a policy that has seen n random settings, of which the first fit saw 30.
func grown(tb testing.TB, s Spec, n int) Policy {
	p, err := New(s)
	if err != nil {
		tb.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(2, 3))
	for i := range n {
		if i == 30 {
			if _, err := p.Propose(context.Background()); err != nil {
				tb.Fatal(err)
			}
		}
		x := make([]float64, len(s.Variables))
		for j := range x {
			x[j] = rng.Float64()
		}
		tell(tb, p, rng, 10, x)
	}
	return p
}

// tell tells a policy of a smooth function with noise at a setting.
func tell(tb testing.TB, p Policy, rng *rand.Rand, step int, x []float64) {
	o := Observation{Step: step, X: x, Shots: 10, Valid: true, Variance: 0.01 * math.Exp(x[0]) * (0.5 + rng.Float64())}
	for j, v := range x {
		o.Mean += math.Sin(5*v + float64(j))
	}
	o.Mean += math.Sqrt(o.Variance/10) * rng.NormFloat64()
	if err := p.Observe(o); err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkStep measures what a running policy does in a step: Propose, Observe and
// Recommend, each alone and together, without fits.
func BenchmarkStep(b *testing.B) {
	for _, kind := range []string{"irgp-ucb", "rahbo"} {
		for _, d := range []int{3, 5} {
			for _, n := range []int{100, 500} {
				s := runningSpec(kind, d)
				b.Run(fmt.Sprintf("%s/d=%d/n=%d", kind, d, n), func(b *testing.B) {
					p, rng := grown(b, s, n), rand.New(rand.NewPCG(4, 5))
					b.ReportAllocs()
					for b.Loop() {
						q, err := p.Propose(context.Background())
						if err != nil {
							b.Fatal(err)
						}
						tell(b, p, rng, q.Step, q.X)
						if _, err := p.Recommend(); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
