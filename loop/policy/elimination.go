package policy

import (
	"context"
	"math"

	"github.com/labtuner/tuner/gpcore"
)

// decider is the member of the priors that compete which decides a step that tries a
// setting (in the users' units): the one whose option of that control set is greatest
// there.
func (e *engine) decider(options []option, set int, user []float64) int {
	dom := e.domains[set]
	x := make([]float64, dom.size())
	for j, i := range dom.coords {
		x[j] = e.axes[i].unit(user[i])
	}
	best, member := math.Inf(-1), -1
	for _, o := range options {
		if o.set != set {
			continue
		}
		if p, ok := o.objective.(gpcore.Preparer); ok {
			p.Prepare()
		}
		var v [1]float64
		o.objective.Values(v[:], x)
		if value := o.leaves(e.model.inForce, v[0]); value > best {
			best, member = value, o.view[0].member
		}
	}
	return member
}

// priorOf is the prior that decided a step with an option's setting, in the users' units:
// a position in Model.Priors, -1 where there is none.
func (e *engine) priorOf(step int, options []option, o *option, setting []float64) int {
	if !e.model.deciding() || len(o.view) != 1 {
		return -1
	}
	member := o.view[0].member
	if e.model.eliminates() {
		member = e.decider(options, o.set, setting)
		e.model.proposedBy(step, member)
	}
	return e.model.priorOf(member)
}

// test puts the prior that decided a step to the test, before the observation r of it is
// learnt.
func (e *engine) test(o Observation, r *row) error {
	if !e.model.eliminates() || o.ControlSet < 0 || o.Step <= e.spec.InitialSteps || e.designOnly || o.Step < e.model.lastTested() {
		return nil
	}
	if err := e.model.refresh(); err != nil {
		return err
	}
	member, known := e.model.deciderOf(o.Step)
	if !known {
		if !e.ready() {
			return nil
		}
		var err error
		if member, err = e.redecide(o); err != nil {
			return err
		}
		e.model.decidedBy(o.Step, member)
	}
	e.model.test(member, o.Step, r)
	return nil
}

// redecide finds out who decided the step of an observation that this process did not
// propose.
func (e *engine) redecide(o Observation) (member int, err error) {
	x := o.Requested
	for _, i := range e.domains[o.ControlSet].coords {
		if x == nil || math.IsNaN(x[i]) {
			x = o.X
			break
		}
	}
	if err := e.refresh(); err != nil {
		return -1, err
	}
	d, err := e.decision(context.Background(), o.Step, e.fitting())
	if err != nil {
		return -1, err
	}
	options, err := e.options(d)
	if err != nil {
		return -1, err
	}
	return e.decider(options, o.ControlSet, x), nil
}
