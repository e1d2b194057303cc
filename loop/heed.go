package loop

import (
	"fmt"
	"strings"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// nextCommand is what the safety layer is asked for in this tick: a stop overtakes
// everything.
func (l *Loop) nextCommand() safety.Command {
	if l.deps.Panel.StopAsked() {
		return safety.CommandStop
	}
	if len(l.commands) > 0 {
		c := l.commands[0]
		l.commands = l.commands[1:]
		return c
	}
	return safety.CommandNone
}

// pulse passes a tick, or a stop between two of them, through the safety layer.
func (l *Loop) pulse(now time.Time) {
	command := l.nextCommand()
	l.guard(now, command)
	l.heed(now)
	if command != safety.CommandStop {
		return
	}
	if l.opt.Mode == plan.Shadow {
		l.stopShadow()
	}
	l.answerStops()
}

// stopShadow ends a run that drives nothing because a person stops it.
func (l *Loop) stopShadow() {
	if l.phase >= resting {
		return
	}
	l.err, l.reason = fmt.Errorf("%w: stopped: a person asked for it", ErrSafety), control.ReasonSafety
	l.abandonStep(l.err.Error())
	l.rest(func(*plan.Variable) plan.RestState { return plan.RestHold })
}

// ask queues a command of the loop's own.
func (l *Loop) ask(c safety.Command) { l.commands = append(l.commands, c) }

// heed follows what the safety layer has made of this tick.
func (l *Loop) heed(now time.Time) {
	past := now.Sub(l.heeded)
	l.heeded = now
	if l.opt.Mode == plan.Shadow || l.phase <= booting || l.phase >= closing {
		return
	}
	mode := l.safety.Mode
	if l.told != mode {
		l.tellMode(mode)
	}
	l.tellExpired()
	switch mode {
	case safety.Hold:
		l.freeze(past)
	case safety.Run:
		if l.instrument.Mending() {
			l.freeze(past)
		} else {
			l.thaw(now)
		}
	case safety.Armed: // a person has resumed from the fallback
		l.ask(safety.CommandStart)
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
	l.step.settleEnd = l.step.settleEnd.Add(past)
	l.step.waitedFrom = l.step.waitedFrom.Add(past)
}

// thaw goes on after a hold. What was measured stays; before the next shot every driven
// variable is in place again, which a device that was out of order may have left, and the
// instrument settles anew.
func (l *Loop) thaw(now time.Time) {
	switch l.phase {
	case fallen:
		l.next()
		return
	case idling:
		l.begun(now)
		return
	}
	if !l.held {
		return
	}
	l.held = false
	if l.phase == settling || l.phase == measuring {
		l.step.pending = nil
		l.enter(moving)
	}
}

// endUnsafe ends the step, and the run too unless a person can resume it or it goes on
// by itself after an outage, when the safety layer has taken the actuators away. A
// stop always ends the run.
func (l *Loop) endUnsafe(mode safety.Mode) {
	stays := mode != safety.Stopped && l.deps.Panel.IsReachable() || mode == safety.Fallback && l.waitsOut()
	if l.phase >= resting || l.phase == fallen && stays {
		return
	}
	why := fmt.Errorf("%w: %s: %s", ErrSafety, modeWords[mode], l.story())
	if l.faults.Has(safety.RulePolicy) {
		why = fmt.Errorf("%w: %w", why, l.advisor.Last())
	}
	if stays {
		l.forgive()
		l.fallAsleep(why)
		return
	}
	if l.err == nil {
		l.err = why
	}
	l.reason = control.ReasonSafety
	l.abandonStep(why.Error())
	l.rest(func(v *plan.Variable) plan.RestState { return v.OnFault })
}

// modeWords say what a mode means for the run.
var modeWords = map[safety.Mode]string{safety.Run: "running", safety.Hold: "held", safety.Fallback: "fallen back",
	safety.Tripped: "tripped", safety.Stopped: "stopped", safety.Armed: "armed", safety.Idle: "disarmed", safety.Init: "starting"}

// tellMode records that the safety layer has changed its mode, and why.
func (l *Loop) tellMode(mode safety.Mode) {
	before := l.told
	l.told = mode
	if mode == safety.Hold && !l.safety.Paused || mode >= safety.Fallback && !l.safety.Ending {
		l.meterState(mode)
	}
	switch {
	case mode == safety.Run && before == safety.Hold:
		l.event("info", journal.EventSafety, "the hold is over: going on")
	case mode == safety.Hold && l.safety.Paused:
		l.event("info", journal.EventSafety, "paused")
	case mode == safety.Hold:
		l.event("warn", journal.EventSafety, "held: "+l.causes(l.safety.FirstOut))
	case mode >= safety.Fallback && !l.safety.Ending && l.phase < resting:
		l.event("error", journal.EventSafety, modeWords[mode]+": "+l.story())
	}
}

// story is the first-out, and what has been latched after it.
func (l *Loop) story() string {
	later := l.safety.Latched
	for r := range later {
		later[r] &^= l.safety.FirstOut[r]
	}
	if later.Empty() {
		return l.causes(l.safety.FirstOut)
	}
	return l.causes(l.safety.FirstOut) + "; then " + l.causes(later)
}

// causes says in words what a set of causes is about.
func (l *Loop) causes(c safety.Causes) string {
	var out []string
	for r, i := range c.All() {
		out = append(out, l.causeWords(r, i))
	}
	if len(out) == 0 {
		return "a person asked for it"
	}
	return strings.Join(out, ", ")
}

// tellBypasses records which rules are set aside, and who answers for it.
func (l *Loop) tellBypasses() {
	for i, b := range l.opt.Safety.Bypasses {
		until := l.limits.Bypasses[i].Until - l.base
		if until <= 0 {
			continue
		}
		l.aside |= 1 << b.Rule
		l.event("warn", journal.EventSafety, fmt.Sprintf("rule %d (%v) is set aside for %v by %s: %s",
			safety.About(b.Rule).Number, b.Rule, until.Round(time.Second), b.Who, b.Why))
	}
}

// tellExpired records that a bypass has ended.
func (l *Loop) tellExpired() {
	for r := range safety.RuleCount {
		if l.aside.Has(r) && !l.out.Bypassed.Has(r) {
			l.aside &^= 1 << r
			l.event("info", journal.EventSafety, fmt.Sprintf("rule %d (%v) holds again: its bypass has ended", safety.About(r).Number, r))
		}
	}
}
