package loop

import (
	"fmt"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// pulse passes a tick, or a stop between two of them, through the safety layer.
func (l *Loop) pulse(now time.Time) {
	command := l.guard.Next(l.deps.Panel.StopAsked())
	l.pass(now, command)
	l.followMode(now)
	if command != safety.CommandStop {
		return
	}
	if l.opt.Mode == plan.Shadow {
		l.stopShadow()
	}
	l.orders.takeStops()
}

// stopShadow ends a run that drives nothing because a person stops it.
func (l *Loop) stopShadow() {
	if l.phase >= resting {
		return
	}
	l.ending.err, l.ending.reason = fmt.Errorf("%w: stopped: an operator asked for it", ErrSafety), control.ReasonSafety
	l.stepper.abandonStep(l.ending.err.Error())
	l.ending.rest(func(*plan.Variable) plan.RestState { return plan.RestHold })
}

// followMode follows what the safety layer has made of this tick.
func (l *Loop) followMode(now time.Time) {
	past := now.Sub(l.followed)
	l.followed = now
	if l.opt.Mode == plan.Shadow || l.phase <= booting || l.phase >= closing {
		return
	}
	l.guarded(l.guard.News(l.phase >= resting))
	switch mode := l.guard.Mode(); mode {
	case safety.Hold:
		l.freeze(past)
	case safety.Run:
		if l.instrument.Disconnected() {
			l.freeze(past)
		} else {
			l.thaw(now)
		}
	case safety.Armed: // a person has resumed from the fallback
		l.guard.Ask(safety.CommandStart)
	case safety.Fallback, safety.Tripped, safety.Stopped:
		l.endUnsafe(mode)
	}
}

// freeze stops the step's clocks while the run is held.
func (l *Loop) freeze(past time.Duration) {
	if !l.held {
		l.held = true
	}
	l.since = l.since.Add(past)
	l.stepper.step.shots.Freeze(past)
}

// thaw goes on after a hold. What was measured stays; before the next shot every driven
// variable is in place again, which a device that was out of order may have left, and the
// instrument settles anew.
func (l *Loop) thaw(now time.Time) {
	switch l.phase {
	case fallen:
		l.stepper.next()
		return
	case idling:
		l.begun(now)
		return
	}
	if !l.held {
		return
	}
	l.held = false
	l.instrument.Unsettle()
	if l.phase == settling || l.phase == measuring {
		l.stepper.step.shots.Drop()
		l.enter(moving)
	}
}

// endUnsafe ends the step, and the run too unless a person can resume it or it goes on
// by itself after an outage, when the safety layer has taken the actuators away. A
// stop always ends the run.
func (l *Loop) endUnsafe(mode safety.Mode) {
	stays := mode != safety.Stopped && l.deps.Panel.IsReachable() || mode == safety.Fallback && l.outages.waitsOut()
	if l.phase >= resting && mode != safety.Tripped && !l.guard.MakesSafe() || l.phase == fallen && stays {
		return
	}
	why := fmt.Errorf("%w: %s: %s", ErrSafety, l.guard.Word(), l.guard.Story())
	if l.guard.Faulted(safety.RulePolicy) {
		why = fmt.Errorf("%w: %w", why, l.advisor.Last())
	}
	if l.phase >= resting { // a trip outranks a shutdown: fault states count now
		if l.ending.err == nil {
			l.ending.err, l.ending.reason = why, control.ReasonSafety
		}
		if l.guard.MakesSafe() && !l.ending.madeSafe {
			l.ending.rest(l.restWhenTaken)
		}
		return
	}
	if stays {
		l.stepper.forgive()
		l.outages.fallAsleep(why)
		return
	}
	if l.ending.err == nil {
		l.ending.err = why
	}
	l.ending.reason = control.ReasonSafety
	l.stepper.abandonStep(why.Error())
	l.ending.rest(l.restWhenTaken)
}

// restWhenTaken is where the safety layer brings an actuator that it has taken away.
func (l *parts) restWhenTaken(v *plan.Variable) plan.RestState {
	if l.guard.MakesSafe() {
		return v.OnStop()
	}
	return v.OnFault
}
