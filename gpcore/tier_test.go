package gpcore

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// TestMain runs the tests on the tier of vector instructions that TUNER_VEC_TIER names,
// else on the fastest.
func TestMain(m *testing.M) {
	if name, ok := os.LookupEnv("TUNER_VEC_TIER"); ok {
		tier, err := vec.Named(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, "TUNER_VEC_TIER:", err)
			os.Exit(2)
		}
		vec.Use(tier)
	}
	os.Exit(m.Run())
}

// The tests do run on the tier asked for. The question also tells the test cache to keep
// the results of one tier apart from those of another.
func TestTierIsTheOneAskedFor(t *testing.T) {
	if name := os.Getenv("TUNER_VEC_TIER"); name != "" && name != vec.Active().String() {
		t.Errorf("the tests run on %v, not on %s", vec.Active(), name)
	}
}

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
	g := New(k, n)
	for range n {
		must(g.Append(point(rng, 3), rng.NormFloat64(), 0.01+0.1*rng.Float64()))
	}
	w := NewWatch(g, point(rng, 3*50))
	var out []float64
	for range 10 {
		must(g.Replace(rng.IntN(n), point(rng, 3), rng.NormFloat64(), 0.05))
		must(g.SetNoise(rng.IntN(n), 0.1*rng.Float64()))
		must(g.SetNoise(rng.IntN(n), 1e4*rng.Float64()))
		must(g.SetTarget(rng.IntN(n), rng.NormFloat64()))
		mean, variance := w.Update()
		out = append(append(out, mean...), variance...)
	}
	const m = 31
	mean, variance, dm, dv := make([]float64, m), make([]float64, m), make([]float64, 3*m), make([]float64, 3*m)
	x := point(rng, 3*m)
	g.Reader().PredictGrads(mean, variance, dm, dv, x)
	out = slices.Concat(out, snapshot(g), mean, variance, dm, dv)
	must(g.Refresh())
	must(DrawJoint(g, rng, mean, x))
	out = slices.Concat(out, snapshot(g), mean, []float64{g.LogLikelihood()})
	e, err := NewExpected([]Term{{Process: g, Mean: 1, SD: 2}}, Inputs{Controlled: []int{0, 2}, Random: []Marginal{papersNormal()}})
	must(err)
	best, err := Maximize(context.Background(), Problem{Objective: e, Axes: unitBox(2), Screen: 96, Climbs: 3}, Options{Seed: 1})
	must(err)
	return append(append(out, best.Value), best.X...)
}

// What a process computes has the same bits on every tier that the processor has.
func TestResultsAreTheSameOnEveryTier(t *testing.T) {
	forEachKernel(t, func(t *testing.T, k kernels.Kernel, _ *rand.Rand) {
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
