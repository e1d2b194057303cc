package model

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/loop/policy/internal/num"
)

// MinNoise keeps the factor of coinciding settings away from singularity; an SD
// of 0.001 of the objective's spread.
const MinNoise = 1e-6

// Kernels of a specification.
const (
	kernelSE       = "se"
	kernelMatern52 = "matern52"
	kernelMatern32 = "matern32"
	kernelRQ       = "rq"
	kernelPeriodic = "periodic"
	kernelLinear   = "linear"
)

// rqShape is the shape of the rational quadratic that has none given: heavy tails, as
// in Sandberg and Chehreghani (arXiv 2502.01226, section 5).
const rqShape = 0.5

// Kernels lists the words of Model.Kernel and Prior.Kernel. With r the distance in
// lengthscales l, u the unit coordinates and v the variance:
//
//	"se"       v exp(-r^2/2)
//	"matern52" v (1 + q + q^2/3) exp(-q), q = sqrt(5) r
//	"matern32" v (1 + q) exp(-q), q = sqrt(3) r
//	"rq"       v (1 + r^2/(2 a))^-a; a is 1/2 to begin with
//	"periodic" v times the product of exp(-2 sin^2(pi (u - u')/l)), l being the period
//	"linear"   v times the sum of u u'/l^2: a plane through the low ends of the ranges
func Kernels() []string {
	return []string{kernelSE, kernelMatern52, kernelMatern32, kernelRQ, kernelPeriodic, kernelLinear}
}

// newKernel makes the kernel of a name for unit coordinates.
func newKernel(name string, variance float64, lengthscales []float64) kernels.Kernel {
	switch name {
	case kernelSE:
		return kernels.SquaredExponential(variance, lengthscales)
	case kernelMatern32:
		return kernels.Matern32(variance, lengthscales)
	case kernelRQ:
		return kernels.RationalQuadratic(variance, rqShape, lengthscales)
	case kernelPeriodic:
		softness := make([]float64, len(lengthscales))
		for i := range softness {
			softness[i] = 1
		}
		return kernels.Periodic(variance, lengthscales, softness)
	case kernelLinear:
		slopes := make([]float64, len(lengthscales))
		for i, l := range lengthscales {
			slopes[i] = variance / (l * l)
		}
		// A little of a constant, so that the variance vanishes nowhere.
		return kernels.Sum(kernels.Linear(slopes), kernels.Constant(MinNoise*variance, len(slopes)))
	}
	return kernels.Matern52(variance, lengthscales)
}

// noiseKernel is the kernel of the noise process: the objective's family where that has
// lengthscales, else "matern52". A noise that repeats, or that grows in a straight line,
// is not what a periodic or a linear objective suggests.
func noiseKernel(name string) string {
	if name == kernelPeriodic || name == kernelLinear {
		return kernelMatern52
	}
	return name
}

// DescribeKernel gives a kernel's output variance and the lengthscale of each coordinate
// (periods, where it is periodic). For "linear" the variance is that of the steepest
// coordinate over its range, and a lengthscale is the distance over which a coordinate
// does as much. A kernel of one's own without hyperparameters has its variance at the origin and no
// lengthscale.
func DescribeKernel(k kernels.Kernel) (variance float64, lengthscales []float64) {
	logs, kinds, d := k.Params(nil), k.Kinds(nil), k.Dim()
	for i, kind := range kinds {
		if kind == kernels.Lengthscale || kind == kernels.Period {
			lengthscales = append(lengthscales, math.Exp(logs[i]))
		}
	}
	if len(lengthscales) > 0 {
		return math.Exp(logs[0]), lengthscales
	}
	if len(logs) == 0 {
		return k.Variance(make([]float64, d)), nil
	}
	if slices.Contains(kinds, kernels.Timescale) { // the last coordinate is time
		d--
	}
	slopes := logs[:min(d, len(logs))]
	steepest := slopes[num.Argmax(slopes)]
	for _, s := range slopes {
		lengthscales = append(lengthscales, math.Exp((steepest-s)/2))
	}
	return math.Exp(steepest), lengthscales
}
