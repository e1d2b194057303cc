package model

import "github.com/labtuner/tuner/gpcore/kernels"

// Spec describes the Gaussian process.
type Spec struct {
	// Kernel is "se", "matern52", "matern32", "rq", "periodic" or "linear".
	Kernel string
	// Hyperparameters is "fit" (marginal likelihood with priors, refitted as data
	// come in), "fixed" (Lengthscale, Outputscale, NoiseSD, Mean hold; a noise that is
	// learnt takes the same lengthscales) or "priors" (Priors compete by their evidence).
	Hyperparameters string
	// LengthscalePrior says what is expected of lengthscales that are fitted or left open,
	// a word of LengthscalePriors; empty: "range".
	LengthscalePrior string
	// Lengthscales says which ones a built-in set of priors has, a word of LengthscaleChoices;
	// empty: "each".
	Lengthscales string
	// Transform is "none" (also where it is empty), "learnt": the objective is learnt through the logarithm that its
	// readings ask for, or "auto": so where that is sound.
	Transform string
	// Priors of hyperparameters "priors"; none: a built-in set.
	Priors []Prior
	// PriorRule says how priors that compete decide: "averaged" (the acquisition's mean
	// under the hyperposterior; also where it is empty), "sampled" (HP-GP-TS), "greedy"
	// (MAP-GP-TS) or "elimination" (PE-GP-TS, PE-GP-UCB).
	PriorRule string
	// MaximumLikelihood has fits without priors of the hyperparameters and with zero prior means,
	// and, of raw variances, bounds that may be negative: as RAHBO's paper has it, to compare with.
	MaximumLikelihood bool
	// Lengthscale per variable, as a fraction of its range; used when fixed.
	Lengthscale []float64
	// Outputscale is the prior variance of the objective and NoiseSD the standard
	// deviation of one shot, both in the objective's unit; Mean is the prior mean.
	// Used when fixed.
	Outputscale, NoiseSD, Mean float64
	// Capacity bounds the observations that the model keeps; 0 takes 1024, or 512 where
	// priors compete, each with its own factor. When it is
	// reached, the older of the two observations nearest to each other leaves.
	Capacity int
	// RefitEvery is the number of steps from one fit to the next; 0 takes 5, or, where that is more, an
	// eighth of the observations, and twice as many after a fit that changed nothing.
	RefitEvery int
	// RefitSeldom has fits become rarer as observations become many: RefitEvery was 0.
	RefitSeldom bool
	// RefitLag is the number of steps from the launch of a fit to the step at which
	// it comes into force; 0 takes 1. A fit runs in the background meanwhile.
	RefitLag int
}

// Prior is one hypothesis about the objective.
type Prior struct {
	// Kernel is as in Model; empty: the model's. Custom, where not nil, replaces it and
	// its hyperparameters: a kernel of unit coordinates in squared units of the objective.
	Kernel string
	Custom kernels.Kernel
	// Lengthscale is one for all variables, or one per variable, as a fraction of the
	// range; for "periodic" the period.
	Lengthscale []float64
	// Outputscale is the prior variance of the objective, NoiseSD the standard deviation
	// of one shot and Mean the prior mean, in the objective's unit; NaN: estimated.
	// NoiseSD counts for nothing where the noise is learnt from shots or known.
	Outputscale, NoiseSD, Mean float64
	// MeanOf, where not nil, is added to Mean: a prior mean that depends on the setting of
	// all variables (in their units). It must be safe for concurrent use.
	MeanOf func(x []float64) float64
	// Weight is the prior probability up to a common factor; 0 counts as 1.
	Weight float64
}

// Fit reports a hyperparameter fit that came into force with a step.
type Fit struct {
	// Through is the last step whose observations the fit saw.
	Through int
	// Lengthscale per variable, as a fraction of its range.
	Lengthscale []float64
	// Outputscale is the prior variance of the objective, Mean its prior mean and
	// NoiseSD the standard deviation of one shot (NaN where the noise depends on the
	// setting), in the objective's unit.
	Outputscale, Mean, NoiseSD float64
	// Err, where not nil, says why the fit failed; the hyperparameters in force
	// before it then stay, and the fields above describe nothing.
	Err error
}

// How hyperparameters come about.
const (
	HyperFit    = "fit"
	HyperPriors = "priors"
	HyperFixed  = "fixed"
)

// Rules on priors.
const (
	PriorsAveraged    = "averaged"
	PriorsSampled     = "sampled"
	PriorsGreedy      = "greedy"
	PriorsElimination = "elimination"
)
