package replay

import (
	"context"
	"slices"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

// Past is what an unfinished run has behind it.
type Past struct {
	// Steps counts those that were decided, Concluded those with an outcome: one less
	// where the process ended in the middle of a step.
	Steps, Concluded int
	// Open is the decision of the step in the middle of which the process ended, nil
	// where there is none. Whether it was carried out is unknown.
	Open *journal.Decision
	// Elapsed is how long the sessions before ran, up to their last step.
	Elapsed time.Duration

	Charges  []charge
	Failures int
	// Start is where the run started, nil where that was not recorded.
	Start []float64
	// Left says that no process has confirmed the actuators at rest since the last step: the one
	// that drove them was killed, or ended with a safe state that was not confirmed.
	Left bool
	// WantBest says that a person has ended the search, WantEnd the run.
	WantBest, WantEnd bool
	// Changes are those that were made while the run went on; Undone the commands that asked for
	// one, and of which the process ended before anything came of it.
	Changes plan.Changes
	Undone  []journal.CommandRecord
	// Mark is the best bound so far, nil where none was recorded.
	Mark *journal.Mark
	// Asked are the settings of their own that people have asked for, oldest first.
	Asked []Asked
	// OpenSession is the session that began the open step.
	OpenSession int
	// Comparison is the last that was begun, nil: none, or none since the run was finished and
	// goes on; legs are its steps, compared says that it was ended. Comparisons, paid and legCount
	// are of all comparisons, PaidBefore of those before the run was finished.
	Comparison       *journal.Comparison
	Comparisons      int
	Legs             []plan.Leg
	Compared         bool
	Paid, PaidBefore plan.Money
	LegCount         int
	// Searched counts the concluded steps of the search.
	Searched int
}

// Asked is a command that was followed and asks for steps: who gave it, its arguments, and how
// many of its steps were made.
type Asked struct {
	Command   int64
	Who, Args string
	Made      int
	// Forgiven says that one of its steps is not counted: the process was killed or interrupted
	// before it was measured. No second one is, and none that may have given a dose.
	Forgiven bool
	// Transaction is the sender's name for it.
	Transaction string
}

// PendingTries are the settings that people have asked for and that were not measured as often as they
// wanted.
func PendingTries(all []Asked) (pending control.PendingTries) {
	for _, a := range all {
		t, err := control.ParseTry([]byte(a.Args))
		if left := t.Times - a.Made; err == nil && left > 0 {
			person := journal.Person{Command: a.Command, Who: a.Who, Reason: control.ReasonOf([]byte(a.Args))}
			pending = append(pending, control.PendingTry{Person: person, Try: t, Left: left})
		}
	}
	return pending
}

// charge is what one step cost.
type charge struct {
	Set  int
	Cost plan.Money
}

// Recall reads what an unfinished run has behind it.
func Recall(o *plan.Options, r *journal.Reader) (Past, error) {
	p, story, err := readEvents(o, r)
	if err != nil {
		return Past{}, err
	}
	last := map[int]time.Duration{} // by session, the last stamp of its steps; of comparisons only since the run was finished
	for s, err := range r.Steps() {
		if err != nil {
			return Past{}, err
		}
		counts := s.Decision.Compared.Comparison == 0 || s.Decision.Compared.Comparison > story.ended.Comparisons
		if counts {
			last[s.Session] = max(last[s.Session], s.Decision.At.Mono)
		}
		p.countAsked(o, &s.Decision, !s.Concluded || s.Outcome.Problem == journal.ProblemUnknown || s.Outcome.Problem == journal.ProblemInterrupted)
		p.Steps = s.Decision.Step
		if !s.Concluded {
			open := s.Decision
			p.Open, p.OpenSession = &open, s.Session
			break
		}
		if counts && s.Outcome.Problem != journal.ProblemUnknown { // else it is another session's stamp
			last[s.Session] = max(last[s.Session], s.Outcome.At.Mono)
		}
		p.Concluded++
		if s.Decision.Compared.Comparison > 0 {
			p.addLeg(s, story.abandoned[s.Decision.Step])
			if !counts {
				p.PaidBefore = p.Paid
			}
			continue
		}
		p.Searched++
		p.Charges = append(p.Charges, charge{o.Played(s.Decision.ControlSet), plan.AsMoney(s.Outcome.Cost)})
		p.Failures++
		if s.Outcome.Valid {
			p.Failures = 0
		}
	}
	for session, at := range last {
		p.Elapsed += at - story.waited[session]
	}
	p.Left = story.restedAt < p.Steps
	return p, nil
}

// countAsked counts a step that a person has asked for; broken says that it ended before it was
// measured.
func (p *Past) countAsked(o *plan.Options, d *journal.Decision, broken bool) {
	by, ok := d.Person()
	for i := range p.Asked {
		switch a := &p.Asked[i]; {
		case !ok || a.Command != by.Command:
		case broken && !a.Forgiven && !o.Gives(d.Applied):
			a.Forgiven = true
		default:
			a.Made++
		}
	}
}

// events is what events say about the past.
type events struct {
	abandoned map[int]bool
	// waited is, by session, how long it had waited before its first step.
	waited map[int]time.Duration
	// restedAt is the last step after which the actuators were at rest.
	restedAt int
	// ended is where the run was finished last, before it went on.
	ended journal.Ended
}

// readEvents reads what events and comparisons say about the past.
func readEvents(o *plan.Options, r *journal.Reader) (p Past, s events, err error) {
	s = events{abandoned: map[int]bool{}, waited: map[int]time.Duration{}, restedAt: -1}
	for e, err := range r.Events() {
		if err != nil {
			return p, s, err
		}
		switch e.Kind {
		case journal.EventAbandoned:
			s.abandoned[e.Step] = true
		case journal.EventChanged:
			c, err := plan.ReadChange(e)
			if err != nil {
				return p, s, err
			}
			p.Changes = append(p.Changes, c)
			p.Mark = nil // it begins anew
		case journal.EventContinued:
			if e.Facts.Ended != nil {
				s.ended = *e.Facts.Ended
			}
		case journal.EventBetter:
			p.Mark = e.Facts.Better
		case journal.EventWaited:
			s.waited[e.Session] += e.Facts.Waited
		case journal.EventShutdown:
			if e.Facts.AtRest {
				s.restedAt = e.Step
			}
		case journal.EventStart:
			if p.Start, err = startOf(e, len(o.Variables)); err != nil {
				return p, s, err
			}
		}
	}
	for c, err := range r.Commands() {
		if err != nil {
			return p, s, err
		}
		if control.IsEdit(c.Name) && c.Answer == nil && !slices.ContainsFunc(p.Changes, func(x plan.Change) bool { return x.Command == c.ID }) {
			p.Undone = append(p.Undone, c)
		}
		followed := c.Answer != nil && c.Answer.OK
		if c.ID > s.ended.Commands { // else it has ended the run, which goes on since
			p.WantBest = p.WantBest || c.Name == control.CommandSetBest && followed
			p.WantEnd = p.WantEnd || c.Name == control.CommandEnd && followed
		}
		if c.Name == control.CommandTry && (followed || c.Answer == nil) { // what may not be tried is refused again
			p.Asked = append(p.Asked, Asked{Command: c.ID, Who: control.OriginOf(c.Who, c.Transport), Args: c.Args, Transaction: c.Transaction})
		}
	}
	all, err := r.Comparisons()
	if p.Comparisons = len(all); err != nil || len(all) <= s.ended.Comparisons {
		return p, s, err
	}
	p.Comparison = &all[len(all)-1]
	results, err := r.ComparisonResults()
	p.Compared = len(results) > 0 && results[len(results)-1].Comparison == p.Comparison.Number
	return p, s, err
}

// addLeg counts a step of a comparison, and keeps it if it is of the last.
func (p *Past) addLeg(s journal.Step, abandoned bool) {
	p.LegCount++
	p.Paid = p.Paid.Plus(plan.AsMoney(s.Outcome.Cost))
	if c := s.Decision.Compared; p.Comparison != nil && c.Comparison == p.Comparison.Number {
		p.Legs = append(p.Legs, plan.Leg{Compared: c, Outcome: s.Outcome, Abandoned: abandoned, Session: s.Session})
	}
}

// Teach teaches the policy what the recorded steps brought and derives no decision: what a
// policy believes follows from its specification and its observations alone. Cost:
// that of the observations.
//
// Errors: what reading the journal gives, and a policy that refuses what was recorded.
func (p *Decisions) Teach(ctx context.Context, r *journal.Reader) error {
	p.Lenient = true
	if err := p.start(r); err != nil {
		return err
	}
	for s, err := range r.Steps() {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case p.Until > 0 && s.Decision.Step > p.Until:
			return nil
		case !s.Concluded || !p.teaches(s):
			continue
		}
		shots, err := r.Shots(s.Decision.Step)
		if err != nil {
			return err
		}
		if err := p.learn(s, shots); err != nil {
			return err
		}
		if p.Step != nil {
			p.Step(s.Decision.Step)
		}
	}
	return nil
}
