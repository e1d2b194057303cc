package priors

import (
	"math"

	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/loop/benchmarks/experiment"
)

// priorsHill has five priors with the squared exponential of lengthscale 1 that differ
// in the mean: ten hills over [0, 10], and in four of the priors one of them is twice
// as high. The paper shows the hills in a figure and gives no numbers; ours are
// Gaussians of height 1 and width 0.25 (standard deviation) at 0.5, 1.5, ..., 9.5, and
// the doubled ones are those at 1.5, 3.5, 6.5 and 8.5.
func priorsHill() *experiment.Experiment {
	return priorsExperiment("hill", "3", "which of 10 hills of the prior mean is twice as high, or none", hillPriors())
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
