package policy

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// Observe implements [Policy].
func (e *engine) Observe(o Observation) error {
	if err := e.check(o); err != nil {
		return err
	}
	// The boundary was passed by Propose, unless observations are replayed without.
	if err := e.advance(context.Background(), o.Step); err != nil {
		return err
	}
	x := make([]float64, len(o.X))
	for i, v := range o.X {
		x[i] = e.axes[i].unit(v)
	}
	r := row{x: e.model.point(x, o.Step), mean: o.Mean, variance: o.Variance, shots: o.Shots, set: o.ControlSet, step: o.Step}
	if o.Valid { // as the step was decided, before anything of it is learnt
		if err := e.try(o, &r); err != nil {
			return err
		}
	}
	e.seen = max(e.seen, o.Step)
	e.cash.charge(o.Cost)
	if o.ControlSet >= 0 && o.Step > e.counted {
		e.counted = o.Step
		if o.Step > e.spec.InitialSteps {
			e.rule.played(o.ControlSet)
		}
	}
	e.watch(o, x)
	e.poll(o, x)
	if o.Valid {
		e.accompany(&r)
		e.model.observe(r)
		for j, reading := range o.Constrained {
			e.constraints[j].observe(reading, r)
		}
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
	case !finite(o.Cost) || o.Cost < 0:
		return fail("cost %g must be finite and not negative", o.Cost)
	}
	for i, v := range o.X {
		if !finite(v) {
			return fail("variable %q is %g", e.spec.Variables[i].Name, v)
		}
	}
	if n := len(o.Constrained); n != 0 && n != len(e.constraints) {
		return fail("%d readings for %d constraints (NaN: no reading)", n, len(e.constraints))
	}
	for j, v := range o.Constrained {
		if math.IsInf(v, 0) {
			return fail("constraint %q reads %g, which must be finite, or NaN where there is no reading", e.constraints[j].Name, v)
		}
	}
	if !o.Valid {
		return nil
	}
	if known := e.model.known; known != nil {
		if why := known.refusal(o.X); why != "" {
			return fail("%s", why)
		}
	}
	switch {
	case !finite(o.Mean):
		return fail("mean %g", o.Mean)
	case o.Shots < 1:
		return fail("%d shots behind a valid mean", o.Shots)
	case o.Variance < 0 || math.IsInf(o.Variance, 0):
		return fail("variance %g must be finite and not negative, or NaN where it is unknown", o.Variance)
	}
	return nil
}

// watch learns what the random variables did.
func (e *engine) watch(o Observation, x []float64) {
	copy(e.around.last, x)
	reading, any := NaNs(len(x)), false
	for i := range x {
		controlled := o.ControlSet >= 0 && e.spec.ControlSets[o.ControlSet].Controlled[i]
		if !controlled && e.around.marginals[i].kind == Learnt {
			reading[i], any = x[i], true
		}
	}
	if any {
		e.around.read.add(reading)
	}
}

// poll counts the step for or against its setting. A failed step counts against
// the setting that was achieved and, where it differs, the one that was asked for:
// the device may not have moved at all.
func (e *engine) poll(o Observation, x []float64) {
	if o.ControlSet < 0 {
		return
	}
	d, v := e.domains[o.ControlSet], e.votes[o.ControlSet]
	at := make([]float64, d.size())
	d.project(at, x)
	v.add(at, o.Valid, o.Step)
	asked := o.Requested
	if asked == nil && e.last != nil && e.last.Step == o.Step && e.last.ControlSet == o.ControlSet {
		asked = e.last.X
	}
	if o.Valid || asked == nil {
		return
	}
	requested := make([]float64, d.size())
	for j, i := range d.coords {
		requested[j] = e.axes[i].unit(asked[i])
	}
	if !slices.ContainsFunc(requested, math.IsNaN) && squaredDistance(requested, at) > v.reach*v.reach/16 {
		v.add(requested, false, o.Step)
	}
}

func finite(v float64) bool { return math.Abs(v) <= math.MaxFloat64 }
