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
		for from := 1; ; from += chunk {
			steps, err := r.loadSteps(from, from+chunk-1)
			for _, s := range steps {
				if !s.Concluded {
					s.Outcome.Spent = spent
				}
				spent = s.Outcome.Spent
				if !yield(s, nil) {
					return
				}
			}
			if err != nil {
				yield(Step{}, err)
				return
			}
			if len(steps) < chunk {
				return
			}
		}
	}
}

// loadSteps reads the steps first to last, as many as there are, and sees that
// none is missing a row. With an error come the steps before it.
func (r *Reader) loadSteps(first, last int) ([]Step, error) {
	var steps []Step
	err := r.read(func(tx *sql.Tx) error {
		var end sql.NullInt64
		if err := tx.QueryRow("SELECT max(step) FROM decision").Scan(&end); err != nil {
			return err
		}
		l := loader{r: r, tx: tx, first: first, where: span{where: "step BETWEEN ? AND ?", args: []any{first, last}}}
		err := l.load()
		var complete int
		if err == nil {
			complete, err = l.check(min(last, int(end.Int64)))
		}
		steps = l.steps[:complete]
		return err
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
		{"outcome", l.addOutcome}, {"outcome_value", l.addOutcomeValue},
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
		return // one before it is missing; check will say so
	}
	nan := math.NaN()
	l.steps = append(l.steps, Step{
		Decision: Decision{Step: c.int("step"), ControlSet: c.int("control_set"), Initial: c.flag("initial"),
			Work: c.int("work"), Cut: c.flag("cut"), Took: c.duration("took_ns"), Why: c.text("why"), At: c.stamp()},
		Outcome: Outcome{Step: c.int("step"), Mean: nan, Variance: nan, Cost: nan, Problem: "unfinished"},
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
		s.Outcome = Outcome{Step: c.int("step"), Mean: c.float("mean"), Variance: c.float("variance"),
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

// check sees that the steps up to end are there with all their rows, and gives
// how many are before the first that is not.
func (l *loader) check(end int) (complete int, err error) {
	n := len(l.r.run.Variables)
	for i := range l.steps {
		s, row := &l.steps[i], fmt.Sprintf("step %d", l.first+i)
		missing := func(table string) error {
			return l.r.corrupt(Damage{Table: table, Row: row, Problem: "a row is missing"})
		}
		switch {
		case len(s.Decision.Requested) != n:
			return i, missing("decision_value")
		case len(s.Decision.Reasons) != l.reasons[i]:
			return i, missing("reason")
		case s.Concluded && len(s.Outcome.X) != n:
			return i, missing("outcome_value")
		case !s.Concluded && l.first+i < end:
			return i, missing("outcome")
		}
		for !s.Concluded && len(s.Outcome.X) < n {
			s.Outcome.X = append(s.Outcome.X, math.NaN())
		}
	}
	if next := l.first + len(l.steps); next <= end {
		return len(l.steps), l.r.corrupt(Damage{Table: "decision", Row: fmt.Sprintf("step %d", next), Problem: "the row is missing"})
	}
	return len(l.steps), nil
}
