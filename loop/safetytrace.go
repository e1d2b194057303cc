package loop

import (
	"encoding/json"
	"fmt"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/trace"
)

// startTrace begins the session's safety trace.
func (l *Loop) startTrace() {
	if l.opt.Mode == plan.Shadow {
		return
	}
	start, err := json.Marshal(trace.Start{Limits: l.limits, Saved: l.bootedFrom})
	if err != nil {
		l.event("warn", journal.EventSafety, fmt.Sprintf("what the safety layer does is not recorded, so it cannot be replayed: %v", err))
		return
	}
	l.trace = trace.NewRecorder(&l.limits)
	at := l.stamp()
	l.record("what the safety layer begins from", func(j *journal.Journal) error { return j.Tape(start, 0, at) }, nil)
}

// saveTrace records the piece in hand.
func (l *Loop) saveTrace() {
	data, ticks, err := l.trace.Cut()
	if err != nil {
		l.event("warn", journal.EventSafety, fmt.Sprintf("a piece of what the safety layer did is not recorded: %v", err))
		return
	}
	if ticks == 0 {
		return
	}
	t, at := l.trace, l.stamp()
	if !t.Wait(len(data)) {
		l.trace = nil // what follows a gap cannot be derived
		l.event("warn", journal.EventDisk, fmt.Sprintf("what the safety layer does is not recorded from here on until the next start: %.3g MB of it wait for the disk", float64(t.Waiting())/1e6))
		return
	}
	l.record("what the safety layer did", func(j *journal.Journal) error { return j.Tape(data, ticks, at) }, traceWritten{t, len(data)})
}
