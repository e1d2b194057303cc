package gpcore_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/internal/gptest/decide"
	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/gpcore/quadrature"
	"github.com/labtuner/tuner/gpcore/sampling"
	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/gpcore/watch"
)

func TestMain(m *testing.M) { gptest.RunOnTier(m) }

func TestTierIsTheOneAskedFor(t *testing.T) { gptest.CheckTier(t) }

// life is some of everything that a process is used for; it returns all numbers that came
// out.
func life(t *testing.T, k kernels.Kernel) []float64 {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const n = 37 // no whole number of tiles or panels
	rng := rand.New(rand.NewPCG(101, 102))
	g := gpcore.New(k, n)
	for range n {
		must(g.Append(gptest.Point(rng, 3), rng.NormFloat64(), 0.01+0.1*rng.Float64()))
	}
	w := watch.New(g, gptest.Point(rng, 3*50))
	var out []float64
	for range 10 {
		must(g.Replace(rng.IntN(n), gptest.Point(rng, 3), rng.NormFloat64(), 0.05))
		must(g.SetNoise(rng.IntN(n), 0.1*rng.Float64()))
		must(g.SetNoise(rng.IntN(n), 1e4*rng.Float64()))
		must(g.SetTarget(rng.IntN(n), rng.NormFloat64()))
		mean, variance := w.Update()
		out = append(append(out, mean...), variance...)
	}
	const m = 31
	mean, variance, dm, dv := make([]float64, m), make([]float64, m), make([]float64, 3*m), make([]float64, 3*m)
	x := gptest.Point(rng, 3*m)
	g.Reader().PredictGrads(mean, variance, dm, dv, x)
	out = slices.Concat(out, snapshot(g), mean, variance, dm, dv)
	must(g.Refresh())
	must(sampling.DrawJoint(g, rng, mean, x))
	out = slices.Concat(out, snapshot(g), mean, []float64{g.LogLikelihood()})
	e, err := expectations.New([]expectations.Term{{Process: g, Mean: 1, SD: 2}}, expectations.Inputs{Controlled: []int{0, 2}, Random: []quadrature.Marginal{gptest.PaperMarginal()}})
	must(err)
	best, err := search.Maximize(context.Background(), search.Problem{Objective: e, Axes: decide.UnitBox(2), Screen: 96, Climbs: 3}, search.Options{Seed: 1})
	must(err)
	return append(append(out, best.Value), best.X...)
}

// What a process computes has the same bits on every tier that the processor has.
func TestResultsAreTheSameOnEveryTier(t *testing.T) {
	gptest.ForEachKernel(t, func(t *testing.T, k kernels.Kernel, _ *rand.Rand) {
		defer vec.Use(vec.Reference)()
		want := life(t, k)
		for _, tier := range vec.Tiers()[1:] {
			vec.Use(tier)
			got := life(t, k)
			if len(got) != len(want) {
				t.Fatalf("%v: %d numbers, the reference has %d", tier, len(got), len(want))
			}
			for i, v := range got {
				if math.Float64bits(v) != math.Float64bits(want[i]) {
					t.Fatalf("%v: number %d of %d is %v, the reference has %v", tier, i, len(want), v, want[i])
				}
			}
		}
	})
}
