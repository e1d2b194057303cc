package journal

import (
	"database/sql"
	"fmt"
	"iter"

	"github.com/labtuner/tuner/loop/journal/store"
)

// AllActions gives every action with what became of it, oldest first.
func (r *Reader) AllActions() iter.Seq2[ActionRecord, error] {
	return store.InPieces(r.loadActions)
}

// Actions gives the actions of a step, oldest first; those of step 0 belong to no
// step. It looks through the whole table of actions: to go through a run, use
// AllActions.
func (r *Reader) Actions(step int) ([]ActionRecord, error) {
	var first, last sql.NullInt64
	err := r.file.Read(func(tx *sql.Tx) error {
		return tx.QueryRow("SELECT min(id), max(id) FROM action WHERE step = ?", step).Scan(&first, &last)
	})
	if err != nil || !first.Valid {
		return nil, err
	}
	var actions []ActionRecord
	for from := int(first.Int64); from <= int(last.Int64); from += store.Chunk {
		piece, err := r.loadActions(from, min(from+store.Chunk-1, int(last.Int64)))
		if err != nil {
			return nil, err
		}
		for _, a := range piece {
			if a.Step == step {
				actions = append(actions, a)
			}
		}
	}
	return actions, nil
}

func (r *Reader) loadActions(first, last int) ([]ActionRecord, error) {
	l := actionLoader{r: r, first: first}
	complete := 0
	err := r.file.Read(func(tx *sql.Tx) error {
		of := func(column string) store.Span {
			return store.Span{Where: column + " BETWEEN ? AND ?", Args: []any{first, last}}
		}
		for _, t := range []struct {
			store.Span
			add func(*store.Cells)
		}{
			{of("id").Of("action"), l.addAction}, {of("action").Of("action_channel"), l.addChannel},
			{of("action").Of("action_state"), l.addState}, {of("action").Of("action_readback"), l.addReadback},
		} {
			if err := r.file.Scan(tx, t.Span, t.add); err != nil {
				return err
			}
		}
		var err error
		if complete, err = l.complete(); err != nil {
			return err
		}
		return r.file.Gapless(tx, store.Piece{Table: "action", First: first, Last: last, Found: complete})
	})
	return l.actions[:complete], err
}

// actionLoader puts together actions from their tables.
type actionLoader struct {
	r         *Reader
	first     int
	actions   []ActionRecord
	channels  []int   // how many each action should have, less those found
	readbacks [][]int // likewise for each state of each action
}

// at finds the action of a row by its column named.
func (l *actionLoader) at(c *store.Cells, column string) (int, bool) {
	i := c.Int(column) - l.first
	return i, i >= 0 && i < len(l.actions)
}

func (l *actionLoader) addAction(c *store.Cells) {
	if c.Int("id") != l.first+len(l.actions) {
		return // one before it is missing, as gapless will say
	}
	l.actions = append(l.actions, ActionRecord{ID: int64(c.Int("id")),
		Action: Action{Step: c.Int("step"), Device: c.Text("device"), Kind: c.Text("kind"), At: stampOf(c)}})
	l.channels, l.readbacks = append(l.channels, c.Int("channels")), append(l.readbacks, nil)
}

func (l *actionLoader) addChannel(c *store.Cells) {
	i, ok := l.at(c, "action")
	if !ok {
		return
	}
	l.channels[i]--
	a := &l.actions[i]
	if c.Null("value") {
		a.Release = append(a.Release, c.Text("channel"))
		return
	}
	if a.Values == nil {
		a.Values = map[string]float64{}
	}
	a.Values[c.Text("channel")] = c.Float("value")
}

func (l *actionLoader) addState(c *store.Cells) {
	i, ok := l.at(c, "action")
	if !ok || c.Int("n") != 1+len(l.readbacks[i]) {
		return // a gap leaves readbacks behind, or channels, or Verify to say so
	}
	l.actions[i].Resolutions = append(l.actions[i].Resolutions,
		Resolution{State: ActionState(c.Text("state")), Message: c.Text("message"), At: stampOf(c)})
	l.readbacks[i] = append(l.readbacks[i], c.Int("readbacks"))
}

func (l *actionLoader) addReadback(c *store.Cells) {
	i, ok := l.at(c, "action")
	n := c.Int("state") - 1
	if !ok || n < 0 || n >= len(l.readbacks[i]) {
		return
	}
	l.readbacks[i][n]--
	s := &l.actions[i].Resolutions[n]
	if s.Readback == nil {
		s.Readback = map[string]float64{}
	}
	s.Readback[c.Text("channel")] = c.Float("value")
}

// complete gives how many actions there are before the first that lacks a row.
func (l *actionLoader) complete() (int, error) {
	for i := range l.actions {
		lacking := ""
		if l.channels[i] != 0 {
			lacking = "action_channel"
		}
		for _, n := range l.readbacks[i] {
			if n != 0 {
				lacking = "action_readback"
			}
		}
		if lacking != "" {
			return i, l.r.file.Corrupt(store.Damage{Table: lacking, Row: fmt.Sprintf("action %d", l.first+i), Problem: "a row is missing"})
		}
	}
	return len(l.actions), nil
}
