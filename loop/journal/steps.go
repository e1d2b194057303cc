package journal

import (
	"database/sql"
	"fmt"
	"iter"
	"math"

	"github.com/labtuner/tuner/loop/journal/store"
)

// Steps gives every step in order, an open one last. It reads in pieces, each a
// short transaction, so a slow consumer does not hold up the writer; steps that
// are recorded meanwhile come along.
func (r *Reader) Steps() iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		spent := 0.0
		for s, err := range store.InPieces(r.loadSteps) {
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

// LastSearched gives the last step that is none of a comparison, of those up to until, or of
// all where that is 0; 0: there is none.
func (r *Reader) LastSearched(until int) (last int, err error) {
	err = r.file.Read(func(tx *sql.Tx) error {
		query := "SELECT ifnull(max(step), 0) FROM decision WHERE (step <= ? OR ? = 0)"
		if r.file.Version >= 2 {
			query += " AND step NOT IN (SELECT step FROM comparison_step)"
		}
		return tx.QueryRow(query, until, until).Scan(&last)
	})
	return last, err
}

func (r *Reader) loadSteps(first, last int) ([]Step, error) {
	var steps []Step
	err := r.file.Read(func(tx *sql.Tx) error {
		l := loader{r: r, tx: tx, first: first, where: store.Span{Where: "step BETWEEN ? AND ?", Args: []any{first, last}}}
		if err := l.load(); err != nil {
			return err
		}
		complete, err := l.complete()
		steps = l.steps[:complete]
		if err != nil {
			return err
		}
		return r.file.Gapless(tx, store.Piece{Table: "decision", First: first, Last: last, Found: complete})
	})
	return steps, err
}

// loader puts together steps from their tables.
type loader struct {
	r       *Reader
	tx      *sql.Tx
	first   int
	where   store.Span
	steps   []Step
	reasons []int // how many each decision should have
}

// at finds the step of a row, nil if its decision is not there.
func (l *loader) at(c *store.Cells) *Step {
	i := c.Int("step") - l.first
	if i < 0 || i >= len(l.steps) {
		return nil
	}
	return &l.steps[i]
}

func (l *loader) load() error {
	tables := []struct {
		name string
		add  func(*store.Cells)
	}{
		{"decision", l.addDecision}, {"decision_value", l.addDecisionValue}, {"reason", l.addReason},
		{"outcome", l.addOutcome}, {"outcome_value", l.addOutcomeValue}, {"decision_shots", l.addShots}, {"comparison_step", l.addCompared},
	}
	for _, t := range tables {
		if err := l.r.file.Scan(l.tx, l.where.Of(t.name), t.add); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) addDecision(c *store.Cells) {
	if c.Int("step") != l.first+len(l.steps) {
		return // one before it is missing, as gapless will say
	}
	nan := math.NaN()
	l.steps = append(l.steps, Step{
		Decision: Decision{Step: c.Int("step"), ControlSet: c.Int("control_set"), Initial: c.Flag("initial"),
			Work: c.Int("work"), Cut: c.Flag("cut"), Took: c.Duration("took_ns"), Why: c.Text("why"), At: stampOf(c)},
		Outcome: Outcome{Step: c.Int("step"), Mean: nan, Variance: nan, StandardError: nan, Cost: nan, Problem: "unfinished"},
		Session: c.Int("session"),
	})
	l.reasons = append(l.reasons, c.Int("reasons"))
}

func (l *loader) addShots(c *store.Cells) {
	if s := l.at(c); s != nil {
		s.Decision.Shots = c.Int("shots")
	}
}

func (l *loader) addDecisionValue(c *store.Cells) {
	if s := l.at(c); s != nil {
		s.Decision.Requested = append(s.Decision.Requested, c.Float("requested"))
		s.Decision.Applied = append(s.Decision.Applied, c.Float("applied"))
	}
}

func (l *loader) addReason(c *store.Cells) {
	s := l.at(c)
	if s == nil {
		return
	}
	var name string
	if !c.Null("variable") {
		if v := c.Int("variable"); v >= 0 && v < len(l.r.run.Variables) {
			name = l.r.run.Variables[v].Name
		}
	}
	s.Decision.Reasons = append(s.Decision.Reasons,
		Reason{Variable: name, Rule: c.Text("rule"), From: c.Float("from_value"), To: c.Float("to_value")})
}

func (l *loader) addOutcome(c *store.Cells) {
	if s := l.at(c); s != nil {
		s.Outcome = Outcome{Step: c.Int("step"), Mean: c.Float("mean"), Variance: c.Float("variance"), StandardError: c.Float("standard_error"),
			Shots: c.Int("shots"), Cost: c.Float("cost"), Spent: c.Float("spent"),
			Valid: c.Flag("valid"), Problem: c.Text("problem"), At: stampOf(c)}
		s.Concluded = true
	}
}

func (l *loader) addOutcomeValue(c *store.Cells) {
	if s := l.at(c); s != nil {
		s.Outcome.X = append(s.Outcome.X, c.Float("x"))
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
			return i, l.r.file.Corrupt(store.Damage{Table: lacking, Row: fmt.Sprintf("step %d", l.first+i), Problem: "a row is missing"})
		}
		for !s.Concluded && len(s.Outcome.X) < n {
			s.Outcome.X = append(s.Outcome.X, math.NaN())
		}
	}
	return len(l.steps), nil
}
