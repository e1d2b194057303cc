package policy

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/loop/policy/constraint"
	"github.com/labtuner/tuner/loop/policy/model"
)

// bounded is a test problem on the unit square: an objective to be maximised and
// quantities that must not exceed zero, all measured with noise of a standard deviation.
type bounded struct {
	f      func(x []float64) float64
	g      []func(x []float64) float64
	fSD    float64
	gSD    float64
	best   float64 // of f where all g <= 0
	unsafe float64 // of f anywhere
}

// slope has its maximum beyond the line on which the optimum within it lies, at (0.525,
// 0.475).
func slope() bounded {
	return bounded{
		f:   func(x []float64) float64 { a, b := x[0]-0.75, x[1]-0.7; return -4 * (a*a + b*b) },
		g:   []func(x []float64) float64{func(x []float64) float64 { return x[0] + x[1] - 1 }},
		fSD: 0.05, gSD: 0.05, best: -0.405, unsafe: 0,
	}
}

// corner has its optimum where two constraints meet, at (0.5395, 0.6395).
func corner() bounded {
	return bounded{
		f: func(x []float64) float64 { return x[0] + 2*x[1] },
		g: []func(x []float64) float64{
			func(x []float64) float64 { return x[0]*x[0] + x[1]*x[1] - 0.7 },
			func(x []float64) float64 { return x[1] - x[0] - 0.1 },
		},
		fSD: 0.05, gSD: 0.03, best: 1.8185, unsafe: 3,
	}
}

func (b *bounded) spec(kind string, seed uint64) Spec {
	s := Spec{Kind: kind, Variables: box(2), ControlSets: sets(2, []float64{1}, []int{0, 1}),
		Confidence: "irgp", Beta: 2, Design: "sobol", InitialSteps: 8, Seed: seed,
		Model: model.Spec{Kernel: "matern52", Hyperparameters: "fit"}}
	for range b.g {
		s.Constraints = append(s.Constraints, constraint.Spec{Name: string(rune('a' + len(s.Constraints))), Low: math.Inf(-1), High: 0})
	}
	return s
}

func (b *bounded) feasible(x []float64) bool {
	for _, g := range b.g {
		if g(x) > 0 {
			return false
		}
	}
	return true
}

func (b *bounded) measure(q Proposal, seed uint64) Observation {
	rng := rand.New(rand.NewPCG(seed, uint64(q.Step)))
	o := Observation{Step: q.Step, X: q.X, Mean: b.f(q.X) + b.fSD*rng.NormFloat64(), Variance: math.NaN(), Shots: 1, Cost: 1, Valid: true}
	for _, g := range b.g {
		o.Constrained = append(o.Constrained, g(q.X)+b.gSD*rng.NormFloat64())
	}
	return o
}

// run plays and counts the decisions, after the initial design, that broke a constraint.
func (b *bounded) run(t testing.TB, s Spec, steps int) (r Recommendation, broken int) {
	t.Helper()
	p := fresh(t, s)
	for range s.InitialSteps + steps {
		q, err := p.Propose(context.Background())
		if err != nil {
			t.Fatalf("seed %d: %v", s.Seed, err)
		}
		if !q.Initial && !b.feasible(q.X) {
			broken++
		}
		if err := p.Observe(b.measure(q, s.Seed)); err != nil {
			t.Fatal(err)
		}
	}
	r, err := p.Recommend()
	if err != nil {
		t.Fatal(err)
	}
	return r, broken
}
