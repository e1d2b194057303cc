package loop

import (
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
)

// tellEvent hands an event to whoever watches.
func (l *Loop) tellEvent(e journal.Event) {
	if l.deps.Watch.Event != nil {
		l.deps.Watch.Event(e)
	}
	l.deps.Panel.Publish(control.News{Event: &e})
}

// tellStep hands a concluded step to whoever watches.
func (l *Loop) tellStep(d journal.Decision, o journal.Outcome) {
	if l.deps.Watch.Step != nil {
		l.deps.Watch.Step(d, o)
	}
	l.deps.Panel.Publish(control.News{Decision: &d, Outcome: &o})
}
