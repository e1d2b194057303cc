package loop

import (
	"fmt"
	"time"

	"github.com/labtuner/tuner/loop/guard"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// pass passes one tick through the safety layer and has what comes out applied.
func (l *Loop) pass(now time.Time, command safety.Command) {
	if l.opt.Mode == plan.Shadow {
		return
	}
	l.ownStall(now) // also before what a command brings between two ticks
	l.instrument.RepeatRest(l.present())
	t := l.told(now)
	r := l.guard.Tick(command, t)
	l.say(r.Said)
	l.instrument.Rule(l.present(), r.Out, r.Turned)
	if r.Full {
		l.saveTrace()
	}
	if r.Changed {
		l.guard.Save()
	}
	for _, d := range l.instrument.Apply(l.present(), r.Out) {
		l.intendDose(d)
	}
	l.sensed(l.instrument.GoOn(l.present()))
}

// told is what the safety layer is told in this tick; it holds until the next call.
func (l *Loop) told(now time.Time) *guard.Told {
	t := &l.facts
	t.Now, t.CameBack, t.Before, t.Disk = now, l.instrument.CameBack(), l.phase == booting || l.phase == idling, l.recorder.Problem()
	l.instrument.Inputs(&t.In, l.present(), l.guard.Time)
	l.instrument.Wish(&t.P, int64(l.stepper.steps)+1)
	t.In.Ready = t.In.Ready && l.phase >= booting
	if l.outages.outage.on {
		t.In.Faults.Add(safety.RuleInstrument, l.outages.outage.device)
	}
	return t
}

// guarded follows what the guard tells.
func (l *Loop) guarded(events []any) {
	for _, e := range events {
		switch e := e.(type) {
		case guard.Said:
			l.event(e.Level, e.Kind, e.Message)
		case guard.Fallen:
			l.eventWith(journal.Facts{Latched: e.Latched}, "error", journal.EventSafety, e.Message)
		case guard.Alarm:
			l.deps.Watch.Meter.State(e.Mode, e.Causes)
		case guard.Unsaved:
			l.fail(fmt.Errorf("%w: %w", ErrJournal, e.Err))
		case guard.Saved:
			l.ending.closeSaved()
		}
	}
}
