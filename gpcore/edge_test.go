package gpcore_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/internal/check"
	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/gpcore/sampling"
)

// Without observations every method answers for the prior.
func TestNoObservations(t *testing.T) {
	gptest.ForEachKernel(t, func(t *testing.T, k kernels.Kernel, rng *rand.Rand) {
		g := gpcore.New(k, 5)
		x := make([]float64, 0, 90)
		for range 30 {
			x = append(x, gptest.Point(rng, 3)...)
		}
		mean, variance := make([]float64, 30), make([]float64, 30)
		dm, dv := make([]float64, 90), make([]float64, 90)
		check := func() {
			t.Helper()
			for j := range mean {
				if mean[j] != 0 || !gptest.Agree(variance[j], k.Variance(x[3*j:3*j+3]), 1e-14) {
					t.Fatalf("prior %g, %g", mean[j], variance[j])
				}
			}
		}
		g.Predict(mean, variance, x)
		check()
		g.Reader().PredictGrads(mean, variance, dm, dv, x)
		check()
		mean[0], variance[0] = g.PredictGrad(x[:3], dm[:3], dv[:3])
		check()
		g.Predict(nil, nil, nil)
		if g.LogLikelihood() != 0 {
			t.Error("likelihood of nothing")
		}
		if err := errors.Join(g.SetTargets(nil), g.SetNoises(nil), g.Load(nil, nil, nil), g.SetKernel(k), g.Refresh()); err != nil {
			t.Error(err)
		}
		g.FittedMeans(nil)
		g.LeaveOneOut(nil, nil)
		if err := sampling.DrawJoint(g, rng, mean, x); err != nil {
			t.Error(err)
		}
		if err := sampling.DrawJoint(g, rng, nil, nil); err != nil {
			t.Error(err)
		}
		if err := g.Remove(0); err != gpcore.ErrIndex {
			t.Error(err)
		}
		compare(t, g, rng)
	})
}

// A process of capacity one forgets and learns for ever.
func TestCapacityOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 72))
	g := gpcore.New(kernels.Matern52(2, []float64{0.5}), 1)
	if err := g.Append([]float64{0}, 3, 0.5); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		x, y, noise := rng.Float64(), rng.NormFloat64(), 0.1+rng.Float64()
		if err := g.Replace(0, []float64{x}, y, noise); err != nil {
			t.Fatal(err)
		}
		var m, v [1]float64
		g.Predict(m[:], v[:], []float64{x})
		if !gptest.Agree(m[0], 2/(2+noise)*y, 1e-14) || !gptest.Agree(v[0], 2-4/(2+noise), 1e-14) {
			t.Fatal(m, v)
		}
	}
}

// Far apart points are independent, and nothing underflows into trouble.
func TestFarPoints(t *testing.T) {
	gptest.ForEachKernel(t, func(t *testing.T, k kernels.Kernel, rng *rand.Rand) {
		g := gpcore.New(k, 3)
		for i := range 3 {
			if err := g.Append([]float64{1e6 * float64(i), 0, -1e6 * float64(i)}, 1, 0.1); err != nil {
				t.Fatal(err)
			}
		}
		for _, v := range snapshot(g) {
			if !check.IsFinite(v) {
				t.Fatal("not finite")
			}
		}
		// A plane there has a variance of 1e12, beside which 0.1 is near rounding.
		if k.Variance(g.X(2)) < 1e3 {
			compare(t, g, rng)
		}
	})
}

// A reading that was far off, held for a while and then taken out, replaced or discounted
// by steps, leaves nothing behind: predictions are those of a process that is refreshed.
func TestFarReadingLeavesNothing(t *testing.T) {
	const n, at = 60, 20
	for _, far := range []float64{1e6, 1e12, 1e100} {
		for _, noise := range []float64{1e-2, 1e-6} {
			for name, heal := range map[string]func(g *gpcore.GP) error{
				"remove":  func(g *gpcore.GP) error { return g.Remove(at) },
				"replace": func(g *gpcore.GP) error { return g.Replace(at, []float64{0.1, 0.2, 0.3}, 0.3, noise) },
				"correct": func(g *gpcore.GP) error { return g.SetTarget(at, 0.3) },
				// Each step lets the weights fall by less than what is noticed at once.
				"discount": func(g *gpcore.GP) error {
					for v := noise; v < 1e4*far; v *= 8 {
						if err := g.SetNoise(at, v); err != nil {
							return err
						}
					}
					return g.Remove(at)
				},
			} {
				rng := rand.New(rand.NewPCG(81, 82))
				g := gpcore.New(gptest.Cube(), n+1)
				for i := range n {
					x := gptest.Point(rng, 3)
					y := math.Sin(3 * x[0])
					if i == at {
						y = far
					}
					if err := g.Append(x, y, noise); err != nil {
						t.Fatal(err)
					}
				}
				if err := heal(g); err != nil {
					t.Fatal(err)
				}
				fresh := g.Clone()
				if err := fresh.Refresh(); err != nil {
					t.Fatal(err)
				}
				x := gptest.Point(rng, 3*100)
				got, want := make([]float64, 100), make([]float64, 100)
				g.Predict(got, nil, x)
				fresh.Predict(want, nil, x)
				for j := range got {
					// Rounding of a factor of condition 100 or 1e7 with sums of a thousand weights.
					if !(math.Abs(got[j]-want[j]) <= 1e-16*100/noise) {
						t.Fatalf("%g at noise %g, %s: mean %g, refreshed %g", far, noise, name, got[j], want[j])
					}
				}
			}
		}
	}
}
