package policy

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/loop/policy/acquisition"
	"github.com/labtuner/tuner/loop/policy/confidence"
	"github.com/labtuner/tuner/loop/policy/constraint"
	"github.com/labtuner/tuner/loop/policy/cost"
	"github.com/labtuner/tuner/loop/policy/design"
	"github.com/labtuner/tuner/loop/policy/drift"
	"github.com/labtuner/tuner/loop/policy/exclusion"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/risk"
	"github.com/labtuner/tuner/loop/policy/schedule"
	"github.com/labtuner/tuner/loop/policy/space"
)

// history is what became of settings.
type history struct {
	excluded []*exclusion.Record // by control set
	measured *space.Settings     // nil where no setting is left for a new one: see leaveSettled
}

// engine is every policy of this package: parts, put together by New.
//
//	Observe -> ledger, random variables, exclusions, model
//	Propose -> fits -> design
//	                  -> views -> acquisition -> search -> schedule (decide.go)
//
// Its state after any calls is a function of the specification and the sequence of
// observations, beside the number of the last proposal and, in what searches keep, the decisions
// since the last step that acquisition.RenewEvery divides.
type engine struct {
	spec    Spec
	axes    []space.Axis
	domains []*space.Domain
	target  *space.Domain // of all variables: where the maximum is that steps look for

	costs       *cost.Model
	model       *model.Model
	criterion   *risk.Criterion
	constraints *constraint.Set
	confidence  confidence.Parameter
	history
	track *drift.Tracker // nil where nothing is held and no jump is looked for

	acquisition acquisition.Function
	kept        acquisition.Kept
	cache       expectations.Cache // of everything that is expected over random variables
	memory      *memory
	lists       acquisition.ListSampler
	schedule    schedule.Rule
	fullOnly    int // the only control set that may be played, -1: all
	design      *design.Design
	designOnly  bool // "random" and "sobol": the model serves recommendations only
	throughLog  bool // the objective is learnt through a logarithm

	lastProposed  int        // the last proposal's step
	lastObserved  int        // the last step that was observed
	lastBoundary  int        // the last step boundary that was passed
	lastCounted   int        // the last step that counted as a play
	compared      int        // steps so far that were a comparison's: see countCompared
	last          Proposal   // Step 0: none
	limit         int        // LimitWork
	unreportedFit *model.Fit // not yet reported
	// failedFits of constraints that were not yet reported; nil: none.
	failedFits error
}

// countCompared counts the steps between what was awaited and step next: those of a comparison, of which a policy hears nothing.
func countCompared(e *engine, next int) {
	e.compared += max(next-max(e.lastProposed, e.lastObserved+1), 0)
}

// affordableSets lists the control sets that fit what is left of the budget.
func (e *engine) affordableSets() []int {
	fits := e.costs.AffordableSets(e.memory.Ints(len(e.domains))[:0])
	if e.fullOnly >= 0 {
		fits = slices.DeleteFunc(fits, func(i int) bool { return i != e.fullOnly })
	}
	return fits
}

// LimitWork implements [WorkLimiter].
func (e *engine) LimitWork(units int) { e.limit = max(units, 0) }

// SetStart implements [Starter].
func (e *engine) SetStart(x []float64) {
	e.spec.Variables = slices.Clone(e.spec.Variables)
	for i := range min(len(x), len(e.spec.Variables)) {
		e.spec.Variables[i].Start = x[i]
		if e.lastObserved == 0 && !math.IsNaN(x[i]) { // a held variable is there until it is measured
			e.criterion.Random.SetLast(i, e.axes[i].Unit(x[i]))
		}
	}
}

// toUserUnits brings unit coordinates of all variables into their units.
func (e *engine) toUserUnits(x []float64) []float64 {
	out := make([]float64, len(e.axes))
	for i := range out {
		out[i] = e.axes[i].User(x[i])
	}
	return out
}

// ready reports whether the model knows enough to decide: with given hyperparameters one
// valid observation, else two; with a risk term and a noise that is not known two sample
// variances as well.
func (e *engine) ready() bool {
	rows := e.model.Data.Rows
	return len(rows) >= e.model.MinObservations() &&
		(e.criterion.Risk == 0 || e.model.Known != nil || e.spec.several() || e.model.Data.VarianceRows() >= 2)
}

// refresh brings every model up to date with the data.
func (e *engine) refresh() error {
	if err := e.model.Refresh(); err != nil {
		return err
	}
	return e.constraints.Refresh()
}
