package configs

import (
	"fmt"

	"github.com/labtuner/tuner/configs/internal/schema"
)

// budgets doubts ends of a run that leave a part of the file without effect: a design that takes all steps, and control sets that
// no step can pay.
func (k *doubter) budgets() {
	stop := &k.cfg.Stop
	if stop.Steps != nil && len(k.cfg.Model.WarmStart) == 0 && k.cfg.Policy.Parts().Acquisition != acquireNone && *stop.Steps <= k.cfg.Policy.Initial.Steps {
		at, others := "stop.steps", "policy.initial.steps"
		if k.given(others) {
			at, others = others, at
		}
		k.bad(at, fmt.Sprintf("the run ends after %d steps, and the first %d are initial ones: the model decides none", *stop.Steps, k.cfg.Policy.Initial.Steps), "take fewer initial steps, or let the run be longer", others)
	}
	c := &k.cfg.Cost
	if stop.Cost == nil || c.Reading != "" { // costs that are read are a first guess in the file
		return
	}
	for i, s := range k.cfg.ControlSets {
		if cost := s.Cost + c.PerStep + c.PerShot*float64(k.cfg.Objective.Shots); cost > *stop.Cost {
			k.bad(schema.Item("control_set", i)+".cost", fmt.Sprintf("a step of this set costs %s, more than the whole run may (%s): it is never played", schema.FormatNumber(cost), schema.FormatNumber(*stop.Cost)), "let the run cost more, or leave the set out", "stop.cost")
		}
	}
}
