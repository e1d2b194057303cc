package search_test

import (
	"context"
	"math"
	"testing"

	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/internal/gptest/decide"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/gpcore/search"
)

// A search that was cut takes on an eighth of its climbs, one. What its bound has left uncovered is climbed by no more.
func TestFewClimbsAfterCuts(t *testing.T) {
	for seed := range uint64(40) {
		g := gptest.ClusteredGP(t, kernels.SquaredExponential(1, []float64{0.3, 0.3, 0.3}), 60, 1e-2, seed)
		s, err := search.New(decide.CVSProblems(t, g, gptest.PaperMarginal()), search.Options{Seed: 7, Slack: math.Inf(1), Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		share := 1.0
		for range 3 {
			s.SetShare(share)
			s.Run(context.Background(), 1)
			share /= 2
		}
		s.SetShare(share)
		found, _ := s.Run(context.Background(), 0)
		for i, m := range found {
			if math.IsInf(m.Value, 0) || math.IsNaN(m.Value) {
				t.Errorf("seed %d, problem %d: the best value is %g", seed, i, m.Value)
			}
		}
	}
}
