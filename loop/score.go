package loop

import (
	"fmt"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// score is how far the search has come.
type score struct {
	ledger plan.Ledger
	// steps counts all that were concluded, legs those of them that were steps of the
	// comparison, which have an account of their own: spent.
	steps, legs int
	spent       plan.Money
	// paidBefore is what of it comparisons have cost before the run was finished and went on.
	paidBefore plan.Money
	// failures counts the failed steps in a row, broken those that broke a constraint.
	failures, broken int
	// unread counts the steps of this session of which the cost was not read.
	unread int
	// cuts counts the decisions of this session that the deadline has cut; starved says that one had
	// less than fewUnits.
	cuts    int
	starved bool
	// lastProblem is why the last steps failed, reported once in a row.
	lastProblem string
	// best is the recommendation after the last step, in the user's sense, last the
	// newest decision and outcome; nil: none yet.
	best *policy.Recommendation
	last *journal.Decision
	// marked is the best bound so far.
	marked      plan.Marked
	lastOutcome *journal.Outcome
	shownScore
}

// shownScore is what statuses say again and again: of a decision, and of an outcome.
type shownScore struct {
	decided   *journal.Decision
	decision  *control.DecisionStatus
	concluded *journal.Outcome
	outcome   *control.OutcomeStatus
}

// charge books what a step cost: that of a comparison has an account of its own.
func (l *score) charge(set int, cost plan.Money, compared bool) {
	if compared {
		l.spent = l.spent.Plus(cost)
		l.legs++
		return
	}
	l.ledger.Charge(set, cost)
}

// countUnread counts a step of which the cost was not read, for a reason, and says so for the first one of
// a session.
func (l *score) countUnread(step int, charged plan.Money, why error, o *plan.Options) string {
	if why == nil {
		return ""
	}
	if l.unread++; l.unread > 1 {
		return ""
	}
	return fmt.Sprintf("the cost of step %d was not read (%v): it is charged %s, what such steps cost so far, or else the file's cost; "+
		"further ones are not told of", step, why, o.Sum(charged.Float()))
}

// total is what was spent altogether.
func (l *score) total() float64 { return l.ledger.Spent.Plus(l.spent).Float() }

// fewUnits of work are fewer than a search needs to find something: docs/development/campaigns.md, "What a cut costs".
const fewUnits = 3

// countCut counts a decision that the deadline has cut, and says so for the first one of a
// session, since nothing else shows that a search is poorer than it could be, and for the first one that
// found little.
func (l *score) countCut(d *journal.Decision, deadline time.Duration) string {
	if !d.Cut {
		return ""
	}
	l.cuts++
	starved := d.Work < fewUnits && !l.starved
	if l.cuts > 1 && !starved {
		return ""
	}
	found := ""
	if starved {
		l.starved, found = true, ", with which it finds little"
	}
	return fmt.Sprintf("the deadline of %v has cut the search of step %d after %s of work%s: raise deadline in [policy] (tuner check says how far); "+
		"further cuts are counted in the status", deadline, d.Step, plan.Counted(d.Work, "unit"), found)
}

// searched counts the steps that the policy decided.
func (l *score) searched() int { return l.steps - l.legs }

// left estimates the time until the earliest stop condition; negative if nothing is known yet.
func (l *score) left(o *plan.Options, elapsed time.Duration) time.Duration {
	return o.Left(l.searched(), l.ledger.Spent.Float(), elapsed)
}

// decisionStatus is the newest decision, nil before the first.
func (l *score) decisionStatus(o *plan.Options, v plan.View) *control.DecisionStatus {
	if l.last == nil {
		return nil
	}
	if s := &l.shownScore; s.decided != l.last {
		s.decided, s.decision = l.last, control.DecisionOf(o, l.last)
	}
	return l.shownScore.decision.Now(o, l.lastOutcome, l.cuts, v)
}

// outcomeStatus is the newest outcome, nil before the first.
func (l *score) outcomeStatus() *control.OutcomeStatus {
	if s := &l.shownScore; s.concluded != l.lastOutcome {
		s.concluded, s.outcome = l.lastOutcome, control.OutcomeOf(l.lastOutcome)
	}
	return l.shownScore.outcome
}

// recommendedStatus is the best setting so far, nil where there is none.
func (l *score) recommendedStatus(o *plan.Options) *control.RecommendedStatus {
	if l.best == nil {
		return nil
	}
	return control.RecommendedOf(o, o.Run.Name, l.best)
}
