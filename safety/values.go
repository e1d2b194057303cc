package safety

import (
	"math"
	"time"
)

// VariableState is what the layer remembers of one variable.
type VariableState struct {
	// Ramp is where the way has come to before quantisation, meaningful if Known.
	Ramp  float64
	Known bool
	// Setpoint is the last one given out, or what the actuator was taken over at;
	// Allowed is the time that slew has gained since then.
	Setpoint float64
	Allowed  time.Duration
	// IssuedAt is when something was last given out, ChangedAt when that was a new
	// value (if Changed).
	IssuedAt, ChangedAt time.Duration
	Changed             bool
	// MovedAt is when the device took the last change (if Moved; until it has answered,
	// when the change was given out), also of a variable that was let go since: the
	// device's dwell does not begin anew with who drives it. Answered says that it has, or that
	// there is nothing to answer: it had the value already.
	MovedAt         time.Duration
	Moved, Answered bool
	// Before is the setpoint before that change, meaningful if not Answered: what has not left
	// is no place to go on from.
	Before float64
	// Unsure says that the outcome of a write has not been known since LostAt: the device may
	// stand elsewhere than at what it has acknowledged before.
	LostAt time.Duration
	Unsure bool
	// Proposal is the last proposal seen, Rejected how many in a row were not finite.
	Proposal int64
	Rejected uint8
	// Confirmed says that the readback has shown the setpoint; Off that it has been
	// away since OffSince. Tries counts how often the setpoint was sent again,
	// Resend asks for it. Overridden says that someone else has moved the actuator.
	Confirmed, Off, Resend, Overridden bool
	OffSince, TriedAt                  time.Duration
	Tries                              uint8
	// LastConfirmed is the last value acknowledged by the device that the readback has shown since.
	LastConfirmed Sample
	// IsAbove says that the variable has been above its exposure's value since
	// AboveSince.
	IsAbove    bool
	AboveSince time.Duration
}

// forget begins anew with a variable that is not driven. What the device has done stays:
// when it was moved last, whether that is known, and since when it is above its exposure's value.
func (v *VariableState) forget() {
	*v = VariableState{Proposal: v.Proposal, Rejected: v.Rejected, LastConfirmed: v.LastConfirmed,
		MovedAt: v.MovedAt, Moved: v.Moved, Answered: v.Answered, Before: v.Before, LostAt: v.LostAt, Unsure: v.Unsure,
		IsAbove: v.IsAbove, AboveSince: v.AboveSince}
}

// rejectedMax is how many proposals in a row may be refused before the run is
// held. Not fewer: one bad value of a formula may pass. Not more: a policy that
// says nothing else is broken.
const rejectedMax = 3

// destination refuses a destination that is not finite, before any comparison: NaN passes
// every clamp that compares. The way so far stands in for it.
func (x *pass) destination(i int) float64 {
	v, dest := &x.s.Variable[i], x.p.Destination[i]
	x.takeOver(i)
	if finite(dest) {
		v.Proposal, v.Rejected = x.p.ID, 0
		return dest
	}
	x.reject(i)
	return v.Ramp
}

// reject counts a proposal that is not finite.
func (x *pass) reject(i int) {
	v := &x.s.Variable[i]
	x.out.Reasons[i].add(RuleFinite)
	if v.Rejected == 0 || v.Proposal != x.p.ID {
		v.Proposal, v.Rejected = x.p.ID, min(v.Rejected+1, rejectedMax)
		if v.Rejected == rejectedMax {
			x.s.raised.Add(RuleFinite, i)
		}
	}
}

// bound clamps a destination.
func (x *pass) bound(i int, dest float64) float64 {
	l := &x.l.Variables[i]
	c := clamp(dest, l.Low, l.High)
	if c != dest {
		x.out.Reasons[i].add(RuleBounds)
	}
	return c
}

// takeOver begins to drive a variable from where it is: what the device has
// acknowledged, unless the readback shows that it has left that place, else what was
// read. Where nothing is known, the safe value stands in, because it cannot be
// approached gradually.
func (x *pass) takeOver(i int) {
	v, l, in := &x.s.Variable[i], &x.l.Variables[i], &x.in.Variable[i]
	if in.Lost {
		v.Known = false
		x.ungrant(i)
	}
	if v.Known {
		return
	}
	from, moved := l.Safe, v.Overridden || x.displaced(i)
	switch {
	case moved && in.Readback.finite():
		from = in.Readback.Value
	case in.Written.finite():
		from = in.Written.Value
	case in.Readback.finite():
		from = in.Readback.Value
	default:
		x.out.Reasons[i].add(RuleStart)
	}
	changed, at := v.Changed, v.ChangedAt
	v.forget()
	v.Changed, v.ChangedAt = changed, at
	v.Resend = moved // what the device has acknowledged is not where it is
	v.Ramp = clamp(from, l.Low, l.High)
	v.Known, v.Setpoint = true, v.Ramp
}

// displaced reports whether an actuator has left the place that its device acknowledged:
// the readback had shown it there, and one that is later than the last acknowledgement by
// the time it may take shows another. A readback that never showed the place is no
// witness: it may be stuck, and to begin where it is may be a jump. It is looked at
// where the actuator was not watched meanwhile.
func (x *pass) displaced(i int) bool {
	l, in, stood := &x.l.Variables[i], &x.in.Variable[i], x.s.Variable[i].LastConfirmed
	return l.Tolerance > 0 && in.Written.finite() && in.Readback.finite() && stood.Known && stood.Value == in.Written.Value &&
		in.Readback.At-in.Written.At > l.Timeout && !within(in.Readback.Value, in.Written.Value, l.Tolerance)
}

// drive goes on towards a destination inside the bounds.
func (x *pass) drive(i int, dest float64) {
	v, l, in := &x.s.Variable[i], &x.l.Variables[i], &x.in.Variable[i]
	x.takeOver(i)
	x.out.Destination[i] = dest
	if !in.CanWrite {
		return // the way goes on from what was written, not from what would have been
	}
	v.Allowed = min(v.Allowed+x.dt, math.MaxInt64/2)
	ramp := l.slew(v.Ramp, dest, x.dt)
	set := dest
	if ramp != dest {
		x.out.Reasons[i].add(RuleSlew)
		set = l.quantise(ramp)
		if set != ramp {
			x.out.Reasons[i].add(RuleResolution)
		}
	}
	if !x.granted(i, dest) {
		x.out.Reasons[i].add(RuleBudget)
		return
	}
	v.Ramp = ramp
	current := x.stands(i, set)
	x.out.Arrived[i] = ramp == dest && current
	switch {
	case !current && v.Moved && x.now-v.MovedAt < l.Dwell:
		x.out.Reasons[i].add(RuleDwell)
		x.refresh(i)
	case !current && l.Stepped && ramp != dest:
		x.refresh(i)
	case !current || v.Resend:
		if x.assertSetpoint(i, set) {
			x.issue(i, set)
		}
	default:
		if ramp == dest {
			v.Allowed = 0 // time spent standing is none to move in
		}
		x.refresh(i)
	}
}

// assertSetpoint is the final assert: what the rules above should have made impossible is
// looked at once more, and never written.
func (x *pass) assertSetpoint(i int, set float64) bool {
	l, v := &x.l.Variables[i], &x.s.Variable[i]
	reach := v.Allowed.Seconds()
	// One step of the grid, and what sums of many small steps may round by.
	slack := l.Resolution + 1e-9*max(math.Abs(l.Low), math.Abs(l.High))
	if finite(set) && set >= l.Low && set <= l.High &&
		set <= v.Setpoint+l.SlewUp*reach+slack && set >= v.Setpoint-l.SlewDown*reach-slack {
		return true
	}
	x.out.Reasons[i].add(RuleAssert)
	x.s.raised.Add(RuleAssert, i)
	return false
}

// leaseDue reports whether a setpoint in force must be written again now, so
// that the next tick is not later than a third of the lease.
func (x *pass) leaseDue(i int) bool {
	l := &x.l.Variables[i]
	return l.Lease > 0 && x.now-x.s.Variable[i].IssuedAt >= l.Lease/3-x.l.Tick
}

// refresh writes the setpoint in force again where its lease needs it: what the device has
// acknowledged, or where it was taken over from a hand.
func (x *pass) refresh(i int) {
	if x.in.Variable[i].Written.finite() && x.leaseDue(i) {
		x.issue(i, x.s.Variable[i].Setpoint)
		x.out.Reasons[i].add(RuleLease)
	}
}

// Clamp returns the destination that Step would make of x, and the rules that
// changed it. It lets a caller record what a proposal becomes before the way there
// begins. A destination that is not finite becomes fallback; a dose that is not is
// none, whatever the fallback.
func (l *VariableLimits) Clamp(x, fallback float64) (float64, Reasons) {
	if l.Dose {
		return l.clampDose(x)
	}
	var r Reasons
	if !finite(x) {
		x = fallback
		r.add(RuleFinite)
	}
	c := clamp(x, l.Low, l.High)
	if c != x {
		r.add(RuleBounds)
	}
	return c, r
}

// slew is where the way comes to in dt.
func (l *VariableLimits) slew(from, dest float64, dt time.Duration) float64 {
	return clamp(dest, from-l.SlewDown*dt.Seconds(), from+l.SlewUp*dt.Seconds())
}

// quantise rounds a setpoint on the way to the device's grid, towards the safe
// value, where the grid has a point inside the hard bounds.
func (l *VariableLimits) quantise(v float64) float64 {
	if l.Resolution <= 0 {
		return v
	}
	steps := v / l.Resolution
	if v > l.Safe {
		steps = math.Floor(steps)
	} else {
		steps = math.Ceil(steps)
	}
	if q := steps * l.Resolution; q >= l.Low && q <= l.High {
		return q
	}
	return v
}

// clampDose makes of an amount one that may be given: inside the bounds, and a multiple of
// the resolution that is not above it. What is not finite is nothing.
func (l *VariableLimits) clampDose(amount float64) (float64, Reasons) {
	var r Reasons
	if !finite(amount) {
		r.add(RuleFinite)
		return 0, r
	}
	c := clamp(amount, 0, l.High)
	if c != amount {
		r.add(RuleBounds)
	}
	if l.Resolution <= 0 {
		return c, r
	}
	// The slack is for amounts that are multiples but for their rounding.
	steps := math.Floor(c/l.Resolution + 1e-9)
	if q := min(steps*l.Resolution, c); c-q > 1e-9*l.Resolution {
		r.add(RuleResolution)
		c = q
	}
	return c, r
}
