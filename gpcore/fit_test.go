package gpcore

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/gpcore/kernels"
)

func fitProblem(k kernels.Kernel, n int, seed uint64) FitProblem {
	rng := rand.New(rand.NewPCG(seed, 1))
	d := k.Dim()
	p := FitProblem{
		Kernel: k, Variance: LogNormal{0, 2}, Lengthscale: LogNormal{math.Log(0.3), 0.7},
		Noise: &LogNormal{math.Log(0.01), 2}, MeanSD: 1, Starts: 2, Seed: seed,
	}
	for range n {
		x := point(rng, d)
		y := 0.5 + math.Sin(6*x[0]) + 0.1*rng.NormFloat64()
		p.X, p.Y = append(p.X, x...), append(p.Y, y)
		p.NoiseVariance = append(p.NoiseVariance, 0.001*rng.Float64())
	}
	return p
}

// The gradient against central differences; the step 1e-5 leaves an error near
// 1e-5^2 relative to third derivatives, and rounding near 1e-16/1e-5*|value|.
func TestEvidenceGradient(t *testing.T) {
	forEachKernel(t, func(t *testing.T, k kernels.Kernel, _ *rand.Rand) {
		e, err := newEvidence(fitProblem(k, 37, 3))
		if err != nil {
			t.Fatal(err)
		}
		v := e.start()
		g := make([]float64, len(v))
		e.gradient(g, v)
		for i := range v {
			const h = 1e-5
			at := append([]float64(nil), v...)
			at[i] += h
			up := e.value(at)
			at[i] -= 2 * h
			if want := (up - e.value(at)) / (2 * h); math.Abs(g[i]-want) > 1e-5*(1+math.Abs(want)) {
				t.Errorf("parameter %d: %g, want %g", i, g[i], want)
			}
		}
	})
}

func TestFitFindsAStationaryPoint(t *testing.T) {
	p := fitProblem(kernels.Matern52(1, []float64{0.3, 0.5}), 60, 5)
	r, err := Fit(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := newEvidence(p)
	v := append(r.Kernel.Params(nil), math.Log(r.NoiseVariance))
	g := make([]float64, len(v))
	e.gradient(g, v)
	for i := range g {
		if math.Abs(g[i]) > 1e-2 {
			t.Errorf("gradient %v at the fit", g)
		}
	}
	if s := math.Sqrt(r.NoiseVariance); s < 0.05 || s > 0.2 {
		t.Errorf("noise SD %g, true 0.1", s)
	}
	again, _ := Fit(context.Background(), p)
	if again.LogPosterior != r.LogPosterior || again.Evaluations != r.Evaluations {
		t.Error("the same problem gave another fit")
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Fit(done, p); err == nil {
		t.Error("a cancelled fit without any evaluation gave a result")
	}
}
