package gpcore_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// rebuildRun is a process under rebuild and the noises that it must end with.
type rebuildRun struct {
	g      *gpcore.GP
	rng    *rand.Rand
	expect []float64
}

func (r *rebuildRun) noise() float64 { return 0.01 + 0.1*r.rng.Float64() }

// disturb changes the observations in one of five ways.
func (r *rebuildRun) disturb() error {
	g, i, v := r.g, r.rng.IntN(r.g.Len()), r.noise()
	switch r.rng.IntN(5) {
	case 0:
		r.expect = append(slices.Delete(r.expect, i, i+1), v)
		return g.Replace(i, gptest.Point(r.rng, 2), r.rng.NormFloat64(), v)
	case 1:
		r.expect = slices.Delete(r.expect, i, i+1)
		return g.Remove(i)
	case 2:
		if g.Len() == g.Cap() {
			return nil
		}
		r.expect = append(r.expect, v)
		return g.Append(gptest.Point(r.rng, 2), r.rng.NormFloat64(), v)
	case 3:
		r.expect[i] = 1e3 * v
		return g.SetNoise(i, 1e3*v)
	}
	return g.SetTarget(i, r.rng.NormFloat64())
}

// A rebuild ends in the same process as a refactorisation of what is then held,
// whatever happens to the observations meanwhile.
func TestRebuildFollowsChanges(t *testing.T) {
	for seed := range uint64(30) {
		r := &rebuildRun{g: gpcore.New(kernels.SquaredExponential(1, []float64{0.3, 0.3}), 90), rng: rand.New(rand.NewPCG(seed, 5))}
		g := r.g
		for range 70 {
			v := r.noise()
			r.expect = append(r.expect, v)
			if err := g.Append(gptest.Point(r.rng, 2), r.rng.NormFloat64(), v); err != nil {
				t.Fatal(err)
			}
		}
		var noises []float64
		if seed%2 == 0 {
			for i := range r.expect {
				r.expect[i] = r.noise()
			}
			noises = slices.Clone(r.expect)
		}
		k := kernels.Drifting(kernels.Matern32(0.8, []float64{0.5}), 0.7)
		if err := g.StartRebuild(k, noises); err != nil {
			t.Fatal(err)
		}
		reader := g.Reader()
		steps := r.run(t)
		if steps < 3 {
			t.Fatalf("rebuilt in %d steps", steps)
		}
		if !slices.Equal(r.expect, g.Model().Factor.Noise[:g.Len()]) || g.Kernel() != k {
			t.Fatal("noises or kernel after the rebuild are not the expected ones")
		}
		compare(t, g, r.rng)
		checkPadding(t, g.Model().Factor)
		mean, want := make([]float64, 1), make([]float64, 1)
		reader.Predict(mean, nil, []float64{0.4, 0.6})
		g.Predict(want, nil, []float64{0.4, 0.6})
		if mean[0] != want[0] {
			t.Fatal("a reader did not follow the rebuild")
		}
	}
}

// run rebuilds to the end, with a disturbance after every call.
func (r *rebuildRun) run(t *testing.T) (steps int) {
	t.Helper()
	for ; ; steps++ {
		before := r.g.LogLikelihood()
		done, err := r.g.Rebuild(1 + r.rng.IntN(24))
		if err != nil {
			t.Fatal(err)
		}
		if done {
			return steps
		}
		if a, b := r.g.Rebuilding(); a == 0 || b != r.g.Len() {
			t.Fatal(a, b)
		}
		if r.g.LogLikelihood() != before {
			t.Fatal("an unfinished rebuild changed the process")
		}
		if err := r.disturb(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRebuildFails(t *testing.T) {
	g := gpcore.New(kernels.SquaredExponential(1, []float64{0.3}), 40)
	for i := range 40 {
		if err := g.Append([]float64{float64(i)}, 1, 0.01); err != nil {
			t.Fatal(err)
		}
	}
	before := snapshot(g)
	// With this lengthscale and no noise all points are one.
	if err := g.StartRebuild(kernels.SquaredExponential(1, []float64{1e9}), make([]float64, 40)); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Rebuild(24); err != gpcore.ErrNotPositiveDefinite {
		t.Fatal(err)
	}
	if a, b := g.Rebuilding(); a != 0 || b != 0 {
		t.Fatal("a failed rebuild goes on")
	}
	if !gptest.SameBits(before, snapshot(g)) {
		t.Fatal("a failed rebuild changed the process")
	}
	if done, err := g.Rebuild(24); !done || err != nil {
		t.Fatal("without a rebuild there is nothing to do")
	}
	if err := g.StartRebuild(kernels.Constant(1, 2), nil); err != gpcore.ErrShape {
		t.Fatal(err)
	}
	if err := g.StartRebuild(kernels.Constant(1, 1), []float64{1}); err != gpcore.ErrShape {
		t.Fatal(err)
	}
}
