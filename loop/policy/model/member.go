package model

import (
	"github.com/labtuner/tuner/gpcore/kernels"
	"math"
)

// member is one fully stated prior of a set. A prior of the specification that
// leaves something to be estimated stands for several members, which compete like
// priors of their own.
//
// A member's process has a kernel of variance one (a custom kernel: as it is) and works
// in the member's own unit of the objective,
//
//	y = mean + meanOf(x) + unit * process(x) + noise,
//
// so that neither the standardisation of the objective nor an estimated output scale
// ever touches the factor of its covariance: they only rescale targets, in O(n^2).
type member struct {
	prior  int // index into Model.Priors
	weight float64
	kernel kernels.Kernel
	// unit is the process's unit in the objective's; 0: estimated. Then amplitude is
	// its ratio to the standard deviation of the data, and 0 says that the evidence
	// decides in closed form.
	unit, amplitude float64
	// mean is the prior mean in the objective's unit; NaN: estimated.
	mean   float64
	meanOf func(x []float64) float64 // of unit coordinates; nil: zero
	// ratio is the noise variance of one shot in squared process's units; NaN: it
	// follows from rowNoise and the unit.
	ratio float64
	// ShotVariance is the given noise variance of one shot in squared units of the
	// objective; NaN: it is learnt, or ratio says it.
	shotVariance float64
	// fitted says that fits describe it; doubt is added to its log evidence for its freedom.
	fitted bool
	doubt  float64
}

// follows reports whether the member's noise variances move with the data.
func (b *member) follows() bool { return math.IsNaN(b.ratio) }
