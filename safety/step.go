package safety

import "time"

// State is what the layer remembers between ticks. The zero State knows nothing
// and is in Init; Boot makes one that remembers latches and doses.
type State struct {
	Mode Mode
	// Since is when the mode was entered.
	Since time.Duration
	// Last is the time of the last Step, meaningful if Ticked.
	Last   time.Duration
	Ticked bool
	// Ending says that the actuators go to their shutdown states, not to their
	// fault states.
	Ending bool
	// Paused says that a person holds the run; Faulted that a fault has held it
	// since FaultedAt.
	Paused, Faulted bool
	FaultedAt       time.Duration
	// Latched causes stay until they are cleared; FirstOut came first.
	Latched, FirstOut Causes
	// Generation counts changes of what must be durable: latches and doses.
	Generation uint64
	Variable   [MaxVariables]VariableState
	Sensor     [MaxSensors]SensorState
	Response   [MaxResponses]ResponseState
	Dose       [MaxDoses]DoseState
	Duty       [MaxDuties]DutyState
	// raised are causes that the pipeline found; they count from the next tick.
	raised Causes
	// inherited are the latches that this process began with.
	inherited Causes
}

// Step passes one tick through the rules. l has passed Check. now is the time by a
// monotonic clock; a now that does not grow counts as no time.
//
// Every setpoint is finite and inside the hard bounds. Outside Tripped and Stopped
// it differs from the one before, or from the value at which the actuator was
// taken over, by at most slew times the time between them, of which every tick
// counts as at most two ticks, and one step of the resolution. An actuator that
// stands outside its hard bounds is brought to the nearest one. Nothing is written
// in Init, Idle and Armed; in Tripped and Stopped nothing but safe values.
func Step(l *Limits, s State, in *Inputs, p *Proposal, now time.Duration) (State, Output) {
	out := s.Advance(l, in, p, now)
	return s, out
}

// Advance is Step on a State in place: it saves the copies of what is not in use.
func (s *State) Advance(l *Limits, in *Inputs, p *Proposal, now time.Duration) (out Output) {
	x := pass{l: l, s: s, in: in, p: p, out: &out, now: now}
	if s.Ticked {
		x.gap = max(now-s.Last, 0)
		x.dt = min(x.gap, 2*l.Tick)
	}
	s.Last, s.Ticked = now, true
	x.detect()
	out.Bypassed = l.bypass(&out.Active, now)
	x.transit()
	for i := range l.Variables {
		x.actuate(i)
	}
	out.Mode = s.Mode
	return out
}

// detect lists the causes that hold now.
func (x *pass) detect() {
	active := &x.out.Active
	*active = x.in.Faults
	x.unmet(x.l.Interlocks, RuleInterlock, active)
	x.watchSensors(active)
	x.watchLinks(active)
	for i := range x.l.Variables {
		x.rememberConfirmed(i)
		x.noteOutcome(i)
	}
	if x.s.Mode == Run || x.s.Mode == Hold {
		for i := range x.l.Variables {
			x.watchActuator(i)
		}
		for i := range x.l.Responses {
			x.watchResponse(i)
		}
	}
	for k := range x.l.Duties {
		x.watchDuty(k, active)
	}
	for i := range x.l.Doses {
		x.watchDose(i)
	}
	active.Join(&x.s.raised)
	x.s.raised = Causes{}
}

// actuate decides what is sent to one variable in this tick.
func (x *pass) actuate(i int) {
	limits := &x.l.Variables[i]
	if limits.OnFault == RestNone {
		return
	}
	rest := x.restOf(limits)
	switch x.s.Mode {
	case Run:
		x.propose(i)
	case Hold:
		x.hold(i)
	case Fallback:
		x.fallBack(i, rest)
	case Tripped, Stopped:
		if x.s.Generation <= x.in.Durable || x.now-x.s.Since >= x.l.DurableWait {
			x.halt(i, rest)
		}
	default:
		x.s.Variable[i].forget()
	}
}

// restOf is where an actuator goes that is taken away from the run.
func (x *pass) restOf(l *VariableLimits) Rest {
	switch {
	case x.s.MakesSafe() && l.OnStop != RestNone:
		return l.OnStop
	case x.s.Ending:
		return l.Shutdown
	}
	return l.OnFault
}

// MakesSafe says that a person has stopped the run: every actuator goes where OnStop says.
func (s *State) MakesSafe() bool { return s.Mode == Stopped && s.Latched.Has(RuleStop) }

// propose follows the proposal.
func (x *pass) propose(i int) {
	switch {
	case x.l.Variables[i].Dose:
		x.dose(i)
	case x.p.Drive[i]:
		dest := x.destination(i)
		x.drive(i, x.bound(i, dest))
	case x.p.Release[i]:
		x.release(i)
	default:
		x.s.Variable[i].forget()
	}
}

// hold holds what the device has acknowledged: it is written again where there is
// a lease, and nothing else is. An actuator that someone else has moved is held
// where it is now; outside the hard bounds that cannot be written, and nothing is: a
// device with a lease then goes to its own safe state. Of a dose there is nothing to
// hold.
func (x *pass) hold(i int) {
	if x.l.Variables[i].Dose {
		x.reportDose(i)
		return
	}
	v, in := &x.s.Variable[i], &x.in.Variable[i]
	if in.Lost {
		v.Known = false
	}
	current := in.Written
	switch {
	case v.Known && v.Resend: // where it was taken over from a hand
		current.Value = v.Setpoint
	case v.Known: // a setpoint that has not left is not said any more
	case v.Overridden || x.displaced(i):
		current = in.Readback
	}
	l := &x.l.Variables[i]
	if !in.CanWrite || !in.Written.finite() || !current.finite() || !x.leaseDue(i) ||
		!within(current.Value, clamp(current.Value, l.Low, l.High), l.Tolerance) {
		return
	}
	set := clamp(current.Value, l.Low, l.High)
	if set != v.Setpoint {
		v.Ramp = set
	}
	x.issue(i, set)
}

// fallBack brings a variable to its rest state under slew.
func (x *pass) fallBack(i int, rest Rest) {
	switch rest {
	case RestSafe:
		if x.safeUnconfirmed(i) {
			x.s.Variable[i].Resend = true
		}
		x.drive(i, x.l.Variables[i].Safe)
	case RestOff:
		x.release(i)
	default:
		if dest, yes := x.tooHigh(i); yes {
			x.lower(i, dest)
		} else {
			x.hold(i)
		}
	}
}

// halt brings a variable to its rest state at once. One that is to stay where it is, and may, is
// not written any more: a device with a lease then goes to its own safe state.
func (x *pass) halt(i int, rest Rest) {
	l := &x.l.Variables[i]
	switch rest {
	case RestSafe:
		x.out.Destination[i] = l.Safe
		left := !x.s.Variable[i].Changed && x.displaced(i) // while it was not driven
		reached := x.stands(i, l.Safe) && !left
		x.out.Arrived[i] = reached
		if x.reaches(i) && (!reached || x.leaseDue(i) || x.safeUnconfirmed(i)) {
			x.issue(i, l.Safe)
		}
	case RestOff:
		x.release(i)
	default:
		if dest, yes := x.tooHigh(i); yes && x.reaches(i) && !x.stands(i, dest) {
			x.out.Destination[i] = dest
			x.issue(i, dest)
		}
	}
}
