package journal

import (
	"context"
	"encoding/json"

	"github.com/labtuner/tuner/loop/journal/schema"
	"github.com/labtuner/tuner/loop/journal/store"
)

// A finished run that goes on has no result any more. What it was stands in an event of kind
// EventContinued, which takes its place in one transaction with the session that goes on: a
// process that is killed leaves a run that is finished, or one that goes on.

// Ended is the result of a run that was finished and goes on.
type Ended struct {
	// Reason is why it had ended, Document its result, as Result has them.
	Reason   string          `json:"reason"`
	Document json.RawMessage `json:"document"`
	// Commands are how many commands it had been given, Comparisons how many comparisons with
	// the starting setting it had begun, Steps how many steps it had decided.
	Commands    int64 `json:"commands"`
	Comparisons int   `json:"comparisons"`
	Steps       int   `json:"steps"`
}

// enter records a session. words say why a finished run goes on.
func enter(j *Journal, s Session, words string) error {
	rows := sessionRows(s)
	if !j.finished || words == "" {
		return j.commit("the session", rows...)
	}
	more, err := endedRows(j, s, words)
	if err != nil {
		return err
	}
	rows = append(rows, more...)
	err = j.w.Transaction(func() error {
		if err := j.w.Insert(rows); err != nil {
			return err
		}
		return j.w.Exec("DELETE FROM result")
	})
	if err != nil {
		return store.Fault(j.path, "record that the run goes on", err)
	}
	j.rows.add(rows, 1)
	j.rows["result"], j.finished = 0, false
	j.events++
	return nil
}

// endedRows are the event that keeps the result.
func endedRows(j *Journal, s Session, words string) ([]store.Row, error) {
	e := Ended{Commands: j.commands, Steps: j.step}
	var document string
	if err := j.w.Conn().QueryRowContext(context.Background(), "SELECT reason, document FROM result").Scan(&e.Reason, &document); err != nil {
		return nil, store.Fault(j.path, "read the result", err)
	}
	e.Document = json.RawMessage(document)
	n, err := j.w.Count("SELECT count(*) FROM comparison")
	if err != nil {
		return nil, store.Fault(j.path, "count the comparisons", err)
	}
	e.Comparisons = int(n)
	facts, err := json.Marshal(Facts{Ended: &e})
	if err != nil {
		return nil, j.refuse("the result of before: %w", err)
	}
	id := schema.Integer(j.events + 1)
	return []store.Row{store.RowOf("event", j.stamped(s.Start, id, "info", EventContinued, schema.Text(words), schema.Integer(j.step))...),
		store.RowOf("event_facts", id, schema.Text(string(facts)))}, nil
}
