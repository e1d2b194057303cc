package loop

import (
	"math"
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// takeUp continues where the past ended. The step that was in flight is closed as
// unknown: it counts, its control set and all its shots are charged (not its setting's own cost and
// its way, which nobody knows), and it teaches the policy nothing.
func (l *Loop) takeUp() {
	p := l.deps.Past
	if p == nil {
		return
	}
	l.steps, l.failures, l.wantBest = p.Concluded, p.Failures, p.WantBest
	if l.steps > 0 {
		l.guard.Underway()
	}
	l.verifying.steps, l.verifying.spent = p.LegCount, p.Paid
	for _, c := range p.Charges {
		l.ledger.Charge(c.Set, c.Cost)
	}
	if p.Open != nil {
		l.closeUnknown(p.Open)
	}
	l.step = step{n: l.steps}
}

// closeUnknown concludes a step that another process began.
func (l *Loop) closeUnknown(d *journal.Decision) {
	set := l.opt.Played(d.ControlSet)
	l.step = step{n: d.Step, set: set, decision: *d}
	cost := plan.Money(0)
	if set >= 0 {
		cost = l.opt.Cost.StepCost(plan.Bill{Set: l.opt.ControlSets[set].Cost, Shots: l.wantedShots()})
	}
	l.charge(cost)
	l.steps++
	l.guard.Underway()
	l.event("info", journal.EventAbandoned, journal.ProblemUnknown)
	o := journal.Outcome{Step: d.Step, X: policy.NaNs(len(l.opt.Variables)), Mean: math.NaN(), Variance: math.NaN(), StandardError: math.NaN(),
		Cost: cost.Float(), Spent: l.ledger.Spent.Plus(l.verifying.spent).Float(), Problem: journal.ProblemUnknown, At: l.stamp()}
	l.record("outcome", func(j *journal.Journal) error { return j.Conclude(o) }, reached("taken-up"))
	if c := d.Compared; c.Comparison > 0 {
		l.deps.Past.Legs = append(l.deps.Past.Legs, plan.Leg{Compared: c, Outcome: o, Abandoned: true, Session: l.deps.Past.OpenSession})
	}
}

// ran is how long the run has gone on, all sessions together.
func (l *Loop) ran(now time.Time) time.Duration {
	d := now.Sub(l.start) - l.waited
	if l.phase == idling {
		d -= now.Sub(l.since)
	}
	if l.deps.Past != nil {
		d += l.deps.Past.Elapsed
	}
	return d
}
