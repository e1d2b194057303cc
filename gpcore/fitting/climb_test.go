package fitting

import (
	"math"
	"testing"

	"github.com/labtuner/tuner/gpcore/kernels"
)

// fenced is a kernel that is no number where its first lengthscale is beyond a limit.
type fenced struct {
	kernels.Kernel
	limit float64
}

func (k fenced) WithParams(logs []float64) kernels.Kernel {
	return fenced{k.Kernel.WithParams(logs), k.limit}
}

func (k fenced) Cov(x, y []float64) float64 {
	if k.Params(nil)[1] > math.Log(k.limit) {
		return math.NaN()
	}
	return k.Kernel.Cov(x, y)
}

// Where the way to the maximum leads through what cannot be evaluated, a fit comes near the edge of that.
func TestFitBesideWhatCannotBeEvaluated(t *testing.T) {
	inner := kernels.SquaredExponential(1, []float64{0.05, 0.3})
	p := fitProblem(inner, 40, 5)
	p.Starts = 0
	free, err := new(Workspace).Fit(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	const limit = 0.1
	if l := math.Exp(free.Kernel.Params(nil)[1]); l < 2*limit {
		t.Fatalf("the maximum is at %g, within the fence", l)
	}
	p.Kernel = fenced{inner, limit}
	r, err := new(Workspace).Fit(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	// The posterior rises towards the fence: nine tenths of the way there are what a search without scales leaves.
	if l := math.Exp(r.Kernel.Params(nil)[1]); l < 0.05+0.9*(limit-0.05) || l > limit*(1+1e-12) {
		t.Errorf("ended at %g after %d evaluations", l, r.Evaluations)
	}
}

// Where the start fits the data very badly, the average information there is many times that at the maximum: a fit does
// not end for that. One that begins where it ended finds nothing more.
func TestFitFromABadStart(t *testing.T) {
	for name, c := range map[string]struct {
		n      int
		y      func(i int, x float64) float64
		before *Earlier
	}{
		"a reading far off, after a fit without it": {70, func(i int, x float64) float64 {
			if i == 69 {
				return math.Sin(6*x) + 3
			}
			return math.Sin(6 * x)
		}, &Earlier{NoiseVariance: 1e-6}},
		"readings a thousand times as large as the prior has them": {40, func(i int, _ float64) float64 { return 1e3 * math.Sin(1.7*float64(i*i)) }, nil},
		"a million times": {40, func(i int, _ float64) float64 { return 1e6 * math.Sin(1.7*float64(i*i)) }, nil},
	} {
		p := Problem{Kernel: kernels.SquaredExponential(1, []float64{0.3}), Variance: LogNormal{0, 2}, Lengthscale: LogNormal{math.Log(0.3), 0.7},
			Noise: &LogNormal{math.Log(0.01), 1.5}, MeanSD: 1, Earlier: c.before}
		for i := range c.n {
			x := math.Mod(float64(i)*math.Phi, 1)
			p.X, p.Y, p.NoiseVariance = append(p.X, x), append(p.Y, c.y(i, x)), append(p.NoiseVariance, 1e-6)
		}
		r, err := new(Workspace).Fit(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		p.Kernel, p.Earlier = r.Kernel, &Earlier{NoiseVariance: r.NoiseVariance}
		again, err := new(Workspace).Fit(t.Context(), p)
		// What is left is 0.02 by the metric of the last steps, which is near the curvature.
		if err != nil || again.LogPosterior > r.LogPosterior+0.05 {
			t.Errorf("%s: %g after %d evaluations, again from there %g, error %v", name, r.LogPosterior, r.Evaluations, again.LogPosterior, err)
		}
	}
}
