package model

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore/fitting"
)

// Words of Spec.LengthscalePrior.
const (
	LengthscaleRange     = "range"
	LengthscaleDimension = "dimension"
)

// Words of Spec.Lengthscales.
const (
	LengthscalesEach   = "each"
	LengthscalesShared = "shared"
)

// LengthscaleChoices lists them:
//
//	"shared"  one for all variables, of some levels
//	"each"    the same, longer levels where there are many variables, and a member that has
//	          one for each variable, fitted as data come in; they compete by their evidence
func LengthscaleChoices() []string { return []string{LengthscalesShared, LengthscalesEach} }

// LengthscalePriors lists them. With l a lengthscale as a fraction of a variable's range and d
// the number of variables:
//
//	"range"      log l is normal with median 0.3 and standard deviation 0.7, whatever d
//	"dimension"  l has the density of a log-normal with mean sqrt(2) + log(d)/2 and standard deviation
//	             sqrt(3) of its logarithm, whose mode, 0.2 sqrt(d), grows as distances in a cube do
//	             (Hvarfner, Hellsten and Nardi, ICML 2024, arXiv 2402.02229)
func LengthscalePriors() []string { return []string{LengthscaleRange, LengthscaleDimension} }

// lengthscalePrior is a lengthscale's prior as a density of its logarithm. That of "dimension" is
// stated in l, as its authors maximise it: exp(-(log l - m)^2/(2 s^2))/l is, but for a factor, normal in
// log l about m - s^2.
func (m *Rules) lengthscalePrior() fitting.LogNormal {
	if m.Spec.LengthscalePrior != LengthscaleDimension {
		return fitting.LogNormal{Mean: math.Log(lengthscaleMedian), SD: lengthscaleLogSD}
	}
	return dimensionPrior(m.Dims)
}

// dimensionPrior is lengthscalePrior of "dimension" with d variables.
func dimensionPrior(d int) fitting.LogNormal {
	const mean, variance = math.Sqrt2, 3
	return fitting.LogNormal{Mean: mean + 0.5*math.Log(float64(d)) - variance, SD: math.Sqrt(variance)}
}

// usualLengthscale is the most probable lengthscale before any data.
func (m *Rules) usualLengthscale() float64 {
	if m.Spec.LengthscalePrior != LengthscaleDimension {
		return lengthscaleMedian
	}
	return math.Exp(m.lengthscalePrior().Mean)
}

// longLevels are those of "dimension" that are clearly longer than the longest of "range", which are for few
// variables: one from 5 variables on, two from 18.
func (m *Rules) longLevels() []weightedValue {
	if m.Spec.LengthscalePrior == LengthscaleDimension || m.Spec.Lengthscales == LengthscalesShared {
		return nil
	}
	all := levels(math.Exp(dimensionPrior(m.Dims).Mean), lengthscaleLogSD, 0.5, 1.5)
	longest := lengthscaleMedian * math.Exp(2*lengthscaleLogSD)
	return slices.DeleteFunc(all, func(l weightedValue) bool { return l.value <= longest })
}

// lengthscaleLevels discretises a lengthscale's prior at so many times 0.7, the standard deviation of
// "range", from the centre of its logarithm.
func (m *Rules) lengthscaleLevels(at ...float64) []weightedValue {
	if m.Spec.LengthscalePrior != LengthscaleDimension {
		return levels(lengthscaleMedian, lengthscaleLogSD, at...)
	}
	prior := m.lengthscalePrior()
	steps := make([]float64, len(at))
	for i, q := range at {
		steps[i] = q * lengthscaleLogSD / prior.SD
	}
	return levels(math.Exp(prior.Mean), prior.SD, steps...)
}
