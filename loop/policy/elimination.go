package policy

import (
	"context"
	"math"

	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/loop/policy/acquisition"
	"github.com/labtuner/tuner/loop/policy/model"
)

// decider is the member of the priors that compete which decides a step that tries a
// setting (in the users' units): the one whose option of that control set is greatest
// there.
func (e *engine) decider(options []acquisition.Option, set int, user []float64) int {
	dom := e.domains[set]
	x, v := e.memory.Floats(dom.Size()), e.memory.Floats(1)
	for j, i := range dom.Coords {
		x[j] = e.axes[i].Unit(user[i])
	}
	best, member := math.Inf(-1), -1
	for _, o := range options {
		if o.Set != set {
			continue
		}
		if p, ok := o.Objective.(search.Preparer); ok {
			p.Prepare()
		}
		o.Objective.Values(v, x)
		if value := o.InUserUnits(e.model.Active, v[0]); value > best {
			best, member = value, o.View[0].Member
		}
	}
	return member
}

// priorOf is the prior that decided a step with an option's setting, in the users' units:
// a position in Model.Priors, -1 where there is none.
func (e *engine) priorOf(step int, options []acquisition.Option, o *acquisition.Option, setting []float64) int {
	if !e.model.Deciding() || len(o.View) != 1 {
		return -1
	}
	member := o.View[0].Member
	if e.model.Eliminates() {
		member = e.decider(options, o.Set, setting)
		e.model.SetProposer(step, member)
	}
	return e.model.PriorOf(member)
}

// testPrior puts the prior that decided a step to the test, before the observation r of it is
// learnt.
func (e *engine) testPrior(o Observation, r *model.Row) error {
	if !e.model.Eliminates() || o.ControlSet < 0 || o.Step <= e.spec.InitialSteps || e.designOnly || o.Step < e.model.LastTested() {
		return nil
	}
	if err := e.model.Refresh(); err != nil {
		return err
	}
	member, known := e.model.DeciderOf(o.Step)
	if !known {
		if !e.ready() {
			return nil
		}
		var err error
		if member, err = e.rederiveDecider(o); err != nil {
			return err
		}
		e.model.SetDecider(o.Step, member)
	}
	e.model.Test(member, o.Step, r)
	return nil
}

// rederiveDecider finds out who decided the step of an observation that this process did not
// propose.
func (e *engine) rederiveDecider(o Observation) (member int, err error) {
	x := o.Requested
	for _, i := range e.domains[o.ControlSet].Coords {
		if x == nil || math.IsNaN(x[i]) {
			x = o.X
			break
		}
	}
	if err := e.refresh(); err != nil {
		return -1, err
	}
	d, err := e.decision(context.Background(), o.Step, e.affordableSets())
	if err != nil {
		return -1, err
	}
	d.Kept = new(acquisition.Kept) // the next decision searches as if nobody had looked back
	options, err := e.options(d)
	if err != nil {
		return -1, err
	}
	return e.decider(options, o.ControlSet, x), nil
}
