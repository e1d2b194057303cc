package model

// Rules says how hyperparameters come about.
type Rules struct {
	Spec Spec
	Seed uint64
	Dims int // variables
	// User brings unit coordinates of all variables into their units.
	User func(x []float64) []float64
	// Timescales of the drift, in steps; none: there is no drift.
	Timescales []float64
	// Beta multiplies the standard deviation in the bound of the noise that enters
	// the objective's model.
	Beta float64
	// Learnt: the noise depends on the setting and is learnt from sample variances.
	Learnt bool
	// Known is the noise where the specification gives it; nil: it does not.
	Known *NoiseFunction
	// Singles: steps of one shot teach the noise as well, by their errors; shots of steps that
	// leave variables random are such.
	Singles bool
	// Raw: the noise process lives on s^2 instead of log s^2.
	Raw bool
}
