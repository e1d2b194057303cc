package policy

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
)

// Means as large and as small as the loop lets pass, with the variances that come of them, end no run: before the first
// fits of all readings and among many, each kind goes on to decide, fit and recommend, also where the others are small.
func TestReadingsOfAnySize(t *testing.T) {
	for _, kind := range []string{"irgp-ucb", "rahbo", "ei"} {
		for _, size := range []float64{1e50, -1e50, 1e-50} {
			for seed, unit := range []float64{1, 1, 1e-45} {
				t.Run(fmt.Sprintf("%s %g among %g, seed %d", kind, size, unit, seed), func(t *testing.T) {
					stepsWithOne(t, kind, size, unit, uint64(seed))
				})
			}
		}
	}
}

// stepsWithOne plays steps of which two have a mean of this size, the others some of the unit.
func stepsWithOne(t *testing.T, kind string, size, unit float64, seed uint64) {
	s := runningSpec(kind, 1)
	s.Model.RefitEvery = 0
	p, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	for i := range 85 {
		q, err := p.Propose(context.Background())
		if err != nil {
			t.Fatalf("step %d: %v", i+1, err)
		}
		o := Observation{Step: q.Step, ControlSet: q.ControlSet, X: q.X, Shots: 3, Valid: true, Mean: unit * rng.NormFloat64(), Variance: unit * unit * rng.Float64()}
		if i%50 == 20 {
			o.Mean, o.Variance = size, size*size
		}
		if err := p.Observe(o); err != nil {
			t.Fatalf("step %d: %v", i+1, err)
		}
		if _, err := p.Recommend(); err != nil {
			t.Fatalf("step %d: %v", i+1, err)
		}
	}
}
