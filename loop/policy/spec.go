package policy

// Spec describes a problem and the policy that is to solve it. It is plain data:
// a configuration file, a benchmark and a test all build one.
type Spec struct {
	// Kind is the policy's name, as a configuration file writes it: "rahbo",
	// "gp-ucb", "ucb-cvs", "random" or "sobol".
	Kind string
	// Variables in file order.
	Variables []Variable
	// ControlSets in file order; one that holds every variable if the user named
	// none.
	ControlSets []ControlSet
	// Candidates, if any, are the only settings that may be proposed: one row per
	// candidate, one value per variable.
	Candidates [][]float64
	// Budget bounds the sum of Observation.Cost; 0: no bound.
	Budget float64

	// Risk is alpha of MV = f - alpha*variance, in 1/(the objective's unit).
	Risk float64
	// Confidence is "constant" (Beta multiplies the standard deviation) or "irgp".
	Confidence string
	// Beta multiplies the standard deviation where Confidence is "constant", and in
	// every recommendation.
	Beta float64
	// VarianceModel is "log" (log s^2 with its exact sampling noise; also where it is
	// empty) or "raw".
	VarianceModel string
	// Schedule is UCB-CVS's: "etc-50", "etc-100", "etc-ada", or "epsilon".
	Schedule string
	// Epsilon is the epsilon-schedule, in the objective's unit; the last value
	// holds.
	Epsilon []float64

	// Design of the initial steps: "sobol" or "random".
	Design string
	// InitialSteps is the number of initial steps.
	InitialSteps int

	Model Model

	// Seed determines every random choice.
	Seed uint64
	// WorkUnits is the length of a decision, at least one unit for each control set
	// that is searched; 0 takes the policy's default.
	WorkUnits int
}

// Model describes the Gaussian process.
type Model struct {
	// Kernel is "se" or "matern52".
	Kernel string
	// Hyperparameters is "fit" (marginal likelihood with priors, refitted as data
	// come in; "priors" is taken as "fit") or "fixed" (Lengthscale, Outputscale,
	// NoiseSD, Mean hold; a noise that is learnt takes the same lengthscales).
	Hyperparameters string
	// Lengthscale per variable, as a fraction of its range; used when fixed.
	Lengthscale []float64
	// Outputscale is the prior variance of the objective and NoiseSD the standard
	// deviation of one shot, both in the objective's unit; Mean is the prior mean.
	// Used when fixed.
	Outputscale, NoiseSD, Mean float64
	// Capacity bounds the observations that the model keeps; 0 takes 1024. When it is
	// reached, the older of the two observations nearest to each other leaves.
	Capacity int
	// RefitEvery is the number of steps from one fit to the next; 0 takes 5.
	RefitEvery int
	// RefitLag is the number of steps from the launch of a fit to the step at which
	// it comes into force; 0 takes 1. A fit runs in the background meanwhile.
	RefitLag int
}
