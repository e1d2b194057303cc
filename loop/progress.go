package loop

import (
	"time"

	"github.com/labtuner/tuner/loop/plan"
)

// tellProgress tells what a progress line shows when it has changed, and at
// every tick of a real run.
func (l *Loop) tellProgress(now time.Time) {
	if l.deps.Watch.Progress == nil {
		return
	}
	p := l.progress
	p.Step, p.Phase, p.Spent = l.stepper.steps, l.phase.String(), l.stepper.total()
	p.LowerBound = l.stepper.lowerBound
	p.Elapsed = l.ran(now)
	p.Left = l.stepper.left(&l.opt, p.Elapsed)
	p.Ending = l.phase >= resting
	p.Read = p.Read || l.phase > booting && !p.Ending
	if l.opt.Mode == plan.Simulate && p.Step == l.progress.Step && p.Phase == l.progress.Phase {
		return
	}
	l.progress = p
	l.deps.Watch.Progress(p)
}
