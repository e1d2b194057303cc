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

// ExploresUntil is the last step that may go where nothing was measured, math.MaxInt where none is the last, 0 where none may:
// a hill that is found is climbed in the last steps. It counts where one belief decides.
func (s *Spec) ExploresUntil() int {
	asked := s.Stalled == stalledExplore || s.Stalled == "" && s.Steps > 0 && s.flat() && len(s.Candidates) == 0
	switch {
	case !asked || !s.undivided():
		return 0
	case s.Steps == 0:
		return math.MaxInt
	}
	return s.Steps - min(s.Steps/4, 10)
}

// recommendsAll reports whether a setting may be recommended that was not measured.
func (s *Spec) recommendsAll() bool {
	asked := s.Recommended == recommendedModel || s.Recommended == "" && s.Steps > 0 && s.flat()
	return asked && s.undivided() && len(s.Candidates) == 0
}

// repeats reports whether a step is one of the last, which may measure again what a recommendation could be:
// a tenth of them, up to six.
func (s *Spec) repeats(step int) bool {
	return s.Steps > 0 && step > s.Steps-min(s.Steps/10, 6) && s.flat() && s.undivided() && !s.Once && s.Acquisition != acquireNothing
}

// flat reports whether a step costs the same everywhere.
func (s *Spec) flat() bool { return s.SettingCost == nil && len(s.MoveCost) == 0 && !s.PerCost }

// trusts reports whether decisions are searched in a trust region.
func (s *Spec) trusts() bool {
	return s.Region == regionTrust && s.undivided() && len(s.Candidates) == 0 && s.Acquisition != acquireNothing
}

// SearchSpec says where decisions look, what is tried again, and what may be recommended that was not tried.
type SearchSpec struct {
	// Region is where decisions look: in the "whole" domain (also where it is empty) or, three of four, in a "trust" region
	// (package trust). It counts where the task is undivided (see Spec.undivided) and settings are not listed.
	// By default: kinds are as their papers describe them, and where no variable is without effect nothing is gained.
	Region string `toml:"region" default:"whole" enum:"whole,trust" doc:"where a decision looks for a setting: whole: in the whole ranges; trust: three of four decisions in a box around the best one that grows with success and shrinks without, for many variables"`

	// Steps is after how many steps the run is to end, 0 where that is not known. With it Stalled has another
	// default, and the last steps are for the recommendation (see Spec.repeats).
	Steps int
	// Once says that a candidate which was tried is not proposed again while others are
	// left: for tables of recorded results, where a second measurement brings nothing.
	Once bool
	// Stalled says what follows steps in a row that repeat what is known near the best (patience): "explore", a
	// setting far from all that were measured, and settings around a reading that was better than expected; "repeat", what
	// the acquisition says, as papers have it. Empty: "explore" in a run that is to end (Steps) where a step costs
	// the same everywhere and settings are not listed, else "repeat". It counts where the task is undivided (see Spec.undivided) and one belief decides,
	// and not in the last ten of Steps, or the last quarter of fewer than forty.
	// By default: a run that ends is worth what it found, and a model that fits one hill sees no other.
	Stalled string `toml:"stalled" enum:"repeat,explore" doc:"what follows three steps or more in a row that repeat what is known near the best: repeat: what the acquisition says; explore: a setting far from all that were measured, and others around it where it was better than expected: hills that the model does not know; absent: explore until ten of [stop] steps are left, or a quarter of fewer than forty, where one control set holds all variables, settings are not listed, a step costs the same everywhere, and there is neither a constraint, drift nor a dose; else repeat"`
	// Recommended says among which settings the recommendation is: "measured", or "model", those between them too. Empty:
	// "model" in a run that is to end (Steps) where a step costs the same everywhere, else "measured". It counts where the
	// task is undivided and settings are not listed.
	// By default: readings around a setting tell more of it than each of itself, and before the end it is measured.
	Recommended string `toml:"recommended" enum:"measured,model" doc:"among which settings the recommendation is: measured: those that were measured; model: all that lie between them too, by the model; absent: model where stalled's default would explore, else measured"`
}

// CostSpec is what steps cost beside what their control sets are said to.
type CostSpec struct {
	// SettingCost is what a step costs in addition to its control set's cost and its movement,
	// as a function of the setting of all variables (NaN for those left random); nil:
	// nothing. It must be safe for concurrent use.
	SettingCost func(controlSet int, x []float64) float64
	// CostsRead says that what a step with a control set costs by itself is read after it
	// (Observation.SetCost) and learnt; ControlSet.Cost counts until the first reading.
	CostsRead bool
	// MoveCost is the cost per unit moved, one value per variable; nil: nothing.
	MoveCost []float64
}

// RiskSpec completes Spec.Risk.
type RiskSpec struct {
	// RandomDraws says whether what a step leaves random takes a new value for each shot
	// (space.DrawnPerShot) or one for all of them (space.DrawnPerStep); empty: as measured. It
	// matters where Risk counts: see risk.SpreadRisk.
	RandomDraws string `toml:"random_draws" enum:"shot,step" doc:"what risk takes for granted of variables that a step leaves random: a new value for each shot, or one for a step, which averaging over shots does not reduce; absent: as measured"`
	// ExploreSteps is the length of the first stage of "rahbo-us", in steps; 0 takes 10.
	ExploreSteps int `toml:"explore_steps" zero:"absent" unit:"steps" bound:">= 1" doc:"length of the first stage of rahbo-us, which explores the noise; absent: 10"`
}
