package loop

import (
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

// controlFile is what is known of the control state's files.
type controlFile struct {
	looking bool
	asked   time.Time
	// held says why the run waits for them, "" if it does not.
	held string
}

// controlSeen is what has become of them.
type controlSeen struct {
	found string
	err   error
}

// lookEvery is how often the control state's files are looked at.
const lookEvery = time.Second

// watchControlFile has the control state see, every second, whether its copies are still
// there.
func (l *Loop) watchControlFile(now time.Time) {
	f := &l.controlFile
	if l.opt.Mode == plan.Simulate || l.deps.Control == nil || f.looking || !f.asked.IsZero() && now.Sub(f.asked) < lookEvery {
		return
	}
	f.asked, f.looking = now, true
	l.post(laneControl, func() func() {
		found, err := l.deps.Control.Look()
		return func() { l.sawControlFile(controlSeen{found, err}) }
	})
}

// sawControlFile tells what has become of the control state.
func (l *Loop) sawControlFile(s controlSeen) {
	f := &l.controlFile
	before := f.held
	f.looking, f.held = false, ""
	switch {
	case s.err != nil:
		if f.held = s.err.Error(); before == "" {
			l.event("error", journal.EventDisk, "the run is held: "+f.held)
		}
		return
	case s.found != "":
		l.event("warn", journal.EventDisk, "the control state "+s.found+": it was written anew, nothing is missing")
	}
	if before != "" {
		l.event("info", journal.EventDisk, "the control state can be kept again")
	}
}
