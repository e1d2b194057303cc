package loop

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/labtuner/tuner/safety"
)

// limitsOf gathers what the safety layer keeps to.
func limitsOf(o *Options, start time.Time) (safety.Limits, error) {
	s := &o.Safety
	l := safety.Limits{Tick: o.Tick, HoldMax: s.HoldMax, Comms: s.Comms, StaleFalls: s.StaleFalls, DurableWait: max(2*o.Tick, durableWait),
		Interlocks: s.Interlocks, Permissives: s.Permissives, Responses: s.Responses, Doses: s.Doses, Duties: s.Duties,
		Links: make([]safety.LinkLimits, o.links())}
	for i := range o.Variables {
		v := &o.Variables[i]
		limits := v.Limits
		limits.Stepped, limits.Tolerance, limits.Timeout = v.Stepped, v.Tolerance, cmp.Or(v.Timeout, moveTimeout)
		limits.Dose = v.Dose
		if v.Actuated {
			limits.OnFault, limits.Shutdown = restOf[v.OnFault], restOf[v.Shutdown]
			l.Links[v.Channel.Device].Watched = l.Links[v.Channel.Device].Watched || v.Tolerance > 0
		}
		l.Variables = append(l.Variables, limits)
	}
	for _, d := range s.Doses {
		if d.Variable >= 0 && d.Variable < len(o.Variables) && o.Variables[d.Variable].Actuated {
			l.Links[o.Variables[d.Variable].Channel.Device].Doses = true
		}
	}
	for i := range o.Sensors {
		v := &o.Sensors[i]
		limits := v.Limits
		// Three ticks at least: a reading that comes every tick may be late, or missing
		// once.
		limits.Low, limits.High, limits.MaxAge = v.Low, v.High, max(v.MaxAge, 3*o.Tick)
		limits.Watched = Watched(o, i)
		l.Sensors = append(l.Sensors, limits)
	}
	for _, b := range s.Bypasses {
		l.Bypasses = append(l.Bypasses, safety.Bypass{Rule: b.Rule, Until: min(b.Until.Sub(start), BypassMax)})
	}
	return l, l.Check()
}

// Watched says that silence of a sensor holds the run: the objective's own are waited
// for instead.
func Watched(o *Options, sensor int) bool { return !slices.Contains(o.Objective.Uses, sensor) }

const (
	// BypassMax bounds a bypass from the start of a process on. Not longer: a shift ends, and with it who knew why.
	BypassMax = 4 * time.Hour
	// durableWait is how long a trip's output waits for its latch to be durable. Not
	// shorter: an SD card takes 100 ms to sync. Not longer: it is part of the time
	// from a fault to safety.
	durableWait = 200 * time.Millisecond
)

// restOf turns the loop's words into the safety layer's.
var restOf = map[RestState]safety.Rest{RestHold: safety.RestHold, RestSafe: safety.RestSafe, RestOff: safety.RestOff}

// links is how many devices the variables and sensors refer to.
func (o *Options) links() int {
	n := 0
	for i := range o.Variables {
		n = max(n, o.Variables[i].Channel.Device+1)
	}
	for i := range o.Sensors {
		n = max(n, o.Sensors[i].Channel.Device+1)
	}
	return n
}

// guarded says that a rule of the safety layer needs a sensor at all times.
func (o *Options) guarded(sensor int) bool {
	is := func(c safety.Condition) bool { return c.Sensor == sensor }
	if slices.ContainsFunc(o.Safety.Interlocks, is) || slices.ContainsFunc(o.Safety.Permissives, is) ||
		slices.ContainsFunc(o.Safety.Responses, func(r safety.ResponseLimits) bool { return r.Sensor == sensor }) {
		return true
	}
	return slices.ContainsFunc(o.Sensors, func(s Sensor) bool { return s.Limits.Tolerance > 0 && s.Limits.With == sensor }) ||
		o.Sensors[sensor].Limits.Tolerance > 0
}

// safeTime is a time by the safety layer's clock, which goes on over restarts.
// It is rounded down to what the tape keeps: nothing grows younger by it.
func (l *Loop) safeTime(t time.Time) time.Duration { return inTapeTime(l.base + t.Sub(l.start)) }

// guard passes one tick through the safety layer and writes what comes out. Nothing
// reaches an actuator except from here.
func (l *Loop) guard(now time.Time, command safety.Command) {
	if l.opt.Mode == Shadow {
		return
	}
	in, p := l.inputs(now, command), l.proposal()
	generation, mode := l.safety.Generation, l.safety.Mode
	v := verdict{now: l.safeTime(now), in: in, p: p}
	v.out = l.safety.Advance(&l.limits, &v.in, &v.p, v.now)
	out := v.out
	l.out, l.ruledAt = out, now
	if l.safety.Mode != mode {
		l.orders.Add(1)
	}
	if l.tape.tick(&v) {
		l.saveTape()
	}
	for i := range l.aims {
		a := &l.aims[i]
		// Until it has been read, nothing is known of it.
		a.lost, a.outcome = l.unread(i) && !l.opt.Variables[i].Dose, safety.DosePending
		if a.drive {
			a.arrived, a.failed = out.Arrived[i], out.Failed[i]
		}
	}
	if l.safety.Generation != generation {
		l.keep()
	}
	for d, k := range l.links {
		if k.ready() {
			if b := l.collect(d, &out); len(b.vars) > 0 {
				l.send(k, b)
			}
		}
	}
	l.giveAll(&out)
}

// inputs is what the safety layer is told in this tick.
func (l *Loop) inputs(now time.Time, command safety.Command) safety.Inputs {
	in := safety.Inputs{Command: command, Ready: l.actuatorsRead(), Faults: l.found(), Durable: l.durable}
	sample := func(e entry) safety.Sample {
		return safety.Sample{Value: e.value, At: l.safeTime(e.at), Known: e.known}
	}
	for i := range l.aims {
		a := &l.aims[i]
		in.Variable[i] = safety.VariableInput{Readback: sample(l.board.variables[i]), CanWrite: l.canWrite(i), Lost: a.lost, Silent: l.silent(i, now), Released: a.released,
			Written: l.writtenSample(a), Dose: a.outcome, Delivered: a.delivered}
	}
	for d, k := range l.links {
		if d < len(l.limits.Links) {
			in.Heard[d] = safety.Sample{At: l.safeTime(k.heard), Known: !k.heard.IsZero()}
			if k.dosing { // its line is taken until the dose is over, by the driver's own time
				in.Heard[d] = safety.Sample{At: l.safeTime(now), Known: true}
			}
		}
	}
	return in
}

// writtenSample is what the device acknowledged last. Its time is rounded up, so that no
// reading of the same millisecond counts as taken after it.
func (l *Loop) writtenSample(a *aim) safety.Sample {
	return safety.Sample{Value: a.written, At: l.safeTime(a.writtenAt.Add(tapeUnit - 1)), Known: !math.IsNaN(a.written)}
}

// found is what the loop itself holds against the run.
func (l *Loop) found() safety.Causes {
	c := l.faults
	l.foundOutside(&c)
	l.outOfOrder(&c)
	l.unrecordable(&c)
	return c
}

// silent says that the device of variable i is not heard of, or that what it was told
// last is.
func (l *Loop) silent(i int, now time.Time) bool {
	d := l.opt.Variables[i].Channel.Device
	if d < 0 || !l.opt.Outages.Wait {
		return false
	}
	k := l.links[d]
	return k.mend.out || k.mend.unread || now.Sub(k.heard) > hush
}

// proposal is what the aims ask of the safety layer.
func (l *Loop) proposal() safety.Proposal {
	p := safety.Proposal{ID: int64(l.steps) + 1}
	for i := range l.aims {
		a := &l.aims[i]
		p.Drive[i], p.Destination[i], p.Release[i], p.Dose[i] = a.drive, a.dest, a.release, a.dose
		if a.bad {
			p.Destination[i] = math.NaN() // the layer is to see what was asked for
		}
	}
	return p
}

// actuatorsRead says that every actuator with a readback has been read.
func (l *Loop) actuatorsRead() bool {
	for i := range l.opt.Variables {
		if v := &l.opt.Variables[i]; v.Actuated && v.Tolerance > 0 && !l.board.variables[i].known {
			return false
		}
	}
	return l.phase >= booting
}

// canWrite says that a setpoint of variable i can go out in this tick.
func (l *Loop) canWrite(i int) bool {
	d := l.opt.Variables[i].Channel.Device
	return d >= 0 && l.links[d].ready() && l.aims[i].refused == nil
}
