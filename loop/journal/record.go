package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/schema"
	"github.com/labtuner/tuner/loop/journal/store"
)

// commit records rows in one transaction, or with those that are gathered; what names them in an error.
func (j *Journal) commit(what string, rows ...store.Row) error {
	if j.gathers {
		j.gathered.rows = append(j.gathered.rows, rows...)
		return nil
	}
	switch there, err := j.repeated(rows); {
	case err != nil:
		return err
	case there:
		j.rows.add(rows, 1)
		return nil
	}
	return j.written(what, rows, j.w.Commit(rows))
}

// written takes in what became of a commit of rows.
func (j *Journal) written(what string, rows []store.Row, err error) error {
	if err = j.durable(what, err); err != nil {
		j.doubt = &doubt{rows: rows, disk: errors.Is(err, disk.ErrIO) && store.ResultCode(err)&0xff == store.CodeIOErr}
		j.newest = actionStates{}
		return err
	}
	j.rows.add(rows, 1)
	return nil
}

// durable says whether rows that were committed, but for err, stand where the journal belongs.
func (j *Journal) durable(what string, err error) error {
	if err != nil {
		return store.Fault(j.path, "record "+what, err)
	}
	if err := j.stillThere(); err != nil {
		return err
	}
	if j.lock == nil { // a journal that is being opened signs when it is
		return nil
	}
	return store.Fault(j.path, "write the lock file", j.lock.ExpectLog(true))
}

// writable refuses records after the end, and sees that there is something to write
// with after a failure.
func (j *Journal) writable() error {
	switch {
	case j.closed:
		return &disk.Error{Err: ErrClosed, Path: j.path, Hint: "open it again to append"}
	case j.finished:
		return &disk.Error{Err: ErrFinished, Path: j.path, Hint: "begin a new run in another file"}
	}
	return j.mend()
}

// tellable is writable for what may be said of a finished run too, where it is amended.
func tellable(j *Journal) error {
	if !j.closed && j.finished && j.amends {
		return j.mend()
	}
	return j.writable()
}

// refuse is the error for a record that does not fit the run.
func (j *Journal) refuse(format string, args ...any) error {
	return fmt.Errorf("journal %q: %w", j.path, fmt.Errorf(format, args...))
}

// stamped appends the columns that every record in time ends with.
func (j *Journal) stamped(at Stamp, values ...any) []any {
	return append(values, schema.Integer(j.session), schema.Integer(at.Mono), schema.Wall(at.Wall))
}

// Decide records a decision and opens its step. Steps count from 1 without gaps,
// and the step before must be concluded.
func (j *Journal) Decide(d Decision) error {
	if err := j.writable(); err != nil {
		return err
	}
	if err := settleBeside(j); err != nil {
		return err
	}
	n := len(j.variables)
	switch {
	case j.open:
		return j.refuse("step %d cannot begin while step %d is open; conclude that first", d.Step, j.step)
	case d.Step != j.step+1:
		return j.refuse("step %d cannot follow step %d; the next is %d", d.Step, j.step, j.step+1)
	case d.ControlSet < 0 || d.ControlSet >= j.controlSets:
		return j.refuse("step %d has control set %d, the run has 0 to %d", d.Step, d.ControlSet, j.controlSets-1)
	case d.Shots < 0:
		return j.refuse("step %d asks for %d shots", d.Step, d.Shots)
	case len(d.Requested) != n || len(d.Applied) != n:
		return j.refuse("step %d has %d requested and %d applied values, the run has %d variables",
			d.Step, len(d.Requested), len(d.Applied), n)
	}
	rows := []store.Row{store.RowOf("decision", j.stamped(d.At, schema.Integer(d.Step), schema.Integer(d.ControlSet), schema.Boolean(d.Initial), schema.Integer(d.Work),
		schema.Boolean(d.Cut), schema.Integer(d.Took), schema.Text(d.Why), schema.Integer(len(d.Reasons)))...)}
	for i := range n {
		rows = append(rows, store.RowOf("decision_value", schema.Integer(d.Step), schema.Integer(i), schema.Number(d.Requested[i]), schema.Number(d.Applied[i])))
	}
	for i, r := range d.Reasons {
		var variable any
		if r.Variable != "" {
			v, ok := j.variables[r.Variable]
			if !ok {
				return j.refuse("step %d has a reason about %q, which is no variable of the run", d.Step, r.Variable)
			}
			variable = schema.Integer(v)
		}
		rows = append(rows, store.RowOf("reason", schema.Integer(d.Step), schema.Integer(i), variable, schema.Text(r.Rule), schema.Number(r.From), schema.Number(r.To)))
	}
	if d.Shots != 0 {
		rows = append(rows, store.RowOf("decision_shots", schema.Integer(d.Step), schema.Integer(d.Shots)))
	}
	if c := d.Compared; c.Comparison > 0 {
		rows = append(rows, store.RowOf("comparison_step", schema.Integer(d.Step), schema.Integer(c.Comparison), schema.Integer(c.Pair), schema.Text(string(c.Side))))
	}
	if err := j.commit(fmt.Sprintf("the decision of step %d", d.Step), rows...); err != nil {
		return err
	}
	j.step, j.open, j.shots = d.Step, true, 0
	return nil
}

// Intend records what is about to be done to the instrument, before it is done:
// call it, then act. An intent that no Settle follows is one of which nobody
// knows whether it was carried out. Values must be finite.
func (j *Journal) Intend(a Action) (id int64, err error) {
	if err := j.writable(); err != nil {
		return 0, err
	}
	id = j.actions + 1
	rows := []store.Row{store.RowOf("action", j.stamped(a.At, schema.Integer(id), schema.Integer(a.Step), schema.Text(a.Device), schema.Text(a.Kind),
		schema.Integer(len(a.Values)+len(a.Release)))...)}
	n := 0
	channel := func(name string, value any) {
		rows = append(rows, store.RowOf("action_channel", schema.Integer(id), schema.Integer(n), schema.Text(name), value))
		n++
	}
	for _, name := range slices.Sorted(maps.Keys(a.Values)) {
		v := a.Values[name]
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0, j.refuse("step %d would send %v to channel %q of %q; only finite values are sent", a.Step, v, name, a.Device)
		}
		channel(name, schema.Number(v))
	}
	for _, name := range a.Release {
		channel(name, nil)
	}
	if err := j.commit(fmt.Sprintf("an intended %s of %q", a.Kind, a.Device), rows...); err != nil {
		return 0, err
	}
	j.actions, j.newest = id, actionStates{id, 0}
	return id, nil
}

// Resolve records what became of the action id; an action may be resolved more
// than once, as sent and then as confirmed. readback may be nil.
func (j *Journal) Resolve(id int64, s ActionState, readback map[string]float64, message string, at Stamp) error {
	if err := j.writable(); err != nil {
		return err
	}
	if id < 1 || id > j.actions {
		return j.refuse("there is no action %d to resolve, the last is %d", id, j.actions)
	}
	if !slices.Contains([]ActionState{Sent, Confirmed, Failed, Unknown}, s) {
		return j.refuse("action %d cannot become %q; an action is sent, confirmed, failed or unknown", id, s)
	}
	n, err := states(j, id)
	if err != nil {
		return store.Fault(j.path, "look for the action", err)
	}
	n += 1 - j.doubt.again(id)
	rows := []store.Row{store.RowOf("action_state", j.stamped(at, schema.Integer(id), schema.Integer(n), string(s), schema.Text(message), schema.Integer(len(readback)))...)}
	for i, name := range slices.Sorted(maps.Keys(readback)) {
		rows = append(rows, store.RowOf("action_readback", schema.Integer(id), schema.Integer(n), schema.Integer(i), schema.Text(name), schema.Number(readback[name])))
	}
	if err := j.commit(fmt.Sprintf("action %d as %s", id, s), rows...); err != nil {
		return err
	}
	j.newest = actionStates{id, n}
	return nil
}

// Shoot records shots of the open step in one transaction.
func (j *Journal) Shoot(shots []Shot) error {
	if err := j.writable(); err != nil {
		return err
	}
	if len(shots) == 0 {
		return nil
	}
	for _, s := range shots {
		switch {
		case !j.open || s.Step != j.step:
			return j.refuse("shot %d belongs to step %d, which is not open; the last step is %d", s.Index, s.Step, j.step)
		case len(s.X) != len(j.variables) || len(s.Sensors) != j.sensors:
			return j.refuse("shot %d of step %d has %d variables and %d sensors, the run has %d and %d",
				s.Index, s.Step, len(s.X), len(s.Sensors), len(j.variables), j.sensors)
		case s.Quality != nil && len(s.Quality) != j.sensors:
			return j.refuse("shot %d of step %d has %d qualities, the run has %d sensors", s.Index, s.Step, len(s.Quality), j.sensors)
		}
	}
	if err := j.commit(fmt.Sprintf("%d shots of step %d", len(shots), j.step), j.shotRows(shots)...); err != nil {
		return err
	}
	j.shots += len(shots)
	return nil
}

// cellsBlock is for how many values of rows memory is taken at a time.
const cellsBlock = 256

// shotRows are the rows of shots, table by table.
func (j *Journal) shotRows(shots []Shot) []store.Row {
	rows := make([]store.Row, 0, len(shots)*(1+len(j.variables)+j.sensors))
	var cells []any
	add := func(table string, values ...any) {
		if cap(cells)-len(cells) < len(values) {
			cells = make([]any, 0, cellsBlock)
		}
		n := len(cells)
		cells = append(cells, values...)
		rows = append(rows, store.RowOf(table, cells[n:len(cells):len(cells)]...))
	}
	for _, s := range shots {
		rows = append(rows, store.RowOf("shot", j.stamped(s.At, schema.Integer(s.Step), schema.Integer(s.Index), schema.Number(s.Objective))...))
	}
	for _, s := range shots {
		step, n := schema.Integer(s.Step), schema.Integer(s.Index)
		for i, x := range s.X {
			add("shot_value", step, n, schema.Integer(i), schema.Number(x))
		}
	}
	for _, s := range shots {
		step, n := schema.Integer(s.Step), schema.Integer(s.Index)
		for i, y := range s.Sensors {
			var quality any
			switch {
			case s.Quality != nil && s.Quality[i] != "":
				quality = schema.Text(s.Quality[i])
			case s.Quality == nil && math.IsNaN(y):
				quality = "missing"
			}
			add("shot_reading", step, n, schema.Integer(i), schema.Number(y), quality)
		}
	}
	return rows
}

// Conclude records the outcome of the open step and closes it.
func (j *Journal) Conclude(o Outcome) error {
	if err := j.writable(); err != nil {
		return err
	}
	switch {
	case !j.open || o.Step != j.step:
		return j.refuse("step %d cannot be concluded, it is not open; the last step is %d", o.Step, j.step)
	case len(o.X) != len(j.variables):
		return j.refuse("the outcome of step %d has %d values, the run has %d variables", o.Step, len(o.X), len(j.variables))
	}
	rows := []store.Row{store.RowOf("outcome", j.stamped(o.At, schema.Integer(o.Step), schema.Number(o.Mean), schema.Number(o.Variance), schema.Number(o.StandardError), schema.Integer(o.Shots),
		schema.Integer(j.shots), schema.Number(o.Cost), schema.Number(o.Spent), schema.Boolean(o.Valid), schema.Text(o.Problem))...)}
	for i, x := range o.X {
		rows = append(rows, store.RowOf("outcome_value", schema.Integer(o.Step), schema.Integer(i), schema.Number(x)))
	}
	if err := j.commit(fmt.Sprintf("the outcome of step %d", o.Step), rows...); err != nil {
		return err
	}
	j.open = false
	return nil
}

// Log records a line of the run's story.
func (j *Journal) Log(e Event) error {
	if err := tellable(j); err != nil {
		return err
	}
	if !slices.Contains([]string{"info", "warn", "error"}, e.Level) {
		return j.refuse("an event cannot have level %q; it is info, warn or error", e.Level)
	}
	id := schema.Integer(j.events + 1)
	rows := []store.Row{store.RowOf("event", j.stamped(e.At, id, e.Level, schema.Text(e.Kind), schema.Text(e.Message), schema.Integer(e.Step))...)}
	facts, err := json.Marshal(e.Facts)
	switch {
	case err != nil:
		return j.refuse("the facts of an event of kind %q: %w", e.Kind, err)
	case string(facts) != "{}":
		rows = append(rows, store.RowOf("event_facts", id, schema.Text(string(facts))))
	}
	if err := j.commit("an event", rows...); err != nil {
		return err
	}
	j.events++
	return nil
}

// Finish records the result, a JSON document that is kept as one line, and ends
// the run: the journal takes no more records. A step may be left open. The log is
// folded into the file; should only that fail, the error says so.
func (j *Journal) Finish(reason string, result []byte, at Stamp) error {
	if j.unfolded { // the result is recorded, and a disk that failed is tried again
		return foldResult(j)
	}
	if err := j.writable(); err != nil {
		return err
	}
	var line bytes.Buffer
	if err := json.Compact(&line, result); err != nil {
		return j.refuse("the result is no JSON document: %w", err)
	}
	if err := j.Settle(); err != nil {
		return err
	}
	j.gathers = false
	values := j.stamped(at, schema.Integer(1), schema.Text(reason), schema.Text(line.String()))
	if err := j.commit("the result", store.RowOf("result", values...)); err != nil {
		return err
	}
	j.finished = true
	return foldResult(j)
}

// foldResult folds the log of a finished run; where that fails, Finish may be called again for it.
func foldResult(j *Journal) error {
	err := j.checkpoint()
	j.unfolded = err != nil
	return store.Fault(j.path, "the result is recorded; fold the log", err)
}
