package journal

import (
	"github.com/labtuner/tuner/loop/journal/schema"
	"github.com/labtuner/tuner/loop/journal/store"
)

// batch are rows that are committed together: those of a step of a run that can be repeated, and of Together.
type batch struct {
	rows []store.Row
	// due are those before them, whose commit is under way beside what follows, or has failed.
	due      []store.Row
	underWay bool
	// together says that the rows are those of Together.
	together bool
}

// next makes what was gathered due, where nothing is; false: nothing is left.
func (b *batch) next() bool {
	if len(b.due) == 0 {
		b.due, b.rows = b.rows, b.due
	}
	return len(b.due) > 0
}

// done forgets what was due.
func (b *batch) done() {
	clear(b.due)
	b.due = b.due[:0]
}

// Together commits what fn records in one transaction: all of it, or, where fn or the disk fails, nothing. What
// names it in an error. fn is called once, and records no decision, comparison or end, which are refused; it may be recorded
// again after an error, as a single record may.
func (j *Journal) Together(what string, fn func() error) error {
	was, gathered, repeatable := j.progress, len(j.gathered.rows), j.gathers
	j.gathers, j.gathered.together = true, true
	err := fn()
	j.gathers, j.gathered.together = repeatable, false
	if err != nil {
		j.gathered.rows, j.progress = j.gathered.rows[:gathered], was
		return err
	}
	if repeatable || len(j.gathered.rows) == 0 { // all of a step is committed together
		return nil
	}
	rows, after := j.gathered.rows, j.progress
	j.gathered.rows, j.progress = nil, was
	if err := j.commit(what, rows...); err != nil {
		return err
	}
	j.progress = after
	return nil
}

const aStep = "a step"

// Settle commits what a run that can be repeated has gathered, for who reads the file next; after an error it waits for
// the next attempt. Of any other run all has been committed.
func (j *Journal) Settle() error {
	if j.gathered.together {
		return j.refuse("what is recorded together is committed together: a decision, a comparison and the end are recorded by themselves")
	}
	takeIn(j)
	for j.gathers && j.gathered.next() {
		if err := j.mend(); err != nil {
			return err
		}
		j.gathers = false
		err := j.commit(aStep, j.gathered.due...)
		j.gathers = true
		if err != nil {
			return err
		}
		j.gathered.done()
	}
	return nil
}

// settleBeside is Settle beside what the run does next, which takeIn hears of. After a failure it waits.
func settleBeside(j *Journal) error {
	takeIn(j)
	if !j.gathers || j.gathered.together || len(j.gathered.due) > 0 || j.doubt != nil {
		return j.Settle()
	}
	if j.gathered.next() {
		j.w.Begin(j.gathered.due)
		j.gathered.underWay = true
	}
	return nil
}

// takeIn waits for the commit that settleBeside began. Where it failed its rows are due still, and the journal is in
// doubt: the next attempt makes the connection anew, and tells what is wrong if that does not help.
func takeIn(j *Journal) {
	if !j.gathered.underWay {
		return
	}
	j.gathered.underWay = false
	if err := j.written(aStep, j.gathered.due, j.w.Wait()); err == nil {
		j.gathered.done()
	}
}

// states counts what has been recorded of what became of an action.
func states(j *Journal, action int64) (int64, error) {
	if j.newest.action == action {
		return j.newest.states, nil
	}
	takeIn(j)
	n, err := j.w.Count("SELECT count(*) FROM action_state WHERE action = ?", action)
	return n + statesAmong(j.gathered.due, action) + statesAmong(j.gathered.rows, action), err
}

// statesAmong counts the rows that say what became of an action.
func statesAmong(rows []store.Row, action int64) (n int64) {
	for _, r := range rows {
		if r.Table == "action_state" && r.Values[0] == schema.Integer(action) {
			n++
		}
	}
	return n
}
