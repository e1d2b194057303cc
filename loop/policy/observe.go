package policy

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
)

// Observe implements [Policy].
func (e *engine) Observe(o Observation) error {
	e.memory.begin()
	if err := e.check(o); err != nil {
		return err
	}
	// The boundary was passed by Propose, unless observations are replayed without.
	if err := e.advance(context.Background(), o.Step); err != nil {
		return err
	}
	x := e.memory.settings.Take(len(o.X)) // the row keeps it
	for i, v := range o.X {
		x[i] = e.axes[i].Unit(v)
	}
	r := model.Row{X: e.model.Point(x, o.Step), Mean: o.Mean, Variance: o.Variance, Shots: o.Shots, Set: o.ControlSet, Step: o.Step}
	if o.Valid { // as the step was decided, before anything of it is learnt
		if err := e.testPrior(o, &r); err != nil {
			return err
		}
	}
	countCompared(e, o.Step)
	e.lastObserved = max(e.lastObserved, o.Step)
	e.costs.Ledger.Charge(o.Cost)
	if e.costs.Read(o.ControlSet, o.SetCost, e.domains) {
		e.schedule.Reprice(e.costs.TypicalOf(e.domains), e.costs.Alike)
	}
	if o.ControlSet >= 0 && o.Step > e.lastCounted {
		e.lastCounted = o.Step
		if o.Step > e.spec.InitialSteps {
			e.schedule.RecordPlay(o.ControlSet)
		}
	}
	e.criterion.Random.Observe(x, e.controlledBy(o.ControlSet), o.Step, o.Shots)
	e.countFailures(o, x)
	if o.Valid {
		if e.track != nil {
			e.model.Data.Window = e.track.Holding(r.Step)
			e.track.Learn(&r)
		}
		e.model.Observe(r)
		e.constraints.Observe(o.Constrained, r)
	}
	return nil
}

// check refuses what cannot be used, naming it.
func (e *engine) check(o Observation) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%w of step %d: %s", ErrObservation, o.Step, fmt.Sprintf(format, args...))
	}
	switch {
	case o.Step < 1:
		return fail("steps count from 1")
	case o.ControlSet < -1 || o.ControlSet >= len(e.domains):
		return fail("control set %d, there are %d (-1: none)", o.ControlSet, len(e.domains))
	case len(o.X) != len(e.axes):
		return fail("%d values for %d variables", len(o.X), len(e.axes))
	case o.Requested != nil && len(o.Requested) != len(e.axes):
		return fail("%d requested values for %d variables", len(o.Requested), len(e.axes))
	case !num.Finite(o.Cost) || o.Cost < 0:
		return fail("cost %g must be finite and not negative", o.Cost)
	case e.spec.CostsRead && (o.SetCost < 0 || math.IsInf(o.SetCost, 0)):
		return fail("the control set's cost %g must be finite and not negative, or NaN where it was not read", o.SetCost)
	}
	for i, v := range o.X {
		if !num.Finite(v) {
			return fail("variable %q is %g", e.spec.Variables[i].Name, v)
		}
	}
	if n := len(o.Constrained); n != 0 && n != len(e.constraints.Each) {
		return fail("%d readings for %d constraints (NaN: no reading)", n, len(e.constraints.Each))
	}
	for j, v := range o.Constrained {
		if math.IsInf(v, 0) {
			return fail("constraint %q reads %g, which must be finite, or NaN where there is no reading", e.constraints.Each[j].Name, v)
		}
	}
	if !o.Valid {
		return nil
	}
	if known := e.model.Known; known != nil {
		if why := known.Refusal(o.X); why != "" {
			return fail("%s", why)
		}
	}
	switch {
	case !num.Finite(o.Mean):
		return fail("mean %g", o.Mean)
	case o.Shots < 1:
		return fail("%d shots behind a valid mean", o.Shots)
	case o.Variance < 0 || math.IsInf(o.Variance, 0):
		return fail("variance %g must be finite and not negative, or NaN where it is unknown", o.Variance)
	}
	return nil
}

// controlledBy says which variables a control set controls; nil: none.
func (e *engine) controlledBy(set int) []bool {
	if set < 0 {
		return nil
	}
	return e.spec.ControlSets[set].Controlled
}

// countFailures counts the step for or against its setting. A failed step counts against
// the setting that was achieved and, where it differs, the one that was asked for:
// the device may not have moved at all.
func (e *engine) countFailures(o Observation, x []float64) {
	if o.ControlSet < 0 {
		return
	}
	d, v := e.domains[o.ControlSet], e.excluded[o.ControlSet]
	at := e.memory.Floats(d.Size())
	d.Project(at, x)
	v.Add(at, o.Valid, o.Step)
	e.measured.Add(at, o.Valid)
	asked := o.Requested
	if asked == nil && e.last.Step == o.Step && e.last.ControlSet == o.ControlSet {
		asked = e.last.X
	}
	if o.Valid || asked == nil {
		return
	}
	requested := make([]float64, d.Size())
	for j, i := range d.Coords {
		requested[j] = e.axes[i].Unit(asked[i])
	}
	if !slices.ContainsFunc(requested, math.IsNaN) && !v.Same(requested, at) {
		v.Add(requested, false, o.Step)
		e.measured.Add(requested, false)
	}
}
