package loop

import (
	"fmt"
	"math"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// An actuator that stands outside its hard limits cannot be taken over without a jump: no
// setpoint outside is ever written, so the first one is the nearest limit. What nobody has
// asked for does not happen: a run does not start, and one that finds it so when a device has
// come back is held, until a person says so.

// standsOutside reports whether what was read of an actuator lies outside its hard limits by
// more than its tolerance.
func (l *Loop) standsOutside(i int) bool {
	v, limits, e := &l.opt.Variables[i], &l.limits.Variables[i], l.instrument.Variable(i)
	return v.Actuated && !v.Dose && v.Tolerance > 0 && e.Known &&
		(e.Value < limits.Low-v.Tolerance || e.Value > limits.High+v.Tolerance)
}

// foundOutside adds the actuators that may not be driven from where they stand: before the
// start those that boot = "read" takes over, later those that a device has come back with.
func (l *Loop) foundOutside(c *safety.Causes) {
	for i := range l.opt.Variables {
		before := l.phase == booting || l.phase == idling
		if (before && l.opt.Variables[i].Boot == plan.RestHold || l.instrument.CameBack()&(1<<i) != 0) && l.standsOutside(i) {
			c.Add(safety.RuleOverride, i)
			if !before {
				l.event("warn", journal.EventSafety, fmt.Sprintf("variable %s came back and%s; nothing is written until resume", l.opt.Variables[i].Name, l.outsideWords(i)))
			}
		}
	}
}

// outsideWords says where an actuator stands outside its hard limits, and what a setpoint
// would do; "" where it stands inside.
func (l *Loop) outsideWords(i int) string {
	if !l.standsOutside(i) {
		return ""
	}
	v, limits, at := &l.opt.Variables[i], &l.limits.Variables[i], l.instrument.Variable(i).Value
	nearest := math.Min(math.Max(at, limits.Low), limits.High)
	return fmt.Sprintf(" stands at %s, outside its hard limits %.5g to %s: the first setpoint would be %s at once, which slew cannot shape",
		plan.InUnit(at, v.Unit), limits.Low, plan.InUnit(limits.High, v.Unit), plan.InUnit(nearest, v.Unit))
}
