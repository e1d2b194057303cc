package loop

import (
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
)

// metered runs a tick and tells how long it took.
func (l *parts) metered(tick func()) {
	watch := l.deps.stopwatch()
	begin := watch.Now()
	tick()
	l.deps.Watch.Meter.Tick(watch.Now().Sub(begin))
}

// tellEvent hands an event to whoever watches.
func (l *parts) tellEvent(e journal.Event) {
	l.deps.Watch.Event(e)
	l.deps.Panel.Publish(control.News{Event: &e})
}

// tellStep hands a concluded step to whoever watches.
func (l *parts) tellStep(d *journal.Decision, o *journal.Outcome) {
	l.deps.Watch.Step(*d, *o)
	l.deps.Panel.Publish(control.News{Decision: d, Outcome: o})
}
