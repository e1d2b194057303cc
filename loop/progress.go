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
	p.Step, p.Phase, p.Spent = l.steps, l.phase.String(), l.ledger.Spent.Plus(l.verifying.spent).Float()
	p.Elapsed = l.ran(now)
	p.Left = l.left(p.Elapsed)
	p.Ending = l.phase >= resting
	p.Read = p.Read || l.phase > booting && !p.Ending
	if l.opt.Mode == plan.Simulate && p.Step == l.progress.Step && p.Phase == l.progress.Phase {
		return
	}
	l.progress = p
	l.deps.Watch.Progress(p)
}

// left estimates the time until the earliest stop condition at the pace so far;
// negative if nothing is known yet.
func (l *Loop) left(elapsed time.Duration) time.Duration {
	left := time.Duration(-1)
	earliest := func(d time.Duration) {
		if left < 0 || d < left {
			left = d
		}
	}
	s := &l.opt.Stop
	if s.Time > 0 {
		earliest(max(s.Time-elapsed, 0))
	}
	if l.searched() == 0 || l.opt.Mode == plan.Shadow {
		return left
	}
	if s.Steps > 0 {
		earliest(scale(elapsed, float64(s.Steps-l.searched())/float64(l.searched())))
	}
	if spent := l.ledger.Spent.Float(); s.Cost > 0 && spent > 0 {
		earliest(scale(elapsed, (s.Cost-spent)/spent))
	}
	return left
}

func scale(d time.Duration, f float64) time.Duration {
	return time.Duration(max(f, 0) * float64(d))
}
