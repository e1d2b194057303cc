package priors

import (
	"math"

	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/loop/benchmarks/experiment"
)

// priorsLengthscale has four priors: squared exponentials of mean zero with the
// lengthscales 4, 2, 1 and 1/2.
func priorsLengthscale() *experiment.Experiment {
	return priorsExperiment("lengthscale", "4", "which of 4 lengthscales is the objective from", lengthscalePriors())
}

func lengthscalePriors() []prior {
	var out []prior
	for _, l := range []float64{4, 2, 1, 0.5} {
		out = append(out, prior{name: "se-" + experiment.Short(l), kernel: func(unit float64) kernels.Kernel {
			return kernels.SquaredExponential(1, []float64{l / unit})
		}})
	}
	return out
}

// priorsKernel has six priors of mean zero and lengthscale 1: squared exponential,
// Matern 5/2 and 3/2, periodic with period 5, linear (variance 0.05^2, so that
// k(20, 20) = 1) and rational quadratic of shape 0.5. The periodic kernel is
// exp(-2 sin^2(pi r/5)), which is what gpytorch computes; its documentation and the
// paper's text have exp(-sin^2(pi r/5)/2).
func priorsKernel() *experiment.Experiment {
	return priorsExperiment("kernel", "4", "which of 6 kernels is the objective from", kernelPriors())
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

// priorsHill has five priors with the squared exponential of lengthscale 1 that differ
// in the mean: ten hills over [0, 10], and in four of the priors one of them is twice
// as high. The paper shows the hills in a figure and gives no numbers; ours are
// Gaussians of height 1 and width 0.25 (standard deviation) at 0.5, 1.5, ..., 9.5, and
// the doubled ones are those at 1.5, 3.5, 6.5 and 8.5.
func priorsHill() *experiment.Experiment {
	return priorsExperiment("hill", "4", "which of 10 hills of the prior mean is twice as high, or none", hillPriors())
}

func hillPriors() []prior {
	kernel := func(unit float64) kernels.Kernel { return kernels.SquaredExponential(1, []float64{1 / unit}) }
	out := []prior{{name: "hills", kernel: kernel, mean: hills(-1)}}
	for _, doubled := range []int{1, 3, 6, 8} {
		out = append(out, prior{name: "hill-" + experiment.Short(float64(doubled)+0.5), kernel: kernel, mean: hills(doubled)})
	}
	return out
}

// hills is the mean with one hill doubled, none for -1.
func hills(doubled int) func(x float64) float64 {
	const width = 0.25
	return func(x float64) float64 {
		sum := 0.0
		for k := range 10 {
			r := (x - float64(k) - 0.5) / width
			h := math.Exp(-r * r / 2)
			if k == doubled {
				h *= 2
			}
			sum += h
		}
		return sum
	}
}
