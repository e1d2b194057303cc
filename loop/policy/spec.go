package policy

import (
	"math"

	"github.com/labtuner/tuner/loop/policy/constraint"
	"github.com/labtuner/tuner/loop/policy/drift"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// Spec describes a problem and the policy that is to solve it. It is plain data:
// a configuration file, a benchmark and a test all build one.
type Spec struct {
	// Kind is the policy's name, as a configuration file writes it: see [Kinds].
	Kind string
	// Variables in file order.
	Variables []space.Variable
	// ControlSets in file order; one that holds every variable if the user named
	// none.
	ControlSets []space.ControlSet
	// Candidates, if any, are the only settings that may be proposed: one row per
	// candidate, one value per variable.
	Candidates [][]float64
	// Budget bounds the sum of Observation.Cost; 0: no bound.
	Budget float64

	// The parts. A kind names one combination; what is empty or zero here is the kind's
	// own, what is not replaces it, so every combination can be had.

	// Acquisition is what a decision maximises: see Acquisitions.
	Acquisition string
	// Risk is alpha of MV = f - alpha*variance, in 1/(the objective's unit).
	Risk float64
	RiskSpec
	// NoiseVariance is the variance of one shot at a setting of all variables (in their
	// units), in squared units of the objective, where it is known; nil: it is learnt or
	// constant. It must be safe for concurrent use. Where it is not a finite number, zero
	// or above, the setting counts as infinitely noisy: it is not proposed, and an
	// observation there is refused.
	NoiseVariance func(x []float64) float64
	// VarianceModel is "log" (log s^2 with its exact sampling noise; also where it is
	// empty) or "raw".
	// By default: the logarithm of a sample variance has sampling noise of known size
	// whatever the variance is; the variance itself has not.
	VarianceModel string `toml:"variance_model" default:"log" enum:"log,raw" doc:"what the noise model learns: log s^2 with its exact sampling noise, or s^2 as in the paper"`
	// Confidence is "constant" (Beta multiplies the standard deviation), "srinivas",
	// "data", "rgp", "irgp" or "heuristic": see Confidences.
	Confidence string
	// ConfidenceSetting is "finite" or "continuous" for "srinivas", "rgp" and "irgp",
	// "theory", "wide" or "high-probability" for "irgp", "all-priors" or "expected" for "srinivas"; empty: finite where Candidates are listed, else
	// continuous, for "irgp" of a risk-averse kind wide.
	ConfidenceSetting string
	// Beta multiplies the standard deviation where Confidence is "constant", in the
	// noise variance's bound where it is "irgp", and in every recommendation.
	Beta float64 `toml:"beta" zero:"absent" unit:"1" bound:"> 0" doc:"the constant that multiplies the standard deviation; of confidence constant"`
	// Delta is the probability that a theoretical confidence parameter ("srinivas",
	// "data") may fail, and that priors are eliminated wrongly; 0 takes 0.05.
	Delta float64 `toml:"delta" zero:"absent" unit:"1" bound:"> 0, < 1" doc:"probability that the bounds of confidence srinivas and data may fail, and that priors are eliminated wrongly; absent: 0.05"`
	// NormBound bounds the objective's norm in the space of the model's kernel, for
	// confidence "data": how many prior standard deviations high it may be; 0 takes 1.
	NormBound float64 `toml:"norm_bound" zero:"absent" unit:"prior standard deviations" bound:"> 0" doc:"bound on the objective's norm, of confidence data; absent: 1"`
	// Schedule is UCB-CVS's: "auto", "etc-50", "etc-100", "etc-ada", or "epsilon"; "none" takes
	// the control set of the greatest value, whatever it costs.
	Schedule string
	// Epsilon is the epsilon-schedule, in the objective's unit; the last value
	// holds.
	Epsilon []float64
	// PerCost divides the acquisition's value by the cost of the step.
	PerCost bool
	// Rho is how far from the best information ratio CostIDS may go for a cheaper step.
	Rho float64 `toml:"rho" zero:"absent" unit:"1" bound:">= 1" doc:"how far from the best information ratio costids may go for a cheaper step"`
	// Fidelity is, for acquisition "mf-mes", the fidelity at which the maximum is sought: a
	// value per variable, in its unit, NaN for variables that are no fidelity. Nil: the
	// maximum over all variables is.
	Fidelity []float64
	CostSpec
	// Constraints that steps should keep.
	Constraints []constraint.Spec
	// Drift says that the objective changes with time.
	Drift drift.Spec

	SearchSpec

	// Design of the initial steps: "sobol" or "random".
	Design string
	// InitialSteps is the number of initial steps.
	InitialSteps int

	Model model.Spec

	// Seed determines every random choice.
	Seed uint64
	// WorkUnits is the length of a decision, at least one unit for each control set
	// that is searched; 0 takes the policy's default.
	WorkUnits int
}

// undivided reports whether one control set holds all variables, nothing drifts, and there is neither a constraint,
// which settings far from all that were measured may break, nor a fidelity.
func (s *Spec) undivided() bool {
	return !s.several() && !s.Drift.Tracks() && s.Fidelity == nil && len(s.Constraints) == 0
}

// leavesUntil is the last step of the search that may leave a setting that was measured often enough for one that was not, 0
// where none may: only a search that is known to end pays for what it learns, and a risk weighs variances, of which few readings
// tell little.
func (s *Spec) leavesUntil() int {
	if s.Steps == 0 || s.Risk > 0 || s.Stalled == stalledRepeat || !s.flat() || !s.undivided() {
		return 0
	}
	return s.lastExploring()
}

// lastExploring is the last step of a search that ends that may look elsewhere: a hill that is found is climbed in the last steps.
func (s *Spec) lastExploring() int { return s.Steps - min(s.Steps/4, 10) }

// ExploresUntil is the last step of the search that may go where nothing was measured, math.MaxInt where none is the last, 0
// where none may. It counts where one belief decides.
func (s *Spec) ExploresUntil() int {
	asked := s.Stalled == stalledExplore || s.Stalled == "" && s.Steps > 0 && s.flat() && len(s.Candidates) == 0
	switch {
	case !asked || !s.undivided():
		return 0
	case s.Steps == 0:
		return math.MaxInt
	}
	return s.lastExploring()
}

// recommendsAll reports whether a setting may be recommended that was not measured.
func (s *Spec) recommendsAll() bool {
	asked := s.Recommended == recommendedModel || s.Recommended == "" && s.Steps > 0 && s.flat()
	return asked && s.undivided() && len(s.Candidates) == 0
}

// repeats reports whether a step of the search is one of the last, which may measure again what a recommendation could be:
// a tenth of them, up to six.
func (s *Spec) repeats(step int) bool {
	return s.Steps > 0 && step > s.Steps-min(s.Steps/10, 6) && s.flat() && s.recommendsAll() && s.Acquisition != acquireNothing
}

// LearnsLogarithm reports whether a policy of the specification learns the objective through a logarithm once the readings
// ask for one.
func LearnsLogarithm(s Spec) bool {
	if k, known := KindOf(s.Kind); known {
		s.complete(k)
	}
	s.completeDrift()
	return s.learnsLogarithm()
}

// learnsLogarithm is LearnsLogarithm of a specification that is complete.
func (s *Spec) learnsLogarithm() bool {
	return s.Model.Transform == transformLearnt || s.Model.Transform == transformAuto && len(s.keepsUnit()) == 0
}

// keepsUnit lists why the objective cannot be learnt through a transformation: what that changes is given or compared in
// the objective's own unit.
func (s *Spec) keepsUnit() []string {
	var out []string
	for _, unsound := range []struct {
		is  bool
		why string
	}{
		{s.Acquisition == acquireNothing, "settings come from a design: nothing is decided by a model"},
		{s.Risk > 0, "risk weighs the objective's own variance, which that of a transformed objective does not give"},
		{len(s.ControlSets) > 0 && s.several(), "an average over what is left random is not that of a transformed objective"},
		{s.NoiseVariance != nil, "the noise is given in the objective's unit, and how large it is in another depends on the objective"},
		{s.Drift.Tracks(), "readings of different times would be compared"},
		{s.Fidelity != nil, "fidelities may differ in more than a logarithm"},
		{s.Model.Hyperparameters == model.HyperFixed || len(s.Model.Priors) > 0, "the prior is given in the objective's unit"},
	} {
		if unsound.is {
			out = append(out, unsound.why)
		}
	}
	return out
}

// flat reports whether a step costs the same everywhere.
func (s *Spec) flat() bool {
	return s.SettingCost == nil && len(s.MoveCost) == 0 && !s.CostsRead && !s.PerCost
}

// trusts reports whether decisions are searched in a trust region.
func (s *Spec) trusts() bool {
	return s.Region == regionTrust && s.undivided() && len(s.Candidates) == 0 && s.Acquisition != acquireNothing
}
