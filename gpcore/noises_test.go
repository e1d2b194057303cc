package gpcore_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// The certificate holds at every point and is not idle: after the updates the
// bounds are close to one.
func TestTrackNoisesCertificate(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	rule := gpcore.NoiseRule{Exact: 0, Tau: 0.05, Max: 6}
	const n = 60
	g := gpcore.New(kernels.Matern52(1, []float64{0.3, 0.3}), n)
	want := make([]float64, n)
	for i := range n {
		want[i] = 0.01 + 0.1*rng.Float64()
		if err := g.Append(gptest.Point(rng, 2), rng.NormFloat64(), want[i]); err != nil {
			t.Fatal(err)
		}
	}
	exact := g.Clone()
	var x []float64
	for range 50 {
		x = append(x, gptest.Point(rng, 2)...)
	}
	gm, gv, em, ev := make([]float64, 50), make([]float64, 50), make([]float64, 50), make([]float64, 50)
	for step := range 40 {
		for i := range want {
			want[i] *= math.Exp(0.05 * rng.NormFloat64())
		}
		if step%10 == 9 {
			want[step] *= 30
		}
		r, err := g.TrackNoises(want, rule)
		if err != nil || r.Exact || r.Updated > rule.Max {
			t.Fatal(r, err)
		}
		if r.Pending == 0 && (r.SDLow < math.Sqrt(1-rule.Tau)-1e-12 || r.SDHigh > math.Sqrt(1+rule.Tau)+1e-12) {
			t.Fatalf("nothing pending but the bounds are %g, %g", r.SDLow, r.SDHigh)
		}
		if err := exact.SetNoises(want); err != nil {
			t.Fatal(err)
		}
		g.Predict(gm, gv, x)
		exact.Predict(em, ev, x)
		for j := range ev {
			// 1e-9: both variances are rounded differences from one.
			if q := math.Sqrt(ev[j] / gv[j]); q < r.SDLow-1e-9 || q > r.SDHigh+1e-9 {
				t.Fatalf("step %d: true over held SD %g outside [%g, %g]", step, q, r.SDLow, r.SDHigh)
			}
		}
	}
	r, err := g.TrackNoises(want, gpcore.NoiseRule{Tau: 0.01, Max: n})
	if err != nil || r.Pending != 0 || r.SDHigh > math.Sqrt(1.01)+1e-12 {
		t.Fatal(r, err)
	}
	if r, err = g.TrackNoises(want, gpcore.NoiseRule{Exact: n}); err != nil || !r.Exact || r.SDLow != 1 || r.SDHigh != 1 {
		t.Fatal(r, err)
	}
	for i, w := range want {
		if g.NoiseVariance(i) != w {
			t.Fatal("exact tracking left another noise")
		}
	}
	for i := range want {
		want[i] *= 1 + 0.04*rng.Float64()
	}
	held := g.NoiseVariance(3)
	if r, err = g.TrackNoises(want, gpcore.NoiseRule{Exact: n, Tau: 0.05}); err != nil || r.Exact || r.Pending != 0 || r.SDHigh < 1 || g.NoiseVariance(3) != held {
		t.Errorf("within Tau: %+v (%v), and a noise variance of %v where %v was held", r, err, g.NoiseVariance(3), held)
	}
	if _, err := g.TrackNoises(want[1:], rule); err != gpcore.ErrShape {
		t.Fatal(err)
	}
}

func TestLeaveOneOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	const n = 30
	g := gpcore.New(kernels.SquaredExponential(1, []float64{0.3, 0.3}), n)
	for range n {
		if err := g.Append(gptest.Point(rng, 2), rng.NormFloat64(), 0.05); err != nil {
			t.Fatal(err)
		}
	}
	// Through updates the diagonal of K^-1 is kept, not recomputed.
	for range 200 {
		_ = g.Replace(rng.IntN(n), gptest.Point(rng, 2), rng.NormFloat64(), 0.02+0.1*rng.Float64())
		_ = g.SetNoise(rng.IntN(n), 0.02+0.1*rng.Float64())
		_ = g.SetNoise(rng.IntN(n), 1e5*rng.Float64())
	}
	mean, variance, fitted := make([]float64, n), make([]float64, n), make([]float64, n)
	g.LeaveOneOut(mean, variance)
	g.FittedMeans(fitted)
	for i := range n {
		var m, v [1]float64
		g.Predict(m[:], v[:], g.X(i))
		if !gptest.Agree(fitted[i], m[0], 1e-10) {
			t.Fatalf("fitted mean %g, want %g", fitted[i], m[0])
		}
		c := g.Clone()
		_ = c.Remove(i)
		c.Predict(m[:], v[:], g.X(i))
		if !gptest.Agree(mean[i], m[0], 1e-9) || math.Abs(variance[i]/(v[0]+g.NoiseVariance(i))-1) > 1e-9 {
			t.Fatalf("without %d: %g, %g, want %g, %g", i, mean[i], variance[i], m[0], v[0]+g.NoiseVariance(i))
		}
	}
}

func TestAuditSeesDamage(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 26))
	const n = 40
	g := gpcore.New(kernels.SquaredExponential(1, []float64{0.3, 0.3}), n)
	if _, r := g.Audit(); r != 0 {
		t.Fatal("an empty process has a residual")
	}
	for range n {
		if err := g.Append(gptest.Point(rng, 2), rng.NormFloat64(), 1e-4); err != nil {
			t.Fatal(err)
		}
	}
	round := func() (worst float64) {
		seen := map[int]bool{}
		for range n {
			i, r := g.Audit()
			seen[i], worst = true, max(worst, r)
		}
		if len(seen) != n {
			t.Fatalf("a round of audits saw %d of %d", len(seen), n)
		}
		return worst
	}
	if w := round(); w > 1e-13 {
		t.Errorf("residual %g of a sound factor", w)
	}
	g.Model().Factor.W[20*g.Model().Factor.Stride+7] *= 1.001
	g.Model().Factor.FinishTargets(0)
	if w := round(); w < 1e-8 {
		t.Errorf("residual %g of a damaged factor", w)
	}
	if err := g.Refresh(); err != nil {
		t.Fatal(err)
	}
	if w := round(); w > 1e-13 {
		t.Errorf("residual %g after Refresh", w)
	}
}
