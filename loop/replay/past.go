package replay

import (
	"fmt"
	"strings"
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
	// where there is none. Whether it was carried out nobody knows.
	Open *journal.Decision
	// Elapsed is how long the sessions before ran, up to their last step.
	Elapsed time.Duration

	Charges  []charge
	Failures int
	// Start is where the run started, nil where that was not recorded.
	Start []float64
	// Left says that no process has brought the actuators to rest since the last step: the
	// one that drove them was killed.
	Left bool
	// WantBest says that somebody has ended the search.
	WantBest bool
	// OpenSession is the session that began the open step.
	OpenSession int
	// Comparison is the last that was begun, nil: none; legs are its steps, compared says
	// that it was ended. paid and legCount are of all comparisons.
	Comparison *journal.Comparison
	Legs       []plan.Leg
	Compared   bool
	Paid       plan.Money
	LegCount   int
}

// charge is what one step cost.
type charge struct {
	Set  int
	Cost plan.Money
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
			p.Open, p.OpenSession = &open, s.Session
			break
		}
		session = max(session, s.Outcome.At.Mono)
		p.Concluded++
		if s.Decision.Compared.Comparison > 0 {
			p.addLeg(s, abandoned[s.Decision.Step])
			continue
		}
		p.Charges = append(p.Charges, charge{o.Played(s.Decision.ControlSet), plan.AsMoney(s.Outcome.Cost)})
		p.Failures++
		if s.Outcome.Valid {
			p.Failures = 0
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
			if p.Start, err = ParseStart(e.Message, len(o.Variables)); err != nil {
				return p, nil, err
			}
		}
	}
	for c, err := range r.Commands() {
		if err != nil {
			return p, nil, err
		}
		p.WantBest = p.WantBest || c.Name == control.CommandSetBest && c.Answer != nil && c.Answer.OK
	}
	all, err := r.Comparisons()
	if err != nil || len(all) == 0 {
		return p, abandoned, err
	}
	p.Comparison = &all[len(all)-1]
	results, err := r.ComparisonResults()
	p.Compared = len(results) > 0 && results[len(results)-1].Comparison == p.Comparison.Number
	return p, abandoned, err
}

// addLeg counts a step of a comparison, and keeps it if it is of the last.
func (p *Past) addLeg(s journal.Step, abandoned bool) {
	p.LegCount++
	p.Paid = p.Paid.Plus(plan.AsMoney(s.Outcome.Cost))
	if c := s.Decision.Compared; p.Comparison != nil && c.Comparison == p.Comparison.Number {
		p.Legs = append(p.Legs, plan.Leg{Compared: c, Outcome: s.Outcome, Abandoned: abandoned, Session: s.Session})
	}
}

// waitedIn is the time that an event says was waited, 0 for others.
func waitedIn(e journal.Event) time.Duration {
	var text string
	if e.Kind != journal.EventWaited {
		return 0
	}
	if _, err := fmt.Sscanf(e.Message, strings.Replace(WaitedWords, "%v", "%s", 1), &text); err != nil {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0
	}
	return d
}

// WaitedWords is the event's message.
const WaitedWords = "waited %v for the resume"
