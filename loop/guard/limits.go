package guard

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// bounds are what is kept to: the safety layer's limits, and what decisions may ask of the
// variables, by the plan, which had other ranges when the process began.
type bounds struct {
	plan   *plan.Options
	limits safety.Limits
	began  [][2]float64
}

// Bounds are what decisions about a variable keep to: the hard bounds, and a range
// that was changed since the process began.
func (b *bounds) Bounds(i int) safety.VariableLimits {
	if r := b.Range(i); i < len(b.began) && r != b.began[i] {
		return plan.Within(&b.limits.Variables[i], r)
	}
	return b.limits.Variables[i]
}

// Range is what decisions may ask of a variable.
func (b *bounds) Range(i int) [2]float64 {
	return [2]float64{b.plan.Variables[i].Low, b.plan.Variables[i].High}
}

// Destination is a destination of variable i as the safety layer clamps it.
func (b *bounds) Destination(i int, x float64) float64 {
	x, _ = b.limits.Variables[i].Clamp(x, x)
	return x
}

// WayTime is how long a variable may take to arrive.
func (b *bounds) WayTime(i int) time.Duration {
	v := &b.plan.Variables[i]
	return cmp.Or(v.Timeout, plan.MoveTimeout) + v.Limits.Dwell + b.doseWait(i) + b.rampTime(i)
}

// rampTime is how long the whole hard range takes at the slower slew, twice over
// because ticks may be late.
func (b *bounds) rampTime(i int) time.Duration {
	v := &b.limits.Variables[i]
	slew := min(v.SlewUp, v.SlewDown)
	if slew <= 0 {
		return 0
	}
	seconds := 2 * (v.High - v.Low) / slew
	return time.Duration(min(seconds, math.MaxInt64/float64(2*time.Second)) * float64(time.Second))
}

// doseWait is how long a dose may have to wait: for the interval since the one before,
// and for that one to show.
func (b *bounds) doseWait(i int) (wait time.Duration) {
	if k := b.budgetOf(i); k >= 0 {
		wait = b.limits.Doses[k].MinInterval
	}
	if !b.plan.Variables[i].Dose {
		return wait
	}
	for _, r := range b.limits.Responses {
		if r.Variable == i {
			wait = max(wait, r.Within)
		}
	}
	return wait
}

// budgetOf is the index of a variable's budget.
func (b *bounds) budgetOf(i int) int {
	return slices.IndexFunc(b.limits.Doses, func(d safety.DoseLimits) bool { return d.Variable == i })
}

// Dose is what the safety layer knows of the last dose of variable i, which is one of doses.
func (g *Guard) Dose(i int) safety.DoseState { return g.state.Dose[g.budgetOf(i)] }

// LetEnd lets the doses of a variable end whose device cannot stop them.
func (g *Guard) LetEnd(i int) {
	letEnd(&g.limits.Variables[i])
}

func letEnd(l *safety.VariableLimits) {
	l.OnFault, l.Shutdown, l.OnStop = safety.RestHold, safety.RestHold, safety.RestHold
}

// Doses are the budgets as they stand.
func (g *Guard) Doses() []control.DoseStatus {
	out := []control.DoseStatus{}
	for k, d := range g.limits.Doses {
		v, state := &g.plan.Variables[d.Variable], &g.state.Dose[k]
		limit := journal.Number(d.Run)
		if d.Run <= 0 {
			limit = journal.Number(math.Inf(1))
		}
		out = append(out, control.DoseStatus{Variable: v.Name, Unit: v.Unit, Total: journal.Number(state.Total), Limit: limit, Unknown: state.Unknown})
	}
	return out
}

// Stand is where an actuator stands and where it is wanted, of those of the two that are
// known.
type Stand struct {
	Written, Wanted float64
	Driven          bool
}

// Narrow goes on by the limits of next if they are inside the present ones, and if no
// actuator would have to jump to keep them. endsByItself says of a variable whether its doses end
// by themselves. Else nothing is changed, and the error wraps plan.ErrNotNarrower or
// safety.ErrLimits.
func (g *Guard) Narrow(next *plan.Options, endsByItself func(i int) bool, at func(i int) Stand) error {
	limits, err := plan.SafetyLimits(next, g.opt.Start.Round(0))
	if err != nil {
		return err
	}
	for i := range limits.Bypasses {
		limits.Bypasses[i].Until += g.base
	}
	for i := range limits.Variables {
		if endsByItself(i) {
			letEnd(&limits.Variables[i])
		}
	}
	if err := limits.Within(&g.limits); err != nil {
		return err
	}
	for i := range limits.Variables {
		if err := standsInside(g, i, &limits.Variables[i], at(i)); err != nil {
			return err
		}
	}
	g.limits = limits
	return nil
}

// standsInside refuses a bound that an actuator could keep only by a jump: where it
// stands, and where it is going, must lie inside.
func standsInside(g *Guard, i int, limits *safety.VariableLimits, s Stand) error {
	at, v := []float64{s.Written}, &g.state.Variable[i]
	if s.Driven {
		at = append(at, s.Wanted)
	}
	if v.Known {
		at = append(at, v.Ramp, v.Setpoint)
	}
	for _, x := range at {
		if x < limits.Low || x > limits.High {
			return fmt.Errorf("%w: variable %q is at or on its way to %g, outside [%g, %g]: narrow its range first, and its hard limits when a step has brought it inside",
				plan.ErrNotNarrower, g.plan.Variables[i].Name, x, limits.Low, limits.High)
		}
	}
	return nil
}

// LimitsNow is what decisions keep to now, for the record.
func (g *Guard) LimitsNow() plan.Narrowed {
	ranges := make([][2]float64, len(g.plan.Variables))
	for i := range ranges {
		ranges[i] = g.Range(i)
	}
	return plan.Narrowed{Ranges: ranges, Limits: g.limits}
}
