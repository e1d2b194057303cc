package loop

import (
	"fmt"
	"time"

	"github.com/labtuner/tuner/loop/advisor"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// failed takes in that a decision, or what was to be learnt for it, has failed. The
// setpoints stand where they are. It reports whether the policy may be asked again.
func (l *stepper) failed(err error) bool {
	n, again := l.advisor.Fail(err)
	if !again {
		l.giveUp()
		return false
	}
	l.event("warn", journal.EventPolicy, fmt.Sprintf("decision of step %d failed (%d of %d in a row), the setpoints stand: %v", l.step.n, n, advisor.Tries, err))
	return true
}

// giveUp has the safety layer fall back: the policy cannot be asked any more.
func (l *stepper) giveUp() {
	err := fmt.Errorf("%w: decision of step %d: %w", ErrPolicy, l.step.n, l.advisor.Last())
	l.advisor.GiveUp(err)
	if l.opt.Mode == plan.Shadow {
		l.runner.fail(err)
		return
	}
	l.event("error", journal.EventPolicy, err.Error())
	l.guard.Fault(safety.RulePolicy, 0)
}

// forgive forgets what failed once the run has fallen back.
func (l *stepper) forgive() {
	l.guard.Forgive(safety.RulePolicy)
	l.advisor.Forgive()
}

// watchPolicy counts the time that a decision is late: it was asked to stop long ago.
func (l *stepper) watchPolicy(now time.Time) {
	if l.opt.Mode == plan.Simulate {
		return
	}
	switch n, why := l.advisor.Overdue(now.Sub(l.since)); {
	case n == 0:
	case n >= advisor.Tries:
		l.giveUp()
	default:
		l.event("warn", journal.EventPolicy, fmt.Sprintf("decision of step %d is late (%d of %d), the setpoints stand: %v", l.step.n, n, advisor.Tries, why))
	}
}

// rebuild makes the policy anew from the record, as a resumed run does, and asks it
// then. Without a way to do so it is asked as it is.
func (l *stepper) rebuild() {
	if !l.advisor.BeginRebuild() {
		l.decide()
		return
	}
	// What was learnt last must be in the record first.
	l.record("what was learnt", (*journal.Journal).Settle, lessonsRecorded{})
}

// rebuilt goes on with the policy that was made anew.
func (l *stepper) rebuilt(a advisor.Rebuilt) {
	err, changed := a.Err, l.changes.remaking
	if l.changes.remaking = changed && err != nil && l.phase == choosing; err == nil {
		if changed { // what was best may not be so any more
			l.marked = plan.Marked{}
		}
		recommends(l, a.Best)
	}
	if l.phase != choosing {
		return
	}
	l.enter(choosing) // the time that it took is none of the decision's
	if err != nil {
		if l.failed(fmt.Errorf("rebuild the policy: %w", err)) {
			l.rebuild()
			return
		}
		l.changes.remaking = false
		return
	}
	l.event("info", journal.EventPolicy, fmt.Sprintf("the policy was rebuilt from the record of %s", plan.Counted(l.steps, "step")))
	if changed { // stop conditions may be others
		l.next()
		return
	}
	l.decide()
}
