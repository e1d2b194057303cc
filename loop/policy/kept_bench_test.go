package policy

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/labtuner/tuner/loop/policy/space"
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
	switch kind {
	case "hp-gp-ts":
		s.Model.Hyperparameters = "priors"
		fallthrough
	case "mes":
		s.Confidence, s.VarianceModel = "", ""
	}
	return s
}

// setsSpec is that of a kind that chooses among all seven control sets of three variables.
func setsSpec(kind string) Spec {
	s := runningSpec(kind, 3)
	s.Confidence, s.VarianceModel = "", ""
	s.ControlSets = sets(3, []float64{.1, .1, .1, .2, .2, .2, 1}, []int{0}, []int{1}, []int{2}, []int{0, 1}, []int{0, 2}, []int{1, 2}, []int{0, 1, 2})
	for i := range s.Variables {
		s.Variables[i].Random = space.Distribution{Kind: space.TruncatedNormal, Mean: 0.5, SD: 0.2}
	}
	s.Model.Kernel = "se"
	switch kind {
	case "ucb-cvs":
		s.Confidence, s.Schedule, s.Epsilon = "constant", "epsilon", []float64{0}
	case "costids":
		s.Rho = 2
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
		tell(tb, p, rng, Proposal{Step: 10, ControlSet: i % len(s.ControlSets), X: x})
	}
	return p
}

// tell tells a policy of a smooth function with noise at a proposal's setting.
func tell(tb testing.TB, p Policy, rng *rand.Rand, q Proposal) {
	x := slices.Clone(q.X)
	for j, v := range x {
		if math.IsNaN(v) { // it was left random
			x[j] = rng.Float64()
		}
	}
	o := Observation{Step: q.Step, ControlSet: q.ControlSet, X: x, Shots: 10, Valid: true, Variance: 0.01 * math.Exp(x[0]) * (0.5 + rng.Float64())}
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
	for _, kind := range []string{"irgp-ucb", "rahbo", "mes", "hp-gp-ts"} {
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
						tell(b, p, rng, q)
						if _, err := p.Recommend(); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// BenchmarkStepOfSets is BenchmarkStep with the choice among seven control sets of three variables.
func BenchmarkStepOfSets(b *testing.B) {
	for _, kind := range []string{"ucb-cvs", "costids"} {
		for _, n := range []int{100, 500} {
			b.Run(fmt.Sprintf("%s/n=%d", kind, n), func(b *testing.B) {
				p, rng := grown(b, setsSpec(kind), n), rand.New(rand.NewPCG(4, 5))
				b.ReportAllocs()
				for b.Loop() {
					q, err := p.Propose(context.Background())
					if err != nil {
						b.Fatal(err)
					}
					tell(b, p, rng, q)
					if _, err := p.Recommend(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
