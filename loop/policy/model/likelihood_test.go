package model

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/gpcore/kernels"
)

// By maximum likelihood the prior mean is zero whatever the data are, a bound of a raw variance may be
// negative, and the lengthscale goes where the data say, however unlikely beforehand.
func TestMaximumLikelihood(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 0))
	var rows []Row
	for i := range 40 {
		x := float64(i) / 39
		rows = append(rows, Row{X: []float64{x}, Mean: 50 + 0.1*math.Sin(x) + 1e-4*rng.NormFloat64(), Variance: 1 + x*rng.Float64(), Shots: 5, Step: i + 1})
	}
	of := func(likelihood bool) *Hyper {
		s := Spec{Kernel: "se", Hyperparameters: HyperFit, MaximumLikelihood: likelihood}
		h, err := (&FitTask{Rules: &Rules{Spec: s, Dims: 1, Beta: 2, Learnt: true, Raw: true}, rows: rows, step: 41}).run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	ours, literal := of(false), of(true)
	if literal.Center != 0 || literal.noise.Mean != 0 || math.Abs(ours.Center-50) > 1 {
		t.Errorf("means %g, of the noise %g; with priors %g", literal.Center, literal.noise.Mean, ours.Center)
	}
	if v, _ := literal.noise.link.variance(-100); v >= 0 {
		t.Errorf("the bound far below is %g", v)
	}
	if v, _ := ours.noise.link.variance(-100); v != 0 {
		t.Errorf("with priors the bound far below is %g", v)
	}
	_, long := DescribeKernel(literal.kernel)
	if _, short := DescribeKernel(ours.kernel); long[0] < 3*short[0] {
		t.Errorf("lengthscale %g, with priors %g", long[0], short[0])
	}
}

// plain is a kernel of one's own without hyperparameters.
type plain struct{ kernels.Kernel }

func (plain) NumParams() int                                    { return 0 }
func (plain) Params(dst []float64) []float64                    { return dst }
func (plain) Kinds(dst []kernels.ParamKind) []kernels.ParamKind { return dst }

// A kernel without hyperparameters is described by its variance.
func TestDescribeKernelWithoutHyperparameters(t *testing.T) {
	variance, lengthscales := DescribeKernel(plain{kernels.SquaredExponential(2.5, []float64{1, 1})})
	if variance != 2.5 || lengthscales != nil {
		t.Errorf("variance %v, lengthscales %v", variance, lengthscales)
	}
}
