package loop

import (
	"math"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/replay"
)

// takeUp continues where the past ended. The step that was in flight is closed as
// unknown: it counts, its control set and all its shots are charged (not its setting's own cost and
// its way, which nobody knows), and it teaches the policy nothing.
func (l *stepper) takeUp() {
	l.people.asked = replay.PendingTries(l.deps.Asked)
	p := l.deps.Past
	if p == nil {
		return
	}
	l.steps, l.failures, l.wantBest = p.Concluded, p.Failures, p.WantBest
	if l.steps > 0 {
		l.guard.Underway()
	}
	l.legs, l.spent, l.paidBefore = p.LegCount, p.Paid, p.PaidBefore
	l.marked = plan.MarkedAt(p.Mark)
	if l.changes.all = p.Changes; len(p.Changes) > 0 { // the file, and with it the limits, may be another
		l.changes.tellKept(p.Steps + 1)
	}
	for _, c := range p.Charges {
		l.ledger.Charge(c.Set, c.Cost)
	}
	if p.Open != nil {
		l.closeUnknown(p.Open)
	}
	l.begin(step{n: l.steps})
}

// closeUnknown concludes a step that another process began.
func (l *stepper) closeUnknown(d *journal.Decision) {
	l.begin(step{n: d.Step, Step: plan.Step{Set: l.opt.Played(d.ControlSet), Decision: *d}})
	cost := l.step.Unread(&l.opt, l.step.Wanted(&l.opt), &l.ledger)
	l.charge(cost)
	l.steps++
	l.guard.Underway()
	l.event("info", journal.EventAbandoned, journal.ProblemUnknown)
	l.people.unknown(d)
	o := journal.Outcome{Step: d.Step, X: policy.NaNs(len(l.opt.Variables)), Mean: math.NaN(), Variance: math.NaN(), StandardError: math.NaN(),
		Cost: cost.Float(), Spent: l.total(), Problem: journal.ProblemUnknown, At: l.stamp()}
	l.record("outcome", func(j *journal.Journal) error { return j.Conclude(o) }, reached("taken-up"))
	if c := d.Compared; c.Comparison > 0 {
		l.deps.Past.Legs = append(l.deps.Past.Legs, plan.Leg{Compared: c, Outcome: o, Abandoned: true, Session: l.deps.Past.OpenSession})
	}
}
