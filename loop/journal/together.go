package journal

import "github.com/labtuner/tuner/loop/journal/schema"

// Together commits what fn records in one transaction: all of it, or, where fn or the disk fails, nothing. What
// names it in an error. fn is called once, and records no decision, comparison or end; it may be recorded again after an
// error, as a single record may.
func (j *Journal) Together(what string, fn func() error) error {
	was, gathered, repeatable := j.progress, len(j.gathered), j.gathers
	j.gathers = true
	err := fn()
	j.gathers = repeatable
	if err != nil {
		j.gathered, j.progress = j.gathered[:gathered], was
		return err
	}
	if repeatable || len(j.gathered) == 0 { // all of a step is committed together
		return nil
	}
	rows, after := j.gathered, j.progress
	j.gathered, j.progress = nil, was
	if err := j.commit(what, rows...); err != nil {
		return err
	}
	j.progress = after
	return nil
}

// Settle commits what a run that can be repeated has gathered, for who reads the file next; after an error it waits for
// the next attempt. Of any other run all has been committed.
func (j *Journal) Settle() error {
	if !j.gathers || len(j.gathered) == 0 {
		return nil
	}
	if err := j.mend(); err != nil {
		return err
	}
	j.gathers = false
	err := j.commit("a step", j.gathered...)
	j.gathers = true
	if err == nil {
		clear(j.gathered)
		j.gathered = j.gathered[:0]
	}
	return err
}

// states counts what has been recorded of what became of an action.
func states(j *Journal, action int64) (int64, error) {
	if j.newest.action == action {
		return j.newest.states, nil
	}
	n, err := j.w.states(action)
	return n + statesAmong(j.gathered, action), err
}

// statesAmong counts the rows that say what became of an action.
func statesAmong(rows []row, action int64) (n int64) {
	for _, r := range rows {
		if r.table == "action_state" && r.values[0] == schema.Integer(action) {
			n++
		}
	}
	return n
}
