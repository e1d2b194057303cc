package journal

import (
	"database/sql"
	"fmt"
	"iter"
	"math"
)

// Steps gives every step in order, an open one last. It reads in pieces, each a
// short transaction, so a slow consumer does not hold up the writer; steps that
// are recorded meanwhile come along.
func (r *Reader) Steps() iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		spent := 0.0
		for s, err := range inPieces(r.loadSteps) {
			if err == nil && !s.Concluded {
				s.Outcome.Spent = spent
			}
			spent = s.Outcome.Spent
			if !yield(s, err) {
				return
			}
		}
	}
}

func (r *Reader) loadSteps(first, last int) ([]Step, error) {
	var steps []Step
	err := r.read(func(tx *sql.Tx) error {
		l := loader{r: r, tx: tx, first: first, where: span{where: "step BETWEEN ? AND ?", args: []any{first, last}}}
		if err := l.load(); err != nil {
			return err
		}
		complete, err := l.complete()
		steps = l.steps[:complete]
		if err != nil {
			return err
		}
		return r.gapless(tx, piece{table: "decision", first: first, last: last, found: complete})
	})
	return steps, err
}

// loader puts together steps from their tables.
type loader struct {
	r       *Reader
	tx      *sql.Tx
	first   int
	where   span
	steps   []Step
	reasons []int // how many each decision should have
}

// at finds the step of a row, nil if its decision is not there.
func (l *loader) at(c *cells) *Step {
	i := c.int("step") - l.first
	if i < 0 || i >= len(l.steps) {
		return nil
	}
	return &l.steps[i]
}

func (l *loader) load() error {
	tables := []struct {
		name string
		add  func(*cells)
	}{
		{"decision", l.addDecision}, {"decision_value", l.addDecisionValue}, {"reason", l.addReason},
		{"outcome", l.addOutcome}, {"outcome_value", l.addOutcomeValue}, {"comparison_step", l.addCompared},
	}
	for _, t := range tables {
		if err := l.r.scan(l.tx, l.where.of(t.name), t.add); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) addDecision(c *cells) {
	if c.int("step") != l.first+len(l.steps) {
		return // one before it is missing, as gapless will say
	}
	nan := math.NaN()
	l.steps = append(l.steps, Step{
		Decision: Decision{Step: c.int("step"), ControlSet: c.int("control_set"), Initial: c.flag("initial"),
			Work: c.int("work"), Cut: c.flag("cut"), Took: c.duration("took_ns"), Why: c.text("why"), At: c.stamp()},
		Outcome: Outcome{Step: c.int("step"), Mean: nan, Variance: nan, StandardError: nan, Cost: nan, Problem: "unfinished"},
		Session: c.int("session"),
	})
	l.reasons = append(l.reasons, c.int("reasons"))
}

func (l *loader) addDecisionValue(c *cells) {
	if s := l.at(c); s != nil {
		s.Decision.Requested = append(s.Decision.Requested, c.float("requested"))
		s.Decision.Applied = append(s.Decision.Applied, c.float("applied"))
	}
}

func (l *loader) addReason(c *cells) {
	s := l.at(c)
	if s == nil {
		return
	}
	var name string
	if !c.null("variable") {
		if v := c.int("variable"); v >= 0 && v < len(l.r.run.Variables) {
			name = l.r.run.Variables[v].Name
		}
	}
	s.Decision.Reasons = append(s.Decision.Reasons,
		Reason{Variable: name, Rule: c.text("rule"), From: c.float("from_value"), To: c.float("to_value")})
}

func (l *loader) addOutcome(c *cells) {
	if s := l.at(c); s != nil {
		s.Outcome = Outcome{Step: c.int("step"), Mean: c.float("mean"), Variance: c.float("variance"), StandardError: c.float("standard_error"),
			Shots: c.int("shots"), Cost: c.float("cost"), Spent: c.float("spent"),
			Valid: c.flag("valid"), Problem: c.text("problem"), At: c.stamp()}
		s.Concluded = true
	}
}

func (l *loader) addOutcomeValue(c *cells) {
	if s := l.at(c); s != nil {
		s.Outcome.X = append(s.Outcome.X, c.float("x"))
	}
}

// complete gives how many steps there are before the first that lacks a row.
func (l *loader) complete() (int, error) {
	var end sql.NullInt64
	if err := l.tx.QueryRow("SELECT max(step) FROM decision").Scan(&end); err != nil {
		return 0, err
	}
	n := len(l.r.run.Variables)
	for i := range l.steps {
		s := &l.steps[i]
		lacking := ""
		switch {
		case len(s.Decision.Requested) != n:
			lacking = "decision_value"
		case len(s.Decision.Reasons) != l.reasons[i]:
			lacking = "reason"
		case s.Concluded && len(s.Outcome.X) != n:
			lacking = "outcome_value"
		case !s.Concluded && l.first+i < int(end.Int64):
			lacking = "outcome"
		}
		if lacking != "" {
			return i, l.r.corrupt(Damage{Table: lacking, Row: fmt.Sprintf("step %d", l.first+i), Problem: "a row is missing"})
		}
		for !s.Concluded && len(s.Outcome.X) < n {
			s.Outcome.X = append(s.Outcome.X, math.NaN())
		}
	}
	return len(l.steps), nil
}
