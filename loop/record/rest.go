package record

import "github.com/labtuner/tuner/loop/journal"

// WayToRest is the record of the way to rest: what is intended, and what became of it. A write that
// failed may be tried again, and goes on where it was.
type WayToRest struct {
	Actions []journal.Action
	// ids are those of the actions that are on record; they belong to the journal's worker.
	ids []int64
}

// Intend records what is going to be done.
func (w *WayToRest) Intend(j *journal.Journal) error {
	for len(w.ids) < len(w.Actions) {
		id, err := j.Intend(w.Actions[len(w.ids)])
		if err != nil {
			return err
		}
		w.ids = append(w.ids, id)
	}
	return nil
}

// Resolve records what became of it: confirmed where a device has had no trouble.
func (w *WayToRest) Resolve(trouble map[string]error, at journal.Stamp) func(*journal.Journal) error {
	done := 0
	return func(j *journal.Journal) error {
		for ; done < len(w.ids); done++ {
			state, message := journal.Confirmed, ""
			if err := trouble[w.Actions[done].Device]; err != nil {
				state, message = journal.Unknown, err.Error()
			}
			if err := j.Resolve(w.ids[done], state, nil, message, at); err != nil {
				return err
			}
		}
		return nil
	}
}
