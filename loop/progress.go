package loop

import (
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/plan"
)

// shown is what a progress line has shown last.
type shown struct {
	step  int
	phase phase
	read  bool
}

// show gives the present status to the panel, and to who shows progress: of a simulation where
// what is shown has changed.
func (l *Loop) show(now time.Time) {
	s := l.published(now)
	is := shown{step: l.number, read: l.shown.read || l.phase > booting && l.phase < resting}
	if l.deps.Watch.Phases || l.phase >= resting {
		is.phase = l.phase
	}
	if l.deps.Watch.Progress == nil || l.opt.Mode == plan.Simulate && is == l.shown {
		return
	}
	if l.shown = is; s == nil {
		s = l.snapshot(now, "")
	}
	l.deps.Watch.Progress(control.Progress{Status: s, Read: is.read, Ending: l.phase >= resting})
}
