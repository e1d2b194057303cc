package loop

import (
	"errors"
	"fmt"
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/safety"
)

const (
	// policyTries decisions in a row may fail (rule 15). Not fewer: what failed once may
	// be well from the same record. Not more: what fails from the same record three times
	// fails for ever.
	policyTries = 3
	// policyWait beyond its deadline a decision counts as failed, and again after each
	// further policyWait: a decision is cut at a unit of work, which may be long on a
	// small board.
	policyWait = 10 * time.Second
)

// errPanicked: the policy has no state any more that could be asked.
var errPanicked = errors.New("the policy panicked")

// mishaps are the decisions that have failed in a row.
type mishaps struct {
	count int
	// last is why the last one did.
	last error
	// late counts the waits for the decision in hand.
	late int
	// broken says that the policy must be made anew before it is asked; rebuilding that
	// this is under way.
	broken, rebuilding bool
	// asked numbers what was asked for, decisions and policies: of one that was given up
	// an answer may still come.
	asked int
	// waiting says that the answer to a decision is awaited; unused is one that came when
	// nobody was choosing any more.
	waiting bool
	unused  *answer
	// lane is the policy's; a policy that never answers keeps its own for itself.
	lane int
}

// isolated runs what belongs to the policy: a panic becomes an error.
func isolated(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", errPanicked, r)
		}
	}()
	return f()
}

// failed takes in that a decision, or what was to be learnt for it, has failed. The
// setpoints stand where they are. It reports whether the policy may be asked again.
func (l *Loop) failed(err error) bool {
	m := &l.mishaps
	m.count, m.last, m.broken = m.count+1, err, true
	if m.count >= policyTries || l.deps.Rebuild == nil && errors.Is(err, errPanicked) {
		l.giveUp()
		return false
	}
	l.event("warn", journal.EventPolicy, fmt.Sprintf("decision of step %d failed (%d of %d in a row), the setpoints stand: %v", l.step.n, m.count, policyTries, err))
	return true
}

// giveUp has the safety layer fall back: the policy cannot be asked any more.
func (l *Loop) giveUp() {
	err := fmt.Errorf("%w: decision of step %d: %w", ErrPolicy, l.step.n, l.mishaps.last)
	l.mishaps.last, l.mishaps.broken = err, true
	if l.opt.Mode == plan.Shadow {
		l.fail(err)
		return
	}
	l.event("error", journal.EventPolicy, err.Error())
	l.faults.Add(safety.RulePolicy, 0)
}

// forgive forgets what failed once the run has fallen back: whoever resumes it asks a
// policy that is made anew.
func (l *Loop) forgive() {
	l.faults[safety.RulePolicy] = 0
	m := &l.mishaps
	if m.late > 0 && m.broken && l.deps.Rebuild != nil { // its lane may never be free again
		m.asked++
		m.lane = laneDevice + len(l.links) + m.asked
	}
	m.count, m.late = 0, 0
}

// watchPolicy counts the time that a decision is late: it was told to stop long ago.
func (l *Loop) watchPolicy(now time.Time) {
	m := &l.mishaps
	limit := l.opt.Deadline + time.Duration(m.late+1)*policyWait
	if l.opt.Mode == plan.Simulate || m.rebuilding || m.count+m.late >= policyTries || now.Sub(l.since) <= limit {
		return
	}
	m.late++
	m.last = fmt.Errorf("no answer within %v", limit)
	if m.count+m.late >= policyTries {
		l.giveUp()
		return
	}
	l.event("warn", journal.EventPolicy, fmt.Sprintf("decision of step %d is late (%d of %d), the setpoints stand: %v", l.step.n, m.count+m.late, policyTries, m.last))
}

// rebuild makes the policy anew from the record, as a resumed run does, and asks it
// then. Without a way to do so it is asked as it is.
func (l *Loop) rebuild() {
	m := &l.mishaps
	m.broken = false
	if l.deps.Rebuild == nil {
		l.decide()
		return
	}
	m.rebuilding, m.asked = true, m.asked+1
	m.waiting, m.unused = false, nil
	mine, lane := m.asked, m.lane
	// What was learnt last must be in the record first.
	l.record("what was learnt", func(*journal.Journal) error { return nil }, func() {
		l.post(lane, func() func() {
			var p policy.Policy
			err := isolated(func() (err error) { p, err = l.deps.Rebuild(l.policyCtx); return err })
			return func() {
				if m.asked != mine {
					return
				}
				m.rebuilding = false
				if l.phase == choosing {
					l.rebuilt(p, err)
				} else if m.broken = err != nil; !m.broken {
					l.deps.Policy = p
				}
			}
		})
	})
}

// rebuilt goes on with the policy that was made anew.
func (l *Loop) rebuilt(p policy.Policy, err error) {
	l.enter(choosing) // the time that it took is none of the decision's
	if err != nil {
		if l.failed(fmt.Errorf("make the policy anew: %w", err)) {
			l.rebuild()
		}
		return
	}
	l.deps.Policy = p
	l.event("info", journal.EventPolicy, fmt.Sprintf("the policy was made anew from the record of %d steps", l.steps))
	l.decide()
}
