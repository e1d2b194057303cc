package benchmarks

import "github.com/labtuner/tuner/gpcore"

// priorsKernel has six priors of mean zero and lengthscale 1: squared exponential,
// Matern 5/2 and 3/2, periodic with period 5, linear (variance 0.05^2, so that
// k(20, 20) = 1) and rational quadratic of shape 0.5. The periodic kernel is
// exp(-2 sin^2(pi r/5)), which is what gpytorch computes; its documentation and the
// paper's text have exp(-sin^2(pi r/5)/2).
func priorsKernel() *Experiment {
	return priorsExperiment("kernel", "2", "which of 6 kernels is the objective from", kernelPriors())
}

func kernelPriors() []prior {
	one := []float64{1}
	return []prior{
		{name: "se", kernel: gpcore.SquaredExponential(1, one)},
		{name: "matern52", kernel: gpcore.Matern52(1, one)},
		{name: "matern32", kernel: gpcore.Matern32(1, one)},
		{name: "periodic", kernel: gpcore.Periodic(1, []float64{5}, one)},
		{name: "linear", kernel: gpcore.Linear([]float64{0.05 * 0.05})},
		{name: "rational-quadratic", kernel: gpcore.RationalQuadratic(1, 0.5, one)},
	}
}
