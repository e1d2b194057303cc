package policy

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
)

// Means as large and as small as the loop lets pass, with the variances that come of them, end no run: before the first
// fits of all readings and among many, each kind goes on to decide, fit and recommend.
func TestReadingsOfAnySize(t *testing.T) {
	for _, kind := range []string{"irgp-ucb", "rahbo", "ei"} {
		for _, size := range []float64{1e100, -1e100, 1e-100} {
			t.Run(fmt.Sprintf("%s %g", kind, size), func(t *testing.T) {
				s := runningSpec(kind, 1)
				s.Model.RefitEvery = 0
				p, err := New(s)
				if err != nil {
					t.Fatal(err)
				}
				rng := rand.New(rand.NewPCG(1, 1))
				for i := range 85 {
					q, err := p.Propose(context.Background())
					if err != nil {
						t.Fatalf("step %d: %v", i+1, err)
					}
					o := Observation{Step: q.Step, ControlSet: q.ControlSet, X: q.X, Shots: 3, Valid: true, Mean: rng.NormFloat64(), Variance: rng.Float64()}
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
			})
		}
	}
}
