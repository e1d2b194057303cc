package loop

import (
	"fmt"
	"time"

	"github.com/labtuner/tuner/loop/journal"
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
	// Before the first decision: a process that is killed after that has told of it.
	l.eventWith(journal.Facts{Waited: l.waited}, "info", journal.EventWaited, fmt.Sprintf("waited %v for the resume", l.waited))
	l.booted()
}
