package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/schema"
	"github.com/labtuner/tuner/loop/journal/store"
)

// Journal is a journal open for writing. It belongs to one goroutine. Each
// method that records is one transaction and returns when that is on the disk,
// which takes at least one fsync: the loop must not call it from a tick that has
// to be on time. After an error the record was not kept, the journal is as it
// was, and the call may be repeated: the file is then opened again first, and must
// hold what was acknowledged.
type Journal struct {
	// path is where the journal is now, home where it belongs: they differ while a rescued
	// copy cannot take its name.
	path, home string
	shown      atomic.Pointer[string] // path, for other goroutines
	lock       *disk.Lock
	// w is the connection; nil: there is none after a failure.
	w *store.Writer
	// files are those that w has open, by identify.
	files    parts
	content  contents
	identify func(name string) (disk.FileID, error)
	// held and news are for who runs; see Look.
	held    string
	news    []News
	wal     bool
	session int
	notices []string

	// The shape of the run.
	run         string // its id
	variables   map[string]int
	sensors     int
	controlSets int

	// progress is what has been recorded so far; rows are counted, by table, once they are committed.
	progress
	rows     tally
	finished bool
	// gathers says that rows are gathered to be committed together.
	gathers  bool
	gathered batch
	// amends: commands, answers and events may be recorded though the run is finished.
	amends bool
	// unfolded: the result is recorded, and its log is not folded yet.
	unfolded bool
	closed   bool

	// doubt is what the last transaction left if it failed; nil: nothing.
	doubt *doubt
}

// actionStates is an action, 0: none, and how often what became of it is on record.
type actionStates struct{ action, states int64 }

// progress is where a record stands.
type progress struct {
	step     int  // the last decision's
	open     bool // it has no outcome yet
	shots    int  // rows in shot of the open step
	actions  int64
	events   int64
	commands int64
	tapes    int64
	// newest is the action that was recorded or resolved last; 0: not known.
	newest actionStates
}

// Open opens the journal of an unfinished run, or with Options.Continue of a finished one, to
// append to it, and records a new session. It first reads and checks every row, for which BenchmarkOpen found 1.4
// microseconds a row.
//
// Errors: fs.ErrNotExist, ErrLocked naming the process that has it, ErrLinked, ErrFinished,
// ErrCorrupt naming table and row, ErrVersion, ErrIO.
func Open(path string, opts Options) (*Journal, error) {
	s := opts.Session
	if s.PID == 0 {
		s.PID = os.Getpid()
	}
	if err := present(path); err != nil { // before a lock file is made beside it
		return nil, err
	}
	// A journal by two names has one lock, the one beside the file itself.
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, store.Fault(path, "find the file", err)
	}
	if err := disk.OneName(real); err != nil {
		return nil, err
	}
	missing := logMissing(real)
	h := s.holder()
	h.NoLog = !missing && !store.HasLog(real)
	l, err := disk.TakeLock(real, h)
	if err != nil {
		return nil, err
	}
	opts.logMissing = missing
	j, err := openLocked(real, s, opts)
	if err != nil {
		return nil, errors.Join(err, l.Release())
	}
	j.lock = l
	if err := l.ExpectLog(true); err != nil { // the session's row stands in it
		return nil, errors.Join(store.Fault(path, "write the lock file", err), j.Close())
	}
	return j, nil
}

// openLocked does Open's work under the lock. All checks are made by a reader,
// so that a journal that is refused is left as it was found.
func openLocked(path string, s Session, opts Options) (*Journal, error) {
	r, err := OpenReader(path)
	if err != nil {
		return nil, err
	}
	err = r.Sound()
	status, serr := r.Status()
	version, lost := r.Version(), opts.logMissing && r.file.KeepsLog()
	if err := errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	if serr != nil {
		return nil, serr
	}
	if status.Finished && opts.Continue == "" && !opts.Amend {
		return nil, &disk.Error{Err: ErrFinished, Path: path,
			Detail: fmt.Sprintf("%d steps, ended by %q", status.Steps-status.Compared, status.Reason),
			Hint:   "export it, or begin a new run with --new or in another file"}
	}
	if version < schema.Extended {
		return nil, &disk.Error{Err: store.ErrVersion, Path: path,
			Detail: fmt.Sprintf("its schema is version %d, and a run goes on with version %d or newer only", version, schema.Extended),
			Hint:   "end it with the version of tuner that made it, or begin a new run with --new; --warm-start takes over what this one measured"}
	}
	s.Number = status.Sessions + 1
	if version < schema.Goal(version) {
		opts.extend = version
	}
	j, err := attach(path, s, opts)
	if err != nil {
		return nil, err
	}
	if lost {
		j.notices = append(j.notices, logMissingWords(path))
	}
	if err := errors.Join(enter(j, s, opts.Continue), j.tell(s.Start)); err != nil {
		return nil, errors.Join(err, j.w.Close())
	}
	return j, nil
}

// Configure records the configuration that this session goes on by; the first
// session's was recorded with the run. It is called once, right after Open. Of run, the
// configuration's fields count.
func (j *Journal) Configure(run Run) error {
	if err := j.writable(); err != nil {
		return err
	}
	return j.commit("the configuration", configRows(run, j.session)...)
}

// tell records the notices, so that they are known wherever the file goes.
func (j *Journal) tell(at Stamp) error {
	for _, n := range j.notices {
		if err := j.Log(Event{Level: "warn", Kind: "journal", Message: n, At: at}); err != nil {
			return err
		}
	}
	return nil
}

// present says in words that there is no file.
func present(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &disk.Error{Err: fs.ErrNotExist, Path: path, Hint: "check the name; a run makes its journal when it starts", Cause: err}
	case err != nil:
		return &disk.Error{Err: disk.ErrIO, Path: path, Detail: err.Error(), Hint: "see that the folder can be read", Cause: err}
	case !info.Mode().IsRegular():
		return &disk.Error{Err: store.ErrCorrupt, Path: path, Detail: "it is not a regular file", Hint: "give the name of a journal"}
	case info.Size() == 0:
		return &disk.Error{Err: disk.ErrNoJournal, Cause: store.ErrCorrupt, Path: path, Detail: "it is empty",
			Hint: "remove it, or give another name: a journal appears under its name only when it holds a run"}
	}
	return nil
}

// attach connects to a sound journal for writing, in the mode that its file
// system bears, and finds out where it stands.
func attach(path string, s Session, opts Options) (*Journal, error) {
	look := opts.FileSystem
	if look == nil {
		look = disk.Locate
	}
	fsys, err := look(path)
	if err != nil {
		return nil, store.Fault(path, "look at the file system", err)
	}
	a := store.WriteWAL
	if !fsys.SharedMemory {
		a = store.WriteRollback
	}
	seen := opts.identify
	if seen == nil {
		seen = disk.Identify
	}
	before, err := seen(path)
	if err != nil {
		return nil, store.Fault(path, "look at it", err)
	}
	w, err := store.Connect(path, a)
	if err != nil {
		return nil, store.Fault(path, "open it for writing", err)
	}
	j := &Journal{home: path, amends: opts.Amend, w: w, wal: a == store.WriteWAL, session: s.Number, identify: seen}
	j.goTo(path)
	bring := func() error { return extend(w, opts.extend) }
	relax := func() error {
		if !opts.Repeatable || !j.wal {
			return nil
		}
		return w.Exec("PRAGMA synchronous = NORMAL")
	}
	for _, begin := range []func() error{relax, bring, w.Resume, j.load} {
		if err := begin(); err != nil {
			return nil, errors.Join(store.Fault(path, "open it for writing", err), w.Close())
		}
	}
	if err := j.checkMode(fsys); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	if opts.extend > 0 {
		j.notices = append(j.notices, fmt.Sprintf("its schema was brought from version %d to %d, so an earlier tuner cannot go on with it", opts.extend, schema.Goal(opts.extend)))
	}
	// What stands at the name now is what was opened, unless another process was faster.
	if j.files, err = j.look(); err != nil {
		return nil, errors.Join(store.Fault(path, "look at it", err), w.Close())
	}
	if j.files.main != before {
		return nil, errors.Join(j.moved(nameTaken), w.Close())
	}
	if err := j.content.watch(j.path, j.files); err != nil {
		return nil, errors.Join(store.Fault(path, "look at it", err), w.Close())
	}
	return j, nil
}

// checkMode sees that SQLite took the mode that was asked for, and gives notice
// where it is not the usual one.
func (j *Journal) checkMode(fsys disk.FileSystem) error {
	var mode string
	if err := j.w.Conn().QueryRowContext(context.Background(), "PRAGMA journal_mode").Scan(&mode); err != nil {
		return store.Fault(j.path, "read the mode", err)
	}
	if want := map[bool]string{true: "wal", false: "delete"}[j.wal]; mode != want {
		return &disk.Error{Err: disk.ErrIO, Path: j.path, Detail: fmt.Sprintf("SQLite keeps journal mode %q, %q was asked for", mode, want),
			Hint: "put the journal on a local disk"}
	}
	if !j.wal {
		j.notices = append(j.notices, fmt.Sprintf("the journal lies on a %s file system: it is written more slowly, "+
			"and copies on other machines may be late; a local disk is better", fsys.Name))
	}
	return nil
}

// load finds out what the file holds.
func (j *Journal) load() error {
	var decided, concluded sql.NullInt64
	var variables int
	row := j.w.Conn().QueryRowContext(context.Background(), `SELECT variables, sensors, control_sets,
		(SELECT max(step) FROM decision), (SELECT max(step) FROM outcome),
		(SELECT count(*) FROM shot WHERE step = (SELECT max(step) FROM decision)),
		(SELECT ifnull(max(id), 0) FROM action), (SELECT ifnull(max(id), 0) FROM event),
		(SELECT ifnull(max(id), 0) FROM command), (SELECT ifnull(max(id), 0) FROM tape),
		EXISTS (SELECT 1 FROM result), uid FROM run`)
	if err := row.Scan(&variables, &j.sensors, &j.controlSets, &decided, &concluded,
		&j.shots, &j.actions, &j.events, &j.commands, &j.tapes, &j.finished, &j.run); err != nil {
		return err
	}
	j.step, j.open, j.newest = int(decided.Int64), decided.Int64 > concluded.Int64, actionStates{}
	var err error
	if j.rows, err = store.Counts(j.w.Conn(), schema.Version); err != nil {
		return err
	}
	j.variables = make(map[string]int, variables)
	rows, err := j.w.Conn().QueryContext(context.Background(), "SELECT n, name FROM variable ORDER BY n")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var n int
		var name string
		if err := rows.Scan(&n, &name); err != nil {
			return err
		}
		j.variables[name] = n
	}
	return rows.Err()
}

// Notices are what the user should hear about where and how the journal is kept;
// usually there are none.
func (j *Journal) Notices() []string { return j.notices }

// Finished is whether the run has its result.
func (j *Journal) Finished() bool { return j.finished }

// Session is the number of this session of the run, 1 for a new one.
func (j *Journal) Session() int { return j.session }

// Close ends the writing: the log is folded into the one file, the lock is let
// go. A finished run is left as a plain database file, which can be read from
// write-protected places, too. Further calls do nothing.
func (j *Journal) Close() error {
	if j.closed {
		return nil
	}
	j.closed = true
	defer j.content.end()
	takeIn(j)
	err := j.putRight() // else what was written to a file without a name would end here
	if err == nil {
		err = j.mend()
	}
	if err == nil {
		err = j.Settle()
	}
	if j.w == nil { // there is no connection to close
		return errors.Join(err, j.lock.Release())
	}
	return errors.Join(err, store.Fault(j.path, "close it", errors.Join(foldToClose(j), j.w.Close())), j.lock.Release())
}

// foldToClose folds the log, and signs that there is none to be expected: a kill from here
// on leaves none behind.
func foldToClose(j *Journal) error {
	if err := j.fold(); err != nil || store.HasLog(j.path) {
		return err
	}
	return j.lock.ExpectLog(false)
}

// fold moves the write-ahead log into the database, and leaves a finished run in
// a plain file.
func (j *Journal) fold() error {
	if err := j.checkpoint(); err != nil || !j.wal || !j.finished {
		return err
	}
	return unlessBusy(j.w.Exec("PRAGMA journal_mode = DELETE"))
}

// checkpoint moves the write-ahead log into the database. Where a reader is in
// the way, what could not be moved stays in the log for the next process, which
// loses nothing.
func (j *Journal) checkpoint() error {
	if !j.wal {
		return nil
	}
	if err := j.w.Exec("PRAGMA busy_timeout = 200"); err != nil {
		return err
	}
	return unlessBusy(j.w.Exec("PRAGMA wal_checkpoint(TRUNCATE)"))
}

func unlessBusy(err error) error {
	if store.ResultCode(err)&0xff == store.CodeBusy {
		return nil
	}
	return err
}
