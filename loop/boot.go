package loop

import (
	"fmt"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/instrument"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// opened compares the devices with the options once all of them are open.
func (l *Loop) opened(o instrument.Opened) {
	switch {
	case o.Err != nil:
		l.fail(fmt.Errorf("%w: open device %q: %w", ErrInstrument, o.Device, o.Err))
	case l.phase != opening || !o.All:
	default:
		if err := l.instrument.Check(); err != nil {
			l.fail(fmt.Errorf("%w: %w", ErrInstrument, err))
			return
		}
		l.letDosesEnd()
		l.enter(booting)
	}
}

// bootTimeout bounds the first reading of the actuators beyond a variable's own
// readback timeout: a broker may have to be reached, a child may be slow at
// first.
const bootTimeout = 10 * time.Second

// boot waits until every actuator with a readback has been read, because nothing is
// driven before it is known where it stands; then arms and starts, if every
// interlock and permissive is healthy.
func (l *Loop) boot(now time.Time) {
	if i := l.instrument.Unread(); i >= 0 {
		v := &l.opt.Variables[i]
		if limit := max(v.Timeout, bootTimeout); now.Sub(l.since) > limit {
			l.fail(fmt.Errorf("%w: variable %q gave no reading within %v%s; nothing was driven", ErrInstrument, v.Name, limit, l.instrument.Odd(i)))
		}
		return
	}
	switch {
	case l.opt.Mode == plan.Shadow:
		l.booted()
		return
	case l.guard.Waits() != "":
		l.idle(now)
		return
	}
	for _, c := range []safety.Command{safety.CommandNone, safety.CommandArm, safety.CommandStart} {
		l.pass(now, c)
	}
	switch {
	case l.guard.Mode() == safety.Run:
		l.guard.Quiet()
		l.booted()
	case l.guard.Mode() >= safety.Tripped, now.Sub(l.since) > l.patience():
		l.endRefused()
	}
}

// patience is how long a start waits to be permitted: a sensor that is silent may
// still come, one that says no is believed after a second.
func (l *Loop) patience() time.Duration {
	for i, s := range l.opt.Sensors {
		if !l.instrument.Sensor(i).Known && (l.opt.Guarded(i) || plan.Watched(&l.opt, i)) && s.Channel.Device >= 0 {
			return bootTimeout
		}
	}
	return time.Second
}

// endRefused ends a run that may not start.
func (l *Loop) endRefused() {
	l.ending.err = fmt.Errorf("%w: refused to start, nothing was driven: %s", ErrSafety, l.guard.Refused())
	if l.guard.Mode() == safety.Stopped {
		l.ending.err = fmt.Errorf("%w: stopped before the start", ErrSafety)
	}
	l.ending.reason = control.ReasonSafety
	l.event("error", journal.EventSafety, l.ending.err.Error())
	if l.guard.MakesSafe() {
		l.ending.rest(l.restWhenTaken)
		return
	}
	l.ending.rest(func(v *plan.Variable) plan.RestState { return plan.RestHold })
}

// booted applies the declared boot states and begins the first step.
func (l *Loop) booted() {
	l.stepper.startedAt = l.instrument.StartSetting()
	switch ok := l.advisor.WantsStart(); {
	case l.deps.Past != nil && l.deps.Past.Start != nil:
		l.stepper.startedAt = l.deps.Past.Start
	case l.deps.Past == nil && (ok || l.opt.Verify.Pairs > 0):
		l.eventWith(journal.Facts{Start: journal.Numbers(l.stepper.startedAt)}, "info", journal.EventStart, "the starting setting")
		l.advisor.SetStart(l.stepper.startedAt)
	}
	l.guard.Knows(l.instrument.StartSetting())
	// What the sessions before drove is this one's to bring to rest, also if it writes
	// nothing more: the process that drove it may have been killed.
	if l.opt.Mode != plan.Shadow && l.deps.Past != nil && l.deps.Past.Steps > 0 {
		l.instrument.Driven()
	}
	if l.opt.Mode != plan.Shadow {
		for i := range l.opt.Variables {
			v := &l.opt.Variables[i]
			if !v.Actuated {
				continue
			}
			switch v.Boot {
			case plan.RestSafe:
				if outside := l.guard.Outside(i); outside != "" {
					l.event("warn", journal.EventSafety, fmt.Sprintf("variable %s%s", v.Name, outside))
				}
				l.instrument.Aim(i, v.Limits.Safe, false)
			case plan.RestOff:
				l.instrument.LetGo(i)
			}
		}
	}
	l.stepper.next()
}

// pollAll asks every device for what the present phase needs.
func (l *Loop) pollAll() {
	if l.phase < booting || l.phase >= closing {
		return
	}
	l.instrument.Poll(l.phase == measuring && l.stepper.step.shots.Due(l.now()) || l.outages.outage.on && l.outages.outage.silent)
}

// idle waits for a resume: actuators and sensors are read, and nothing is written.
func (l *Loop) idle(now time.Time) {
	l.pass(now, safety.CommandNone)
	l.guard.Quiet()
	l.enter(idling)
	l.event("warn", journal.EventSafety, "waiting: "+l.guard.Waits())
}

// begun ends the wait.
func (l *Loop) begun(now time.Time) {
	l.waited = now.Sub(l.since)
	l.event("info", journal.EventSafety, "resumed: the run begins")
	// Before the first decision: a process that is killed after that has told of it.
	l.eventWith(journal.Facts{Waited: l.waited}, "info", journal.EventWaited, fmt.Sprintf("waited %v for the resume", l.waited))
	l.booted()
}
