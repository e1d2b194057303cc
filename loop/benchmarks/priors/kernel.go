package priors

import (
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/loop/benchmarks/experiment"
)

// priorsKernel has six priors of mean zero and lengthscale 1: squared exponential,
// Matern 5/2 and 3/2, periodic with period 5, linear (variance 0.05^2, so that
// k(20, 20) = 1) and rational quadratic of shape 0.5. The periodic kernel is
// exp(-2 sin^2(pi r/5)), which is what gpytorch computes; its documentation and the
// paper's text have exp(-sin^2(pi r/5)/2).
func priorsKernel() *experiment.Experiment {
	return priorsExperiment("kernel", "2", "which of 6 kernels is the objective from", kernelPriors())
}

func kernelPriors() []prior {
	one := func(unit float64) []float64 { return []float64{1 / unit} }
	return []prior{
		{name: "se", kernel: func(unit float64) kernels.Kernel { return kernels.SquaredExponential(1, one(unit)) }},
		{name: "matern52", kernel: func(unit float64) kernels.Kernel { return kernels.Matern52(1, one(unit)) }},
		{name: "matern32", kernel: func(unit float64) kernels.Kernel { return kernels.Matern32(1, one(unit)) }},
		{name: "periodic", kernel: func(unit float64) kernels.Kernel {
			return kernels.Periodic(1, []float64{5 / unit}, []float64{1})
		}},
		{name: "linear", kernel: func(unit float64) kernels.Kernel { return kernels.Linear([]float64{0.05 * 0.05 * unit * unit}) }},
		{name: "rational-quadratic", kernel: func(unit float64) kernels.Kernel { return kernels.RationalQuadratic(1, 0.5, one(unit)) }},
	}
}
