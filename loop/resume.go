package loop

import (
	"math"
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"

	"github.com/labtuner/tuner/loop/control"
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
	// start is where the run started, nil where that was not recorded.
	start []float64
	// Left says that no process has brought the actuators to rest since the last step: the
	// one that drove them was killed.
	Left bool
	// wantBest says that somebody has ended the search.
	wantBest bool
	// openSession is the session that began the open step.
	openSession int
	// comparison is the last that was begun, nil: none; legs are its steps, compared says
	// that it was ended. paid and legCount are of all comparisons.
	comparison *journal.Comparison
	legs       []plan.Leg
	compared   bool
	paid       plan.Money
	legCount   int
}

// charge is what one step cost.
type charge struct {
	set  int
	cost plan.Money
}

// Recall reads what an unfinished run has behind it.
func Recall(o *plan.Options, r *journal.Reader) (Past, error) {
	p, abandoned, err := recallStory(o, r)
	if err != nil {
		return Past{}, err
	}
	restedAt := -1            // the last step after which they were at rest
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
			p.Open, p.openSession = &open, s.Session
			break
		}
		session = max(session, s.Outcome.At.Mono)
		p.Concluded++
		if s.Decision.Compared.Comparison > 0 {
			p.addLeg(s, abandoned[s.Decision.Step])
			continue
		}
		p.charges = append(p.charges, charge{o.Played(s.Decision.ControlSet), plan.AsMoney(s.Outcome.Cost)})
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
		if e.Kind == journal.EventShutdown && e.Level == "info" {
			restedAt = e.Step
		}
	}
	p.Left = restedAt < p.Steps
	return p, nil
}

// recallStory reads what events and comparisons tell of the past.
func recallStory(o *plan.Options, r *journal.Reader) (p Past, abandoned map[int]bool, err error) {
	abandoned = map[int]bool{}
	for e, err := range r.Events() {
		if err != nil {
			return p, nil, err
		}
		switch e.Kind {
		case journal.EventAbandoned:
			abandoned[e.Step] = true
		case journal.EventStart:
			if p.start, err = parseStart(e.Message, len(o.Variables)); err != nil {
				return p, nil, err
			}
		}
	}
	for c, err := range r.Commands() {
		if err != nil {
			return p, nil, err
		}
		p.wantBest = p.wantBest || c.Name == control.CommandSetBest && c.Answer != nil && c.Answer.OK
	}
	all, err := r.Comparisons()
	if err != nil || len(all) == 0 {
		return p, abandoned, err
	}
	p.comparison = &all[len(all)-1]
	results, err := r.ComparisonResults()
	p.compared = len(results) > 0 && results[len(results)-1].Comparison == p.comparison.Number
	return p, abandoned, err
}

// addLeg counts a step of a comparison, and keeps it if it is of the last.
func (p *Past) addLeg(s journal.Step, abandoned bool) {
	p.legCount++
	p.paid = p.paid.Plus(plan.AsMoney(s.Outcome.Cost))
	if c := s.Decision.Compared; p.comparison != nil && c.Comparison == p.comparison.Number {
		p.legs = append(p.legs, plan.Leg{Compared: c, Outcome: s.Outcome, Abandoned: abandoned, Session: s.Session})
	}
}

// takeUp continues where the past ended. The step that was in flight is closed as
// unknown: it counts, its control set and all its shots are charged (not its setting's own cost and
// its way, which nobody knows), and it teaches the policy nothing.
func (l *Loop) takeUp() {
	p := l.deps.Past
	if p == nil {
		return
	}
	l.steps, l.failures, l.wantBest = p.Concluded, p.failures, p.wantBest
	l.verifying.steps, l.verifying.spent = p.legCount, p.paid
	for _, c := range p.charges {
		l.ledger.Charge(c.set, c.cost)
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
	l.event("info", journal.EventAbandoned, journal.ProblemUnknown)
	o := journal.Outcome{Step: d.Step, X: policy.NaNs(len(l.opt.Variables)), Mean: math.NaN(), Variance: math.NaN(),
		Cost: cost.Float(), Spent: l.ledger.Spent.Plus(l.verifying.spent).Float(), Problem: journal.ProblemUnknown, At: l.stamp()}
	l.record("outcome", func(j *journal.Journal) error { return j.Conclude(o) }, func() { l.failpoint("taken-up") })
	if c := d.Compared; c.Comparison > 0 {
		l.deps.Past.legs = append(l.deps.Past.legs, plan.Leg{Compared: c, Outcome: o, Abandoned: true, Session: l.deps.Past.openSession})
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
