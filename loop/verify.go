package loop

import (
	"cmp"
	"fmt"
	"time"

	"github.com/labtuner/tuner/loop/advisor"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// verifying is the comparison in progress.
type verifying struct {
	running bool
	plan    journal.Comparison
	legs    []plan.Leg
	turn    plan.Turn
	// kept says that its result is in the journal already.
	kept  bool
	began time.Time
}

// verify measures the recommended and the starting setting in turn, then brings the
// instrument to rest. Where that is not to be, it says why.
func (l *stepper) verify() {
	c, why := l.comparison()
	if why != "" {
		l.ending.result.Unverified = why
		if l.opt.Mode != plan.Shadow {
			l.event("info", journal.EventVerify, "the recommended setting is not compared with the starting one: "+why)
		}
		l.home()
		return
	}
	v := &l.verifying
	v.running, v.began, v.turn = true, l.now(), plan.Turn{Pair: 1}
	if !l.takeUpComparison(&c) {
		l.record("comparison", func(j *journal.Journal) error { return j.Compare(c) }, reached("comparison-durable"))
	}
	v.plan = c
	if left := c.Pairs + 1 - v.turn.Pair; left > 0 {
		l.event("info", journal.EventVerify, fmt.Sprintf("measuring the recommended and the starting setting in turn, %d pairs of steps", left))
	}
	l.nextLeg()
}

// takeUpComparison goes on with the last session's comparison if it was the same, and
// gives c its number, or a new one.
func (l *stepper) takeUpComparison(c *journal.Comparison) bool {
	v, p := &l.verifying, l.deps.Past
	if c.Number = 1; p == nil {
		return false
	}
	c.Number = p.Comparisons + 1
	if p.Comparison == nil || !p.Comparison.Same(*c) {
		return false
	}
	_, t, err := l.opt.Pairing(*p.Comparison, p.Legs)
	if err != nil { // by another seed
		return false
	}
	if t.Half = false; p.Compared {
		t.Pair = p.Comparison.Pairs + 1 // however it ended: its result stands
	}
	*c, v.legs, v.turn, v.kept = *p.Comparison, p.Legs, t, p.Compared
	return true
}

// comparison is what is to be measured, or why nothing is.
func (l *stepper) comparison() (c journal.Comparison, why string) {
	if l.ending.result.HasFound {
		c = journal.Comparison{Proposed: l.proposed, At: l.stamp()}
		return l.opt.ComparisonOf(c, &l.ending.result.Found, l.startedAt, l.guard.Range, plan.PairSoFar{Time: l.pairTime(), Paid: &l.ledger})
	}
	return c, cmp.Or(l.opt.Uncompared(), "there is none")
}

// pairTime is how long two steps of the search took, 0 where there was none.
func (l *stepper) pairTime() time.Duration {
	if n := l.searched(); n > 0 {
		return 2 * l.ran(l.now()) / time.Duration(n)
	}
	return 0
}

// nextLeg begins the next step of the comparison, or ends it.
func (l *stepper) nextLeg() {
	v := &l.verifying
	if v.turn.Pair > v.plan.Pairs || v.tooManyFailed(&l.opt) && !l.opt.Outages.Wait || !v.turn.Half && l.verifyTimeIsOver(l.now()) {
		l.verified()
		return
	}
	l.begin(step{n: l.steps + 1})
	l.step.Decision.Compared = v.turn.Next(l.opt.Verify.Seed, v.plan.Number)
	if l.deps.BeginStep != nil {
		l.deps.BeginStep(l.step.n)
	}
	s := &l.step
	p := policy.Proposal{ControlSet: v.plan.ControlSet, X: v.plan.Recommended}
	if s.Decision.Compared.Side == journal.Starting {
		p.X = v.plan.Start
	}
	if err := l.clamp(advisor.Decided{Proposal: p}); err != nil {
		l.runner.fail(err)
		return
	}
	if limit := l.opt.Verify.Cost; limit > 0 && l.spent.Plus(s.AtMost(&l.opt, v.plan.Shots, &l.ledger)) > plan.AsMoney(limit).Plus(l.paidBefore) {
		l.event("info", journal.EventVerify, fmt.Sprintf("another step would cost more than the %s that stop.verify_cost allows", l.opt.Sum(limit)))
		l.verified()
		return
	}
	l.openStep()
}

// legEnded takes in a step of the comparison, whatever became of it.
func (l *stepper) legEnded(o journal.Outcome, abandoned bool) {
	v := &l.verifying
	x := plan.Leg{Compared: l.step.Decision.Compared, Outcome: o, Abandoned: abandoned, Session: -1}
	v.legs = append(v.legs, x)
	v.turn.After(x)
}

// tooManyFailed reports whether so many steps of the comparison in a row had no valid data as
// make an outage.
func (v *verifying) tooManyFailed(o *plan.Options) bool {
	return o.FailureLimit > 0 && v.turn.Failed >= o.FailureLimit
}

// measuresAgain reports whether the pair of a step that failed is to be measured again: the run
// has waited for an outage, and it is not over. That is on record as a step that was abandoned.
func (l *stepper) measuresAgain(o *journal.Outcome) bool {
	if !l.verifying.running || o.Valid || !l.runner.enduring() {
		return false
	}
	l.event("info", journal.EventAbandoned, "the outage goes on: "+o.Problem)
	return true
}

// afterLeg begins the next step of the comparison, or waits where too many in a row have failed.
func (l *stepper) afterLeg() {
	if v := &l.verifying; v.tooManyFailed(&l.opt) && l.opt.Outages.Wait && v.turn.Pair <= v.plan.Pairs {
		l.runner.endure(v.turn.Failed, l.step.problem)
		return
	}
	l.nextLeg()
}

// verifyTimeIsOver reports whether the comparison has taken as long as it may, and says so.
func (l *stepper) verifyTimeIsOver(now time.Time) bool {
	limit := l.opt.Verify.Time
	if limit == 0 || now.Sub(l.verifying.began) < limit {
		return false
	}
	l.event("info", journal.EventVerify, fmt.Sprintf("the %v that stop.verify_time allows are over", limit))
	return true
}

// timeIsOver reports whether a run that waits has no more time to, and says so: the time of
// the comparison, where that is under way, else the run's.
func (l *stepper) timeIsOver(now time.Time) bool {
	if l.verifying.running {
		return l.verifyTimeIsOver(now) && l.compare()
	}
	if s := l.opt.Stop.Time; s == 0 || l.ran(now) < s {
		return false
	}
	l.ending.reason = control.ReasonTime
	l.event("info", "stop", "stop condition reached: "+control.ReasonTime)
	return true
}

// verified evaluates the comparison and brings the instrument to rest.
func (l *stepper) verified() {
	if l.compare() {
		l.home()
	}
}

// compare evaluates the comparison, which ends here. It reports false where that has failed,
// which ends the run.
func (l *stepper) compare() bool {
	v := &l.verifying
	v.running = false
	l.begin(step{n: l.steps})
	found, err := l.opt.Compare(v.plan, v.legs)
	if err != nil {
		l.runner.fail(fmt.Errorf("compare the recommended setting with the starting one: %w", err))
		return false
	}
	l.ending.result.Verification = &found
	if !v.kept {
		r := plan.ResultOf(v.plan.Number, &found)
		r.At = l.stamp()
		l.record("comparison's result", func(j *journal.Journal) error { return j.CompareResult(r) }, reached("verdict-durable"))
	}
	l.event("info", journal.EventVerify, found.Summary(l.opt.Objective.Unit))
	return true
}

// comparisonStatus is nil until the search has ended.
func (l *stepper) comparisonStatus() *control.ComparisonStatus {
	v, found := &l.verifying, l.ending.result.Verification
	switch {
	case v.running:
		c := l.step.Decision.Compared
		return &control.ComparisonStatus{Running: true, Pair: c.Pair, Pairs: v.plan.Pairs, Setting: string(c.Side)}
	case found != nil:
		return &control.ComparisonStatus{Pair: v.plan.Pairs, Pairs: v.plan.Pairs, Verdict: found.Verdict, Words: found.Summary(l.opt.Objective.Unit)}
	case l.ending.result.Unverified != "":
		return &control.ComparisonStatus{Why: l.ending.result.Unverified}
	}
	return nil
}
