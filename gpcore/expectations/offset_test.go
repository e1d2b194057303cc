package expectations

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/gpcore/search"
)

// An offset is a prior mean: a search over a list finds the greatest of the values that
// the processes and the offset give point by point.
func TestOffsetInLists(t *testing.T) {
	g := gptest.ClusteredGP(t, kernels.Matern52(1, gptest.Lengthscales(2, 0.3)), 30, 1e-2, 11)
	offset := func(grad, x []float64) float64 {
		if grad != nil {
			grad[0], grad[1] = 2*x[0], 0
		}
		return x[0] * x[0]
	}
	improvement := func(mu, sigma float64) (v, byMu, bySigma float64) { return mu*mu + sigma, 2 * mu, 1 }
	rng := rand.New(rand.NewPCG(12, 12))
	list := make([]float64, 2*300)
	for i := range list {
		list[i] = rng.Float64()
	}
	e, err := New([]Term{{Process: g, Mean: 1, SD: 2, Offset: offset}, {Process: g, Of: improvement, Offset: offset}},
		Inputs{Controlled: []int{0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	want := make([]float64, 300)
	mean, variance := make([]float64, 300), make([]float64, 300)
	g.Predict(mean, variance, list)
	for k := range want {
		mu, sd := mean[k]+list[2*k]*list[2*k], math.Sqrt(variance[k])
		want[k] = mu + 2*sd + mu*mu + sd
	}
	e.Prepare()
	got := make([]float64, 300)
	e.Values(got, list)
	for k := range got {
		if math.Abs(got[k]-want[k]) > 1e-12*(1+math.Abs(want[k])) {
			t.Fatalf("point %d: %g, want %g", k, got[k], want[k])
		}
	}
	s, err := search.New([]search.Problem{{Objective: e, List: list}}, search.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	out, _ := s.Run(context.Background(), 0)
	if best := slices.Max(want); math.Abs(out[0].Value-best) > 1e-9 {
		t.Errorf("the search found %g, the list's greatest is %g", out[0].Value, best)
	}
}
