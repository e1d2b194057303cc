package priors

import (
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/loop/benchmarks/experiment"
)

// priorsLengthscale has four priors: squared exponentials of mean zero with the
// lengthscales 4, 2, 1 and 1/2.
func priorsLengthscale() *experiment.Experiment {
	return priorsExperiment("lengthscale", "1", "which of 4 lengthscales is the objective from", lengthscalePriors())
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
