// Package policy decides what to try next: Gaussian-process bandit algorithms
// on one small interface.
//
// A policy knows variables, control sets and observations; it knows no device,
// no clock and no file. It always maximises. Values cross its border in the
// user's units; inside, inputs are scaled to the unit cube and outputs are
// standardised, and everything that leaves is scaled back.
//
// # Words
//
// A variable is controlled in a step when the step's control set holds it, else
// it is random: left alone and only measured. A variable that is held (its
// device keeps the last value when it is left alone) is a point mass in every
// expectation.
//
// # Parts
//
// A policy is a combination of parts, each in its own room, which is given what it
// needs and returns values: what may be proposed and what random variables do (space), the
// posterior with its priors, fits and noise (model), the confidence parameter (confidence),
// the mean-variance criterion (risk), learnt constraints (constraint), what steps cost
// (cost), the phases of a drifting objective (drift), and the function that a decision
// maximises (acquisition), settings without a model (design), where the search among many
// variables looks (trust), where steps failed (exclusion), and which control set is played
// (schedule). Here is the step that uses them all. kinds.go names the combinations; [New] puts one together.
//
// # Determinism
//
// The randomness of step t is a function of (seed, t) alone, so the same
// sequence of observations gives the same proposals, bit for bit, in any process
// and on any number of cores; a hyperparameter fit runs in the background and comes
// into force at a step that is fixed beforehand. A decision's length is counted in
// work units, never in time: a caller that must stop early cancels the context, the
// policy stops at the next unit boundary and says how many units it did.
package policy

import (
	"context"
	"errors"

	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// DecisionsVersion is the version of what decides. Each change after which the same
// observations may give another decision, recommendation or comparison raises it by one and is
// listed in CHANGELOG.md. A journal keeps it for each session: decisions of another version are
// taken as they were recorded, and not derived again.
const DecisionsVersion = 6

// Policy is one bandit algorithm at work on one problem. It is used from one
// goroutine at a time.
type Policy interface {
	// Propose chooses the control set and the values of the next step. It returns
	// by ctx's end with the best found so far, an error only if there is none: at
	// least one work unit is always done, and a hyperparameter fit that is due is
	// waited for (its work is bounded) unless ctx is cancelled. ErrBudget means that
	// no control set fits what is left.
	Propose(ctx context.Context) (Proposal, error)
	// Observe learns the outcome of a step. A refused observation (ErrObservation)
	// leaves the policy unchanged.
	Observe(Observation) error
	// Recommend returns the setting of the best pessimistic bound.
	Recommend() (Recommendation, error)
}

// WorkLimiter is a policy whose decisions' length can be set: resume and replay
// use it to repeat a decision that was cut.
type WorkLimiter interface {
	// LimitWork bounds the following decisions to units work units; 0 restores
	// the policy's own constant.
	LimitWork(units int)
}

// Skipper is a policy that accepts recorded decisions instead of making them: who
// resumes a long run need not repeat what is on record.
type Skipper interface {
	// Skip takes the decision of a step as made. The policy is then as if it had been asked,
	// bit for bit, but for its reports of fits.
	Skip(step int) error
}

// Starter is a policy that accepts the starting setting when it has been read
// from the instrument, before the first proposal.
type Starter interface {
	// SetStart gives one value per variable, in its unit; NaN for a variable that is
	// random at the start. It replaces Variable.Start.
	SetStart(x []float64)
}

// Errors that callers test for.
var (
	// ErrObservation: the observation is not usable (wrong length, not finite).
	ErrObservation = errors.New("unusable observation")
	// ErrNoData: there is nothing to recommend from yet.
	ErrNoData = errors.New("no valid observation yet")
)

// Proposal is what a policy wants to try.
type Proposal struct {
	// Step counts the policy's own proposals from 1.
	Step int
	// ControlSet is the index into Spec.ControlSets.
	ControlSet int
	// X has one value per variable, in the variable's unit; NaN where the control
	// set leaves the variable random.
	X []float64
	// Cost is what the step will cost by the specification: its control set, its setting
	// and the movement from where the variables were last measured.
	Cost float64
	// Shots is how many shots the step is to take; 0: as many as are configured.
	Shots int
	// Jump says that the objective was found to have jumped: what was learnt before the
	// step before this one is forgotten.
	Jump bool
	// Initial says that the step belongs to the initial design.
	Initial bool
	// Prior is the position in Model.Priors of the prior that decided; -1 where none
	// competes, where they are averaged, and for steps of a design.
	Prior int
	// Work counts the units that the decision took.
	Work int
	// Cut says that not all units were done, because the context ended or LimitWork
	// said so.
	Cut bool
	// Why explains the choice.
	Why Why
	// Fit, where not nil, reports a hyperparameter fit that ended at this step.
	Fit *model.Fit
	// FailedFits, where not nil, says which fits of constraints' models failed; the
	// hyperparameters in force before them stay.
	FailedFits error
}

// Why holds the parts of the acquisition at the proposed point, in the
// objective's unit (Risk in the unit of the mean-variance objective). Parts that
// a policy does not have are NaN.
type Why struct {
	// Mean is the posterior mean (for random variables: its expectation).
	Mean float64
	// SD is the posterior standard deviation of the mean. Where priors are averaged it is
	// the average of theirs, as in the bound; that of their mixture, which Estimate has,
	// is greater where their means differ.
	SD float64
	// Beta multiplies SD in the confidence bound.
	Beta float64
	// NoiseVariance is the variance bound that enters the risk term.
	NoiseVariance float64
	// Risk is what the risk term subtracts.
	Risk float64
	// Value is the acquisition's value.
	Value float64
	// Feasibility is as in Estimate; NaN without constraints.
	Feasibility float64
	// Best is the posterior mean of what was recommended when it was decided, and
	// BestNoiseVariance the variance of a shot there. Who asks the policy fills them in.
	Best, BestNoiseVariance float64
	// OwnLengthscales is the probability of the prior that has a lengthscale for each variable, where
	// one competes.
	OwnLengthscales float64
	// Unseen is, where the setting was chosen for being far from all that were measured, how far it is: see
	// Spec.Stalled.
	Unseen float64
	// Settled is, where the setting was chosen as the best that was not measured, how many readings the one has
	// that looked better still: one more would tell too little. See Spec.Stalled.
	Settled float64
	// Again is, where a setting is measured again to tell it from others near the best, what that is expected to
	// add to the recommendation's lower bound: see Spec.Steps.
	Again float64
	// LogWidth is the width of the logarithm through which the objective is learnt, in its unit, where it is: see
	// warp.Log.
	LogWidth float64
}

// Observation is a step's outcome, or one shot of a step that leaves variables
// random.
type Observation struct {
	// Step is the proposal's number.
	Step int
	// ControlSet is the index of the control set that was played; -1 if nothing
	// was controlled.
	ControlSet int
	// X has every variable's value as achieved or measured, in its unit.
	X []float64
	// Requested is the setting that was proposed, as in Proposal; nil: what this
	// policy proposed for the step, if it did. It matters for failed steps only: a
	// setting that could not be reached must not be proposed again.
	Requested []float64
	// Mean is the objective (to be maximised), in its unit: mean over the shots.
	Mean float64
	// Variance is the unbiased sample variance of the shots, NaN at one shot.
	Variance float64
	// Shots is the number of shots behind Mean.
	Shots int
	// Constrained has the measured value of each of Spec.Constraints, in its unit, NaN
	// where there is none; nil: none of them. A step that broke a constraint is valid: its
	// objective was measured.
	Constrained []float64
	// Cost is what this observation added to the spending. The shots of one step
	// share its cost: the first carries it.
	Cost float64
	// SetCost is what the control set of the step has cost by itself, as ControlSet.Cost counts it,
	// where Spec.CostsRead says that it is read; NaN: it was not. The first shot of a step carries it.
	SetCost float64
	// Valid is false for a failed step: X is meaningful, Mean is not.
	Valid bool
}

// Recommendation is the setting of the best pessimistic bound.
type Recommendation struct {
	// ControlSet indexes Spec.ControlSets.
	ControlSet int
	// X is as in Proposal: NaN where the control set leaves the variable random.
	X []float64
	// Left says what the model takes for granted of those variables: one entry per variable.
	Left []Left
	// Estimate describes the objective there.
	Estimate
	// Start describes the objective at the starting setting, by the same model.
	Start Estimate
	// Feasible says that each constraint holds at the setting with the probability of
	// the bound, Phi(Spec.Beta): at two standard deviations 0.977. Where that is so of no
	// setting that was played, the recommendation is the one most likely to be feasible.
	// Without constraints it is true; before a constraint has two readings, false.
	Feasible bool
}

// Left is what a variable does by itself while a setting leaves it alone, as the model takes
// it: in the variable's unit, both NaN where the setting sets it.
type Left struct {
	// Kind is the family of its distribution; of a Held one Mean is where it was measured last.
	Kind space.RandomKind
	// Mean and SD are the moments of what the expectation is taken over.
	Mean, SD float64
}

// Estimate is what the model says of one setting, in the objective's unit (to be
// maximised). For a setting with random variables it is the expectation.
type Estimate struct {
	// Mean is the posterior mean of the objective.
	Mean float64
	// SD is the posterior standard deviation of the mean.
	SD float64
	// NoiseSD is the standard deviation of one shot; NaN if it was never seen.
	NoiseSD float64
	// LowerBound is the posterior lower bound of the mean-variance objective (of
	// the objective where the policy is not risk-averse).
	LowerBound float64
	// Feasibility is a lower bound of the probability that all constraints hold, in a
	// step that leaves variables random as well: 1 minus the sum of the probabilities
	// that each does not. 1 without constraints, NaN before each has two readings.
	Feasibility float64
}
