package advisor

import (
	"errors"
	"fmt"
	"time"
)

const (
	// Tries decisions in a row may fail (rule 15). Not fewer: what failed once may be well
	// from the same record. Not more: what fails from the same record three times fails for
	// ever.
	Tries = 3
	// patience beyond its deadline a decision counts as failed, and again after each further
	// one: a decision is cut at a unit of work, which may be long on a small board.
	patience = 10 * time.Second
)

// failures are the decisions that have failed in a row.
type failures struct {
	count int
	// last is why the last one did.
	last error
	// late counts the waits for the decision in hand.
	late int
	// broken says that the policy must be made anew before it is asked.
	broken bool
}

// Fail takes in that a decision, or what was to be learnt for it, has failed: the n-th in
// a row. It reports whether the policy may be asked again.
func (a *Advisor) Fail(err error) (n int, again bool) {
	f := &a.failures
	f.count, f.last, f.broken = f.count+1, err, true
	return f.count, f.count < Tries && (a.opt.Rebuild != nil || !errors.Is(err, errPanicked))
}

// Succeeded forgets the failures: a decision was made.
func (a *Advisor) Succeeded() { a.failures.count, a.failures.late = 0, 0 }

// Last is why the last decision failed.
func (a *Advisor) Last() error { return a.failures.last }

// GiveUp has the policy count as broken, because of err.
func (a *Advisor) GiveUp(err error) { a.failures.last, a.failures.broken = err, true }

// Overdue takes in that a decision has been awaited for so long. Where that is longer than
// it may be, for the n-th time among Tries failures, it returns n and why; else 0.
func (a *Advisor) Overdue(waited time.Duration) (n int, why error) {
	f := &a.failures
	limit := a.opt.Deadline + time.Duration(f.late+1)*patience
	if a.isRebuilding() || f.count+f.late >= Tries || waited <= limit {
		return 0, nil
	}
	f.late++
	f.last = fmt.Errorf("no answer within %v", limit)
	return f.count + f.late, f.last
}

// Forgive forgets what failed once the run has fallen back: whoever resumes it asks a
// policy that is made anew. A policy that has not answered keeps its worker, which may never
// be free again.
func (a *Advisor) Forgive() {
	f := &a.failures
	if f.late > 0 && f.broken && a.opt.Rebuild != nil {
		a.deciding, a.learning, a.recommending, a.rebuilding, a.drawing = 0, 0, 0, 0, 0
		a.worker = a.spare
		a.spare++
	}
	f.count, f.late = 0, 0
}
