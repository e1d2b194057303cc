package loop

import (
	"math"
	"time"

	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/trace"
	"github.com/labtuner/tuner/safety"
)

// safeTime is a time by the safety layer's clock, which goes on over restarts.
// It is rounded down to what the tape keeps: nothing grows younger by it.
func (l *Loop) safeTime(t time.Time) time.Duration { return trace.Round(l.base + t.Sub(l.start)) }

// guard passes one tick through the safety layer and writes what comes out. Nothing
// reaches an actuator except from here.
func (l *Loop) guard(now time.Time, command safety.Command) {
	if l.opt.Mode == plan.Shadow {
		return
	}
	l.ownStall(now) // also before what a command brings between two ticks
	l.repeatRest(now)
	in, p := l.inputs(now, command), l.proposal()
	generation, mode := l.safety.Generation, l.safety.Mode
	v := trace.Tick{Now: l.safeTime(now), In: in, P: p}
	v.Out = l.safety.Advance(&l.limits, &v.In, &v.P, v.Now)
	out := v.Out
	l.out, l.ruledAt = out, now
	if l.safety.Mode != mode {
		l.orders.Add(1)
		l.overtakeAll(now)
	}
	if l.trace.Tick(&v) {
		l.saveTrace()
	}
	for i := range l.aims {
		a := &l.aims[i]
		// Until it has been read, nothing is known of it. A safe value does not wait for that.
		a.lost, a.outcome = l.unread(i) && !l.opt.Variables[i].Dose && !l.final(), safety.DosePending
		if a.drive {
			a.arrived, a.failed = out.Arrived[i], out.Failed[i]
		}
	}
	if l.safety.Generation != generation {
		l.keep()
	}
	for d, k := range l.links {
		if b := l.collect(d, &out); len(b.vars) > 0 {
			l.send(k, b)
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
		in.Variable[i] = safety.VariableInput{Readback: sample(l.board.variables[i]), CanWrite: l.canWrite(i), CanMakeSafe: l.canMakeSafe(i), Lost: a.lost, Silent: l.silent(i, now), Released: a.released,
			Written: l.writtenSample(a), Dose: a.outcome, Delivered: a.delivered}
	}
	for d, k := range l.links {
		if d < len(l.limits.Links) {
			in.Heard[d] = safety.Sample{At: l.safeTime(k.heard), Known: !k.heard.IsZero()}
			if k.flight != nil && k.flight.dose { // its line is taken until the dose is over, by the driver's own time
				in.Heard[d] = safety.Sample{At: l.safeTime(now), Known: true}
			}
		}
	}
	return in
}

// writtenSample is what the device acknowledged last. Its time is rounded up, so that no
// reading of the same millisecond counts as taken after it.
func (l *Loop) writtenSample(a *aim) safety.Sample {
	return safety.Sample{Value: a.written, At: l.safeTime(a.writtenAt.Add(trace.Unit - 1)), Known: !math.IsNaN(a.written)}
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
