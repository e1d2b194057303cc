package loop

import (
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/guard"
	"github.com/labtuner/tuner/loop/instrument"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/policy"
)

// metered runs a tick and tells how long it took.
func (l *parts) metered(tick func()) {
	told := l.deps.Watch.Meter.Tick
	if told == nil {
		tick()
		return
	}
	watch := l.deps.stopwatch()
	begin := watch.Now()
	tick()
	told(watch.Now().Sub(begin))
}

// meterWrite tells how long a record took, from the time at which it was asked for.
func (l *parts) meterWrite(took time.Duration) {
	if told := l.deps.Watch.Meter.Record; told != nil {
		told(took)
	}
}

func (l *parts) meterTrouble(t instrument.Troubled) {
	if told := l.deps.Watch.Meter.Trouble; told != nil {
		told(t.Device, t.Doing)
	}
}

func (l *parts) meterState(a guard.Alarm) {
	if told := l.deps.Watch.Meter.State; told != nil {
		told(a.Mode, a.Causes)
	}
}

func (l *parts) meterModel(size policy.Size) {
	if told := l.deps.Watch.Meter.Model; told != nil {
		told(size)
	}
}

func (l *parts) meterFit(p policy.Proposal) {
	if told := l.deps.Watch.Meter.Fit; told != nil {
		if p.Fit != nil {
			told(p.Fit.Err != nil)
		}
		if p.FailedFits != nil {
			told(true)
		}
	}
}

// tellEvent hands an event to whoever watches.
func (l *parts) tellEvent(e journal.Event) {
	if l.deps.Watch.Event != nil {
		l.deps.Watch.Event(e)
	}
	l.deps.Panel.Publish(control.News{Event: &e})
}

// tellStep hands a concluded step to whoever watches.
func (l *parts) tellStep(d journal.Decision, o journal.Outcome) {
	if l.deps.Watch.Step != nil {
		l.deps.Watch.Step(d, o)
	}
	l.deps.Panel.Publish(control.News{Decision: &d, Outcome: &o})
}
