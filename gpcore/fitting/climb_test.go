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
	free, err := Fit(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	const limit = 0.1
	if l := math.Exp(free.Kernel.Params(nil)[1]); l < 2*limit {
		t.Fatalf("the maximum is at %g, within the fence", l)
	}
	p.Kernel = fenced{inner, limit}
	r, err := Fit(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	// The posterior rises towards the fence: nine tenths of the way there are what a search without scales leaves.
	if l := math.Exp(r.Kernel.Params(nil)[1]); l < 0.05+0.9*(limit-0.05) || l > limit*(1+1e-12) {
		t.Errorf("ended at %g after %d evaluations", l, r.Evaluations)
	}
}
