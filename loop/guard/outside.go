package guard

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
func (w *explainer) standsOutside(i int) bool {
	v, limits, e := &w.plan.Variables[i], &w.limits.Variables[i], w.readings.Variable(i)
	return v.Actuated && !v.Dose && v.Tolerance > 0 && e.Known &&
		(e.Value < limits.Low-v.Tolerance || e.Value > limits.High+v.Tolerance)
}

// outside says where an actuator stands outside its hard limits, and what a setpoint
// would do; "" where it stands inside.
func (w *explainer) outside(i int) string {
	if !w.standsOutside(i) {
		return ""
	}
	v, limits, at := &w.plan.Variables[i], &w.limits.Variables[i], w.readings.Variable(i).Value
	nearest := math.Min(math.Max(at, limits.Low), limits.High)
	return fmt.Sprintf(" stands at %s, outside its hard limits %.5g to %s: the first setpoint would be %s at once, which slew cannot shape",
		plan.InUnit(at, v.Unit), limits.Low, plan.InUnit(limits.High, v.Unit), plan.InUnit(nearest, v.Unit))
}

// foundOutside adds the actuators that may not be driven from where they stand: before the
// start those that boot = "read" takes over, later those that a device has come back with,
// which the layer keeps until a person acknowledges.
func (g *Guard) foundOutside(c *safety.Causes, t *Told) {
	for i := range g.plan.Variables {
		if (t.Before && g.plan.Variables[i].Boot == plan.RestHold || t.CameBack.Has(i)) && g.explain.standsOutside(i) {
			c.Add(safety.RuleOverride, i)
		}
	}
}

// tellOutside tells of those that a device has come back with.
func (g *Guard) tellOutside(t *Told) (said []Said) {
	for i := range g.plan.Variables {
		if !t.Before && t.CameBack.Has(i) && g.explain.standsOutside(i) {
			said = append(said, Said{"warn", journal.EventSafety, fmt.Sprintf("variable %s came back and%s; nothing is written until resume", g.plan.Variables[i].Name, g.explain.outside(i))})
		}
	}
	return said
}

// Outside says where an actuator stands outside its hard limits, and what a setpoint
// would do; "" where it stands inside.
func (g *Guard) Outside(i int) string { return g.explain.outside(i) }
