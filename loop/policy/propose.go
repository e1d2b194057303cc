package policy

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/labtuner/tuner/loop/policy/design"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// Propose implements [Policy].
func (e *engine) Propose(ctx context.Context) (Proposal, error) {
	e.memory.begin()
	fits := e.affordableSets()
	if len(fits) == 0 {
		return Proposal{}, e.costs.BudgetError()
	}
	fits = e.costs.Untried(fits)
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
	e.lastProposed, e.last = step, p
	e.startFits()
	return p, nil
}

// Skip implements [Skipper].
func (e *engine) Skip(step int) error {
	if err := e.advance(context.Background(), step); err != nil {
		return fmt.Errorf("step %d: %w", step, err)
	}
	if step > max(e.lastProposed, e.lastObserved)+1 { // a proposal may be abandoned
		countCompared(e, step)
	}
	e.lastProposed, e.last = max(e.lastProposed, step), Proposal{}
	e.kept.Forget()
	e.startFits()
	return nil
}

// designStep is a step without a model. The initial design cycles through the cheapest
// control sets; "random" and "sobol" afterwards through all sets that fit.
func (e *engine) designStep(step int, fits []int) (Proposal, error) {
	sets := fits
	if !e.designOnly || step <= e.spec.InitialSteps {
		sets = design.Cheapest(e.spec.ControlSets, fits)
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
	return e.withCost(p, e.design.Setting(d, step, e.excluded[d.Set].Settings()))
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

// startFits lets the fits that were launched at this boundary run in the background.
func (e *engine) startFits() {
	e.model.StartFit()
	e.constraints.StartFits()
}

// advance passes the boundary before a step, once: a fit that is due comes into
// force, and the next one is launched.
func (e *engine) advance(ctx context.Context, step int) error {
	if step <= e.lastBoundary {
		return nil
	}
	e.cache.Renew()
	failed, err := e.constraints.Advance(ctx, step, step > e.spec.InitialSteps)
	if err != nil {
		return err
	}
	e.failedFits = errors.Join(e.failedFits, failed)
	if err := e.reportFit(e.model.AwaitFit(ctx, step)); err != nil {
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
