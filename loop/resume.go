package loop

import (
	"math"
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/policy"
)

// Past is what an unfinished run has behind it.
type Past struct {
	// Steps counts those that were decided, Concluded those with an outcome: one less
	// where the process ended in the middle of a step.
	Steps, Concluded int
	// Open is the decision of the step in the middle of which the process ended, nil
	// where there is none. Whether it was carried out nobody knows.
	Open *journal.Decision
	// Elapsed is how long the sessions before ran, up to their last step.
	Elapsed time.Duration

	charges  []charge
	failures int
}

// charge is what one step cost.
type charge struct {
	set  int
	cost money
}

// Recall reads what an unfinished run has behind it.
func (o *Options) Recall(r *journal.Reader) (Past, error) {
	var p Past
	var session time.Duration // the last stamp of the session in hand
	for s, err := range r.Steps() {
		if err != nil {
			return Past{}, err
		}
		at := s.Decision.At.Mono
		if at < session { // the clock began anew
			p.Elapsed += session
		}
		session = at
		p.Steps = s.Decision.Step
		if !s.Concluded {
			open := s.Decision
			p.Open = &open
			break
		}
		session = max(session, s.Outcome.At.Mono)
		p.Concluded++
		p.charges = append(p.charges, charge{o.played(s.Decision.ControlSet), asMoney(s.Outcome.Cost)})
		p.failures++
		if s.Outcome.Valid {
			p.failures = 0
		}
	}
	p.Elapsed += session
	for e, err := range r.Events() {
		if err != nil {
			return Past{}, err
		}
		p.Elapsed -= waitedIn(e)
	}
	return p, nil
}

// takeUp continues where the past ended. The step that was in flight is closed as
// unknown: it counts, its control set and all its shots are charged (not its setting's own cost and
// its way, which nobody knows), and it teaches the policy nothing.
func (l *Loop) takeUp() {
	p := l.deps.Past
	if p == nil {
		return
	}
	l.steps, l.failures = p.Concluded, p.failures
	for _, c := range p.charges {
		l.ledger.charge(c.set, c.cost)
	}
	if p.Open != nil {
		l.closeUnknown(p.Open)
	}
	l.step = step{n: l.steps}
}

// closeUnknown concludes a step that another process began.
func (l *Loop) closeUnknown(d *journal.Decision) {
	set := l.opt.played(d.ControlSet)
	cost := money(0)
	if set >= 0 {
		cost = l.opt.Cost.stepCost(bill{set: l.opt.ControlSets[set].Cost, shots: l.opt.Objective.Shots})
	}
	l.ledger.charge(set, cost)
	l.steps++
	l.step = step{n: d.Step}
	l.event("info", EventAbandoned, ProblemUnknown)
	o := journal.Outcome{Step: d.Step, X: policy.NaNs(len(l.opt.Variables)), Mean: math.NaN(), Variance: math.NaN(),
		Cost: cost.float(), Spent: l.ledger.spent.float(), Problem: ProblemUnknown, At: l.stamp()}
	l.record("outcome", func(j *journal.Journal) error { return j.Conclude(o) }, nil)
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
