package policy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/labtuner/tuner/loop/policy/acquisition"
	"github.com/labtuner/tuner/loop/policy/confidence"
	"github.com/labtuner/tuner/loop/policy/constraint"
	"github.com/labtuner/tuner/loop/policy/cost"
	"github.com/labtuner/tuner/loop/policy/drift"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/risk"
	"github.com/labtuner/tuner/loop/policy/space"
)

// engine is every policy of this package: parts, put together by New.
//
//	Observe -> ledger, random variables, exclusions, model
//	Propose -> fits -> design
//	                  -> views -> acquisition -> search -> schedule (decide.go)
//
// Its state after any calls is a function of the specification and the sequence of
// observations, beside the number of the last proposal.
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
	excluded    []*exclusion   // by control set
	track       *drift.Tracker // nil where nothing is held and no jump is looked for

	acquisition acquisition.Function
	lists       acquisition.ListSampler
	schedule    schedule
	fullOnly    int // the only control set that may be played, -1: all
	design      *design
	designOnly  bool // "random" and "sobol": the model serves recommendations only

	lastProposed  int // the last proposal's step
	lastObserved  int // the last step that was observed
	lastBoundary  int // the last step boundary that was passed
	lastCounted   int // the last step that counted as a play
	last          *Proposal
	limit         int        // LimitWork
	unreportedFit *model.Fit // not yet reported
	// failedFits of constraints that were not yet reported; nil: none.
	failedFits error
}

// Propose implements [Policy].
func (e *engine) Propose(ctx context.Context) (Proposal, error) {
	fits := e.affordableSets()
	if len(fits) == 0 {
		return Proposal{}, e.costs.BudgetError()
	}
	step := max(e.lastProposed, e.lastObserved) + 1
	if err := e.advance(ctx, step); err != nil {
		return Proposal{}, fmt.Errorf("step %d: %w", step, err)
	}
	var p Proposal
	if initial := step <= e.spec.InitialSteps; initial || e.designOnly || !e.ready() || e.track.Designing(step) {
		var err error
		if p, err = e.designStep(step, fits); err != nil {
			return Proposal{}, fmt.Errorf("step %d: %w", step, err)
		}
		p.Initial = initial || !e.designOnly
	} else {
		var err error
		if p, err = e.decide(ctx, step, fits); err != nil {
			return Proposal{}, fmt.Errorf("step %d: %w", step, err)
		}
	}
	p.Step = step
	p.Jump = e.track.JumpedAfter(e.lastObserved)
	p.Fit, e.unreportedFit = e.unreportedFit, nil
	p.FailedFits, e.failedFits = e.failedFits, nil
	e.lastProposed, e.last = step, &p
	e.startFits()
	return p, nil
}

// Skip implements [Skipper].
func (e *engine) Skip(step int) error {
	if err := e.advance(context.Background(), step); err != nil {
		return fmt.Errorf("step %d: %w", step, err)
	}
	e.lastProposed, e.last = max(e.lastProposed, step), nil
	e.startFits()
	return nil
}

// StartFits lets the fits that were launched at this boundary run in the background.
func (e *engine) startFits() {
	e.model.StartFit()
	e.constraints.StartFits()
}

// affordableSets lists the control sets that fit what is left of the budget.
func (e *engine) affordableSets() []int {
	fits := e.costs.AffordableSets()
	if e.fullOnly >= 0 {
		fits = common([]int{e.fullOnly}, fits)
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

// advance passes the boundary before a step, once: a fit that is due comes into
// force, and the next one is launched.
func (e *engine) advance(ctx context.Context, step int) error {
	if step <= e.lastBoundary {
		return nil
	}
	failed, err := e.constraints.Advance(ctx, step, step > e.spec.InitialSteps)
	if err != nil {
		return err
	}
	e.failedFits = errors.Join(e.failedFits, failed)
	if err := e.reportFit(e.model.TakeFit(ctx, step)); err != nil {
		return err
	}
	if err := e.watchForJump(); err != nil {
		return err
	}
	e.track.AbandonHold(e.model.Data.Rows, step)
	if err := e.endSearch(step); err != nil {
		return err
	}
	if !e.track.Holding(step) && step > e.spec.InitialSteps && e.ready() {
		if err := e.reportFit(e.model.LaunchFit(ctx, step)); err != nil {
			return err
		}
	}
	e.lastBoundary = step
	return nil
}

// reportFit keeps the report of a fit, if there was one.
func (e *engine) reportFit(f *model.Fit, err error) error {
	if f != nil {
		e.unreportedFit = f
	}
	return err
}

// designStep is a step without a model. The initial design cycles through the cheapest
// control sets; "random" and "sobol" afterwards through all sets that fit.
func (e *engine) designStep(step int, fits []int) (Proposal, error) {
	sets := fits
	if !e.designOnly || step <= e.spec.InitialSteps {
		sets = cheapest(e.spec.ControlSets, fits)
	}
	d := e.domains[sets[(step-1)%len(sets)]]
	p := Proposal{ControlSet: d.Set, Prior: -1, Why: unexplained()}
	if step == 1 && e.spec.InitialSteps > 0 && e.startsAtStart(d) {
		x := make([]float64, d.Size())
		for j, i := range d.Coords {
			x[j] = e.axes[i].Unit(e.spec.Variables[i].Start)
		}
		return e.withCost(p, x)
	}
	return e.withCost(p, e.design.setting(d, step, e.playedSettings(d)))
}

// withCost completes a proposal of setting x, or of one that can be paid where x cannot.
func (e *engine) withCost(p Proposal, x []float64) (Proposal, error) {
	d := e.domains[p.ControlSet]
	x, err := e.costs.NearestAffordable(d, x)
	if err != nil {
		return Proposal{}, err
	}
	p.Cost, err = e.costs.Check(d, x)
	p.X = d.Proposal(x)
	return p, err
}

// startsAtStart reports whether the first step is the starting setting: there is one
// control set, it holds every variable, and the start is known and, in a finite
// domain, one of its settings.
func (e *engine) startsAtStart(d *space.Domain) bool {
	if len(e.domains) != 1 || len(d.Random) > 0 {
		return false
	}
	start := make([]float64, len(e.axes))
	for i := range start {
		start[i] = e.spec.Variables[i].Start
		if math.IsNaN(start[i]) {
			return false
		}
	}
	return d.Listed() == 0 || d.Contains(start)
}

// playedSettings lists the settings of d that were tried, with or without success.
func (e *engine) playedSettings(d *space.Domain) [][]float64 { return e.excluded[d.Set].settings() }
