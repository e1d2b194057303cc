package journal

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path/filepath"

	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/schema"
	"github.com/labtuner/tuner/loop/journal/store"
)

// Reader reads a journal, finished or not, also while a process writes it; it
// never changes a record. Every row that it gives has passed its checksum, and a
// damaged or missing one ends the reading with an ErrCorrupt that names it; only
// Verify finds out that the last rows of a table are missing. Each
// call sees what was recorded before it began. A Reader may be used by several
// goroutines.
type Reader struct {
	file    *store.File
	run     Run
	notices []string
}

// OpenReader opens the journal at path for reading. It reads the run; whether
// all the rest is sound, Verify tells.
//
// Errors: fs.ErrNotExist, ErrCorrupt, ErrVersion, ErrIO.
func OpenReader(path string) (*Reader, error) {
	if err := present(path); err != nil {
		return nil, err
	}
	missing := false
	if real, err := filepath.EvalSymlinks(path); err == nil {
		missing = logMissing(real)
	}
	r, err := openReader(path, store.ReadOnly)
	switch {
	case store.ResultCode(err) == store.CodeReadOnlyRollback:
		// The writer crashed in rollback mode: SQLite has to undo its last, never
		// acknowledged transaction first.
		r, err = openReader(path, store.Recovered)
	case store.ReadOnlyPlace(path, err):
		r, err = openReader(path, store.Immutable)
	}
	if err == nil && missing && r.file.KeepsLog() {
		r.notices = append(r.notices, logMissingWords(path))
	}
	return r, err
}

func openReader(path string, a store.Access) (*Reader, error) {
	f, err := store.OpenFile(path, a)
	if err != nil {
		return nil, err
	}
	r := &Reader{file: f}
	err = f.Read(func(tx *sql.Tx) (err error) {
		r.run, err = r.loadRun(tx)
		return err
	})
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

// Close lets go of the file.
func (r *Reader) Close() error { return r.file.Close() }

// Version is the file's schema: 1 up to the newest that this tuner knows.
func (r *Reader) Version() int { return r.file.Version }

// Path is the file's name as it was given.
func (r *Reader) Path() string { return r.file.Path }

// Run gives the run as it was when it began. The caller must not change what its
// slices hold.
func (r *Reader) Run() Run { return r.run }

func (r *Reader) loadSessions(tx *sql.Tx) ([]Session, error) {
	var ss []Session
	err := r.file.Scan(tx, store.Span{Table: "session"}, func(c *store.Cells) {
		ss = append(ss, Session{Number: c.Int("n"), PID: c.Int("pid"), Version: c.Text("version"),
			BootID: c.Text("boot_id"), Decisions: schema.OlderDecisions, Start: stampOf(c)})
	})
	if err == nil {
		err = r.file.Scan(tx, store.Span{Table: "session_decisions"}, func(c *store.Cells) {
			if n := c.Int("session"); n >= 1 && n <= len(ss) {
				ss[n-1].Decisions = c.Int("decisions")
			}
		})
	}
	if err == nil && len(ss) == 0 {
		err = r.file.Corrupt(store.Damage{Table: "session", Row: "n 1", Problem: "the row is missing"})
	}
	return ss, err
}

// Sessions gives the processes that have written the journal, oldest first.
func (r *Reader) Sessions() ([]Session, error) {
	var ss []Session
	err := r.file.Read(func(tx *sql.Tx) (err error) {
		ss, err = r.loadSessions(tx)
		return err
	})
	return ss, err
}

// Verify reads the whole file and gives everything that is wrong with it, at most
// 100 things: SQLite's own check of the structure, every row's checksum, and rows
// that other rows say should be there. nil means that every record is as it was
// written. It takes one pass over the file for SQLite and one for the checksums.
func (r *Reader) Verify() []store.Damage {
	return r.file.Verify(schema.View(r.file.Version, r.run.variableNames()))
}

// Sound is Verify as an error, nil where every record is as it was written.
func (r *Reader) Sound() error {
	damage := r.Verify()
	if len(damage) == 0 {
		return nil
	}
	detail := damage[0].String()
	if n := len(damage) - 1; n > 0 {
		detail += fmt.Sprintf(" (and %d more)", n)
	}
	return &disk.Error{Err: store.ErrCorrupt, Path: r.file.Path, Detail: detail, Hint: store.HintDamaged}
}

// Status says how far the run has come.
func (r *Reader) Status() (Status, error) {
	var s Status
	err := r.file.Read(func(tx *sql.Tx) error {
		var decided, concluded sql.NullInt64
		row := tx.QueryRow(`SELECT (SELECT max(step) FROM decision), (SELECT max(step) FROM outcome),
			(SELECT max(n) FROM session)`)
		if err := row.Scan(&decided, &concluded, &s.Sessions); err != nil {
			return err
		}
		s.Steps, s.Concluded = int(decided.Int64), int(concluded.Int64)
		if r.file.Version >= 2 {
			if err := tx.QueryRow("SELECT count(*) FROM comparison_step").Scan(&s.Compared); err != nil {
				return err
			}
		}
		return r.file.Scan(tx, store.Span{Table: "result"}, func(c *store.Cells) {
			s.Finished, s.Reason = true, c.Text("reason")
		})
	})
	return s, err
}

// Census counts the rows of each table of the file.
func (r *Reader) Census() (rows map[string]int64, err error) {
	err = r.file.Read(func(tx *sql.Tx) (err error) {
		rows, err = store.Counts(tx, r.file.Version)
		return err
	})
	return rows, err
}

// Result gives the end of the run; ok is false while there is none.
func (r *Reader) Result() (result Result, ok bool, err error) {
	err = r.file.Read(func(tx *sql.Tx) error {
		return r.file.Scan(tx, store.Span{Table: "result"}, func(c *store.Cells) {
			result, ok = Result{Reason: c.Text("reason"), Document: []byte(c.Text("document")), At: stampOf(c)}, true
		})
	})
	return result, ok, err
}

// Events gives the run's story, oldest first.
func (r *Reader) Events() iter.Seq2[Event, error] {
	return store.InPieces(r.loadEvents)
}

func (r *Reader) loadEvents(first, last int) ([]Event, error) {
	var events []Event
	err := r.file.Read(func(tx *sql.Tx) error {
		where := store.Span{Table: "event", Where: "id BETWEEN ? AND ?", Args: []any{first, last}}
		err := r.file.Scan(tx, where, func(c *store.Cells) {
			if c.Int("id") == first+len(events) { // else one before it is missing
				e := Event{Level: c.Text("level"), Kind: c.Text("kind"), Message: c.Text("message"),
					Step: c.Int("step"), At: stampOf(c), Session: c.Int("session")}
				if older := olderFacts[e.Kind]; older != nil {
					e.Facts = older(e)
				}
				events = append(events, e)
			}
		})
		if err != nil {
			return err
		}
		var bad error
		facts := store.Span{Table: "event_facts", Where: "event BETWEEN ? AND ?", Args: []any{first, last}}
		err = r.file.Scan(tx, facts, func(c *store.Cells) {
			if i := c.Int("event") - first; i >= 0 && i < len(events) {
				events[i].Facts = Facts{}
				bad = errors.Join(bad, json.Unmarshal([]byte(c.Text("facts")), &events[i].Facts))
			}
		})
		if err == nil {
			err = bad
		}
		if err != nil {
			return err
		}
		return r.file.Gapless(tx, store.Piece{Table: "event", First: first, Last: last, Found: len(events)})
	})
	return events, err
}
