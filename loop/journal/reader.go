package journal

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"path/filepath"

	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/schema"
)

// Reader reads a journal, finished or not, also while a process writes it; it
// never changes a record. Every row that it gives has passed its checksum, and a
// damaged or missing one ends the reading with an ErrCorrupt that names it; only
// Verify finds out that the last rows of a table are missing. Each
// call sees what was recorded before it began. A Reader may be used by several
// goroutines.
type Reader struct {
	path string
	db   *sql.DB
	// version is the file's schema when it was opened: tables that later ones have are
	// as good as empty.
	version int
	tables  map[string]*schema.Table
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
	r, err := openReader(path, readOnly)
	switch {
	case resultCode(err) == sqliteReadOnlyRollback:
		// The writer crashed in rollback mode: SQLite has to undo its last, never
		// acknowledged transaction first.
		r, err = openReader(path, recovered)
	case readOnlyPlace(path, err):
		r, err = openReader(path, immutable)
	}
	if err == nil && missing && r.keepsLog() {
		r.notices = append(r.notices, logMissingWords(path))
	}
	return r, err
}

func openReader(path string, a access) (*Reader, error) {
	db, err := open(path, a)
	if err != nil {
		return nil, fault(path, "open it", err)
	}
	r := &Reader{path: path, db: db}
	if err := r.start(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return r, nil
}

// start reads what every other reading relies on.
func (r *Reader) start() (err error) {
	if r.version, err = checkHeader(r.path, r.db); err != nil {
		return err
	}
	return r.read(func(tx *sql.Tx) (err error) {
		var damage []Damage
		if r.tables, damage, err = loadTables(tx, r.version); err != nil {
			return err
		}
		if len(damage) > 0 {
			return r.corrupt(damage[0])
		}
		r.run, err = r.loadRun(tx)
		return err
	})
}

// Close lets go of the file.
func (r *Reader) Close() error { return fault(r.path, "close it", r.db.Close()) }

// Version is the file's schema: 1 up to the newest that this tuner knows.
func (r *Reader) Version() int { return r.version }

// Path is the file's name as it was given.
func (r *Reader) Path() string { return r.path }

// Run gives the run as it was when it began. The caller must not change what its
// slices hold.
func (r *Reader) Run() Run { return r.run }

// read runs fn on one state of the file.
func (r *Reader) read(fn func(*sql.Tx) error) error {
	tx, err := r.db.BeginTx(context.Background(), nil)
	if err != nil {
		return fault(r.path, "read it", err)
	}
	err = fn(tx)
	if end := tx.Rollback(); err == nil { // else the first error says it all
		err = end
	}
	if code := resultCode(err) & 0xff; code == sqliteError || code == sqliteTooBig {
		// The queries are right for a sound file, and its values are small, so this one is not.
		return &disk.Error{Err: ErrCorrupt, Path: r.path, Detail: err.Error(), Hint: hintDamaged, Cause: err}
	}
	return fault(r.path, "read it", err)
}

// corrupt is the error for damage found while reading.
func (r *Reader) corrupt(d Damage) error {
	return &disk.Error{Err: ErrCorrupt, Path: r.path, Detail: d.String(), Hint: hintDamaged}
}

func (r *Reader) loadSessions(tx *sql.Tx) ([]Session, error) {
	var ss []Session
	err := r.scan(tx, span{table: "session"}, func(c *cells) {
		ss = append(ss, Session{Number: c.int("n"), PID: c.int("pid"), Version: c.text("version"),
			BootID: c.text("boot_id"), Start: c.stamp()})
	})
	if err == nil && len(ss) == 0 {
		err = r.corrupt(Damage{Table: "session", Row: "n 1", Problem: "the row is missing"})
	}
	return ss, err
}

// Sessions gives the processes that have written the journal, oldest first.
func (r *Reader) Sessions() ([]Session, error) {
	var ss []Session
	err := r.read(func(tx *sql.Tx) (err error) {
		ss, err = r.loadSessions(tx)
		return err
	})
	return ss, err
}

// Status says how far the run has come.
func (r *Reader) Status() (Status, error) {
	var s Status
	err := r.read(func(tx *sql.Tx) error {
		var decided, concluded sql.NullInt64
		row := tx.QueryRow(`SELECT (SELECT max(step) FROM decision), (SELECT max(step) FROM outcome),
			(SELECT max(n) FROM session)`)
		if err := row.Scan(&decided, &concluded, &s.Sessions); err != nil {
			return err
		}
		s.Steps, s.Concluded = int(decided.Int64), int(concluded.Int64)
		if r.version >= 2 {
			if err := tx.QueryRow("SELECT count(*) FROM comparison_step").Scan(&s.Compared); err != nil {
				return err
			}
		}
		return r.scan(tx, span{table: "result"}, func(c *cells) {
			s.Finished, s.Reason = true, c.text("reason")
		})
	})
	return s, err
}

// Result gives the end of the run; ok is false while there is none.
func (r *Reader) Result() (result Result, ok bool, err error) {
	err = r.read(func(tx *sql.Tx) error {
		return r.scan(tx, span{table: "result"}, func(c *cells) {
			result, ok = Result{Reason: c.text("reason"), Document: []byte(c.text("document")), At: c.stamp()}, true
		})
	})
	return result, ok, err
}

// Events gives the run's story, oldest first.
func (r *Reader) Events() iter.Seq2[Event, error] {
	return inPieces(r.loadEvents)
}

func (r *Reader) loadEvents(first, last int) ([]Event, error) {
	var events []Event
	err := r.read(func(tx *sql.Tx) error {
		where := span{table: "event", where: "id BETWEEN ? AND ?", args: []any{first, last}}
		err := r.scan(tx, where, func(c *cells) {
			if c.int("id") == first+len(events) { // else one before it is missing
				events = append(events, Event{Level: c.text("level"), Kind: c.text("kind"), Message: c.text("message"),
					Step: c.int("step"), At: c.stamp()})
			}
		})
		if err != nil {
			return err
		}
		return r.gapless(tx, piece{table: "event", first: first, last: last, found: len(events)})
	})
	return events, err
}
