package watch

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// After any sequence of changes a watch equals a prediction, for every kind of kernel;
// and it does take the way of rank-one terms where it says so. It does so with and
// without covariances that are kept.
func TestWatchFollows(t *testing.T) {
	for _, kept := range []int{5, 2, 0} {
		watchFollows(t, kept)
	}
}

// watchFollows keeps the covariances of so many of five panels.
func watchFollows(t *testing.T, kept int) {
	gptest.ForEachKernel(t, func(t *testing.T, k kernels.Kernel, rng *rand.Rand) {
		g := gpcore.New(k, 40)
		for range 30 {
			if err := g.Append(gptest.Point(rng, 3), rng.NormFloat64(), 0.05); err != nil {
				t.Fatal(err)
			}
		}
		x := gptest.Point(rng, 3*100)
		w := New(g, x)
		w.store = newCovariances(kept, 40, maxStored)
		defer func() {
			for i := range 5 {
				if (w.store.kept(i) != nil) != (i < kept) {
					t.Fatalf("covariances of panel %d kept: %t", i, i >= kept)
				}
			}
		}()
		mean, variance := make([]float64, 100), make([]float64, 100)
		steps := []struct {
			name  string
			fresh bool
			do    func() error
		}{
			{"first", true, func() error { return nil }},
			{"nothing", false, func() error { return nil }},
			{"append", false, func() error { return g.Append(gptest.Point(rng, 3), 1, 0.1) }},
			{"remove", false, func() error { return g.Remove(rng.IntN(g.Len())) }},
			{"remove the last", false, func() error { return g.Remove(g.Len() - 1) }},
			{"replace", false, func() error { return g.Replace(rng.IntN(g.Len()), gptest.Point(rng, 3), 1, 0.1) }},
			{"replace the first", false, func() error { return g.Replace(0, gptest.Point(rng, 3), 1, 0.1) }},
			{"append three", false, func() error {
				return firstError(g.Append(gptest.Point(rng, 3), 1, 0.1), g.Append(gptest.Point(rng, 3), 2, 0.2), g.Append(gptest.Point(rng, 3), 3, 0.3))
			}},
			{"noise", false, func() error { return g.SetNoise(rng.IntN(g.Len()), 0.5) }},
			{"two noises", false, func() error { return firstError(g.SetNoise(3, 0.01), g.SetNoise(9, 2)) }},
			{"target", false, func() error { return g.SetTarget(4, 3) }},
			{"two removed", true, func() error { return firstError(g.Remove(9), g.Remove(3)) }},
			{"noise and append", false, func() error { return firstError(g.SetNoise(2, 0.7), g.Append(gptest.Point(rng, 3), 1, 0.1)) }},
			{"replace, then three noises", false, func() error {
				return firstError(g.Replace(5, gptest.Point(rng, 3), 1, 0.1), g.SetNoise(3, 0.02), g.SetNoise(6, 0.9), g.SetNoise(11, 0.3))
			}},
			{"three noises, then replace", false, func() error {
				return firstError(g.SetNoise(1, 0.04), g.SetNoise(8, 0.8), g.SetNoise(20, 0.2), g.Replace(12, gptest.Point(rng, 3), 1, 0.1))
			}},
			{"replace and four noises", true, func() error {
				return firstError(g.Replace(5, gptest.Point(rng, 3), 1, 0.1), g.SetNoise(3, 0.05), g.SetNoise(6, 0.5), g.SetNoise(11, 0.6), g.SetNoise(2, 0.08))
			}},
		}
		for round := range 12 {
			for _, s := range steps {
				if err := s.do(); err != nil {
					t.Fatal(err)
				}
				if g.Len() > 36 {
					if err := firstError(g.Remove(0), g.Remove(0), g.Remove(0), g.Remove(0), g.Remove(0), g.Remove(0)); err != nil {
						t.Fatal(err)
					}
				}
				gm, gv := w.Update()
				if round == 0 && w.stale != s.fresh {
					t.Errorf("%s: computed afresh %v, want %v", s.name, w.stale, s.fresh)
				}
				g.Predict(mean, variance, x)
				for j := range mean {
					// A hundred updates of relative error 1e-15 times the condition number, 1e4.
					if math.Abs(gm[j]-mean[j]) > 1e-10 || math.Abs(gv[j]-variance[j]) > 1e-10 {
						t.Fatalf("round %d, %s, point %d: %g %g, want %g %g", round, s.name, j, gm[j], gv[j], mean[j], variance[j])
					}
				}
			}
		}
		if err := g.SetKernel(kernels.SquaredExponential(1, []float64{0.2, 0.3, 0.4})); err != nil {
			t.Fatal(err)
		}
		gm, _ := w.Update()
		g.Predict(mean, nil, x)
		if math.Abs(gm[7]-mean[7]) > 1e-12 {
			t.Error("a change of kernel was not followed")
		}
	})
}

func firstError(e ...error) error {
	for _, e := range e {
		if e != nil {
			return e
		}
	}
	return nil
}

// A watch of an empty process is the prior.
func TestWatchOfNothing(t *testing.T) {
	g := gpcore.New(kernels.Matern52(2, []float64{1}), 5)
	w := New(g, []float64{0, 1, 2})
	for range 2 {
		mean, variance := w.Update()
		if mean[1] != 0 || variance[1] != 2 {
			t.Fatal(mean, variance)
		}
	}
	if err := g.Append([]float64{1}, 3, 0.1); err != nil {
		t.Fatal(err)
	}
	if mean, _ := w.Update(); math.Abs(mean[1]-3*2/2.1) > 1e-12 {
		t.Fatal(mean)
	}
}
