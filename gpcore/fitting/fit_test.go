package fitting

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/internal/check"
	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/kernels"
)

func fitProblem(k kernels.Kernel, n int, seed uint64) Problem {
	rng := rand.New(rand.NewPCG(seed, 1))
	d := k.Dim()
	p := Problem{
		Kernel: k, Variance: LogNormal{0, 2}, Lengthscale: LogNormal{math.Log(0.3), 0.7},
		Noise: &LogNormal{math.Log(0.01), 2}, MeanSD: 1, Starts: 2, Seed: seed,
	}
	for range n {
		x := gptest.Point(rng, d)
		y := 0.5 + math.Sin(6*x[0]) + 0.1*rng.NormFloat64()
		p.X, p.Y = append(p.X, x...), append(p.Y, y)
		p.NoiseVariance = append(p.NoiseVariance, 0.001*rng.Float64())
	}
	return p
}

// The gradient against central differences; the step 1e-5 leaves an error near
// 1e-5^2 relative to third derivatives, and rounding near 1e-16/1e-5*|value|.
func TestEvidenceGradient(t *testing.T) {
	gptest.ForEachKernel(t, func(t *testing.T, k kernels.Kernel, _ *rand.Rand) {
		e, err := newEvidence(fitProblem(k, 37, 3), new(Workspace))
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
	r, err := new(Workspace).Fit(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := newEvidence(p, new(Workspace))
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
	again, _ := new(Workspace).Fit(context.Background(), p)
	if again.LogPosterior != r.LogPosterior || again.Evaluations != r.Evaluations {
		t.Error("the same problem gave another fit")
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := new(Workspace).Fit(done, p); err == nil {
		t.Error("a cancelled fit without any evaluation gave a result")
	}
}

// A fit of one observation, and one that has nothing to work with.
func TestFitOfLittle(t *testing.T) {
	p := fitProblem(kernels.SquaredExponential(1, []float64{0.3, 0.3}), 1, 2)
	if r, err := new(Workspace).Fit(context.Background(), p); err != nil || !check.IsFinite(r.LogPosterior) {
		t.Error(r, err)
	}
	p = fitProblem(kernels.SquaredExponential(1, []float64{0.3, 0.3}), 6, 2)
	p.Noise = nil
	for i := range 6 {
		p.X[2*i], p.X[2*i+1], p.NoiseVariance[i] = 0.5, 0.5, 0
	}
	if _, err := new(Workspace).Fit(context.Background(), p); !errors.Is(err, ErrNoFit) {
		t.Errorf("one point six times without noise: %v", err)
	}
	for _, bad := range []func(*Problem){
		func(p *Problem) { p.Y = nil },
		func(p *Problem) { p.X[3] = math.NaN() },
		func(p *Problem) { p.Y[3] = math.Inf(1) },
		func(p *Problem) { p.NoiseVariance[3] = -1 },
		func(p *Problem) { p.Variance.SD = 0 },
		func(p *Problem) { p.Noise.Mean = math.NaN() },
	} {
		p := fitProblem(kernels.SquaredExponential(1, []float64{0.3, 0.3}), 6, 2)
		bad(&p)
		if _, err := new(Workspace).Fit(context.Background(), p); err == nil {
			t.Error("a bad problem was fitted")
		}
	}
}

func BenchmarkFit(b *testing.B) {
	for _, n := range []int{50, 150, 500} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			p := fitProblem(kernels.Matern52(1, []float64{0.3, 0.5, 0.5}), n, 1)
			p.Starts = 0
			evaluations := 0
			for b.Loop() {
				r, err := new(Workspace).Fit(context.Background(), p)
				if err != nil {
					b.Fatal(err)
				}
				evaluations = r.Evaluations
			}
			b.ReportMetric(float64(evaluations), "evaluations")
		})
	}
}

// Constant targets, zero included, are fitted and followed.
func TestConstantTargets(t *testing.T) {
	for _, y := range []float64{0, 7} {
		p := fitProblem(kernels.Matern52(1, []float64{0.3, 0.3}), 30, 1)
		for i := range p.Y {
			p.Y[i] = y
		}
		p.MeanSD = 100
		r, err := new(Workspace).Fit(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(r.Mean-y) > 0.01*(1+y) || !check.IsFinite(r.LogPosterior) {
			t.Errorf("targets %g: mean %g", y, r.Mean)
		}
		g := gpcore.New(r.Kernel, 30)
		noise := vec.Constant(30, r.NoiseVariance)
		residual := vec.Constant(30, y-r.Mean)
		if err := g.Load(p.X, residual, noise); err != nil {
			t.Fatal(err)
		}
		var m, v [1]float64
		g.Predict(m[:], v[:], []float64{0.5, 0.5})
		if math.Abs(m[0]+r.Mean-y) > 0.01*(1+y) {
			t.Errorf("targets %g: posterior mean %g", y, m[0]+r.Mean)
		}
	}
}
