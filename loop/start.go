package loop

import (
	"fmt"
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/replay"
	"github.com/labtuner/tuner/safety"
)

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
	l.booted()
}

// tellWaited records how long the run had waited, after the first decision: without one
// there is no step whose time it is part of.
func (l *Loop) tellWaited() {
	if l.waited > 0 && !l.toldWait {
		l.toldWait = true
		l.event("info", journal.EventWaited, fmt.Sprintf(replay.WaitedWords, l.waited))
	}
}
