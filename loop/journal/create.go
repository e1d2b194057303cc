package journal

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/schema"
	"github.com/labtuner/tuner/loop/journal/store"
)

// Options is what a writer needs from outside.
type Options struct {
	// Session describes the writing process. Create takes Version, BootID, Decisions and
	// Start from the run.
	Session Session
	// Mode is that of a new journal's file; 0 is 0600. SQLite gives the files that it keeps
	// beside it the same. A journal that is there keeps its own.
	Mode fs.FileMode
	// Continue lets Open go on with a run that is finished, and says in words why it may; "": such
	// a run is refused.
	Continue string
	// Amend lets Open write to a finished run, which stays finished: commands, their answers and
	// events, and nothing else.
	Amend bool
	// Repeatable says that the run can be played again: a new journal then commits once a step, beside
	// what follows, and does not sync to the disk. A process that is killed loses the step that
	// is under way and perhaps the one before, a power cut the newest.
	Repeatable bool
	// FileSystem looks at the place that a path lies in; nil asks the kernel.
	FileSystem func(path string) (disk.FileSystem, error)

	// identify finds out which file stands at a name; nil asks the kernel.
	identify func(name string) (disk.FileID, error)
	// logMissing says that the log of a process that was killed is not there.
	logMissing bool
	// extend is the older version that the file is to be brought to the newest from; 0: none.
	extend int
}

// Create makes the journal of a new run at path, with everything in run, and
// opens it for writing. It is durable, with its name, when Create returns; a
// crash before that leaves no file of that name.
//
// Errors: ErrExists if there is such a file or the remains of one, ErrLocked if
// another process is making it, ErrIO; anything else is a run that cannot be
// recorded, such as two variables of one name.
func Create(path string, run Run, opts Options) (*Journal, error) {
	s := Session{Number: 1, PID: opts.Session.PID, Version: run.Version, BootID: run.BootID, Decisions: run.Decisions, Start: run.Start}
	if s.PID == 0 {
		s.PID = os.Getpid()
	}
	if err := checkRun(run); err != nil {
		return nil, fmt.Errorf("journal %q: %w", path, err)
	}
	if err := absent(path); err != nil { // before a lock file is made beside it
		return nil, err
	}
	h := s.holder()
	h.NoLog = true
	l, err := disk.TakeLock(path, h)
	if err != nil {
		return nil, err
	}
	j, err := createLocked(path, run, s, opts)
	if err != nil {
		return nil, errors.Join(err, l.Release())
	}
	j.lock = l
	return j, nil
}

// createLocked does Create's work under the lock.
func createLocked(path string, run Run, s Session, opts Options) (*Journal, error) {
	if err := absent(path); err != nil {
		return nil, err
	}
	if err := build(path, run, s, opts.Mode); err != nil {
		return nil, err
	}
	j, err := attach(path, s, opts)
	if err != nil {
		return nil, err
	}
	if err := j.tell(s.Start); err != nil {
		return nil, errors.Join(err, j.w.Close())
	}
	j.gathers = opts.Repeatable
	return j, nil
}

// absent refuses a path that is taken. A write-ahead log or rollback journal
// without its database is refused as well: SQLite would play it into the new one.
func absent(path string) error {
	for _, suffix := range []string{"", "-wal", "-journal"} {
		_, err := os.Lstat(path + suffix)
		switch {
		case err == nil && suffix == "":
			return &disk.Error{Err: ErrExists, Path: path, Hint: "give another name, or move the file away"}
		case err == nil:
			return &disk.Error{Err: ErrExists, Path: path, Detail: fmt.Sprintf("%q is left of another journal", path+suffix),
				Hint: "move that file back to its journal, or away"}
		case !errors.Is(err, fs.ErrNotExist):
			return &disk.Error{Err: disk.ErrIO, Path: path, Detail: err.Error(), Hint: "see that the folder can be read", Cause: err}
		}
	}
	return nil
}

// build writes the whole new journal under another name, then gives it its own,
// so that a journal without a run is never seen.
func build(path string, run Run, s Session, mode fs.FileMode) error {
	draft := path + ".new"
	remove := func() error {
		return errors.Join(disk.RemoveIfThere(draft), disk.RemoveIfThere(draft+"-journal"))
	}
	fail := func(err error) error {
		return errors.Join(store.Fault(path, "make it", err), remove())
	}
	if err := remove(); err != nil { // a crash in the middle of build left it
		return fail(err)
	}
	if err := disk.MakeFile(draft, mode); err != nil { // SQLite's own would be everybody's to read
		return fail(err)
	}
	w, err := store.Connect(draft, store.CreateFile)
	if err != nil {
		return fail(err)
	}
	if err := errors.Join(define(w, run, s), w.Close()); err != nil {
		return fail(err)
	}
	if err := os.Rename(draft, path); err != nil {
		return fail(err)
	}
	if err := disk.SyncFolder(path); err != nil {
		return store.Fault(path, fmt.Sprintf("sync folder %q", filepath.Dir(path)), err)
	}
	return nil
}

// define makes tables and view, writes the run and marks the file as a journal,
// in one transaction: on a slow disk each costs a second.
func define(w *store.Writer, run Run, s Session) error {
	return w.Transaction(func() error {
		for _, def := range schema.Definitions(schema.Version) {
			if err := w.Exec(def.SQL); err != nil {
				return err
			}
		}
		if err := w.Exec(schema.View(schema.Version, run.variableNames())); err != nil {
			return err
		}
		w.SetSalt(schema.SaltOf(schema.Version, fmt.Sprint(schema.Text(run.ID))))
		if err := w.Insert(runRows(run, s)); err != nil {
			return err
		}
		if err := w.Exec(fmt.Sprintf("PRAGMA application_id = %d", schema.ApplicationID)); err != nil {
			return err
		}
		return w.Exec(fmt.Sprintf("PRAGMA user_version = %d", schema.Version))
	})
}

// extend brings a file of an older version to its goal, in one transaction: it adds the
// tables that have come since, and says of the sessions so far what decided.
func extend(w *store.Writer, from int) error {
	if from == 0 {
		return nil
	}
	return w.Transaction(func() error {
		for _, def := range schema.Definitions(schema.Goal(from))[len(schema.Definitions(from)):] {
			if err := w.Exec(def.SQL); err != nil {
				return err
			}
		}
		sessions, err := w.Count("SELECT count(*) FROM session")
		if err != nil {
			return err
		}
		for n := range int(sessions) {
			if err := w.Insert([]store.Row{decisionsRow(n+1, schema.OlderDecisions)}); err != nil {
				return err
			}
		}
		return w.Exec(fmt.Sprintf("PRAGMA user_version = %d", schema.Goal(from)))
	})
}

// runRows are the rows that never change after the first session began.
func runRows(run Run, s Session) []store.Row {
	rows := []store.Row{
		store.RowOf("run", schema.Integer(1), schema.Text(run.ID), schema.Text(run.Name), schema.Text(run.Site), schema.Text(run.Mode), schema.Text(run.Policy),
			fmt.Sprint(run.Seed), schema.Text(run.Objective.Name), schema.Text(run.Objective.Unit), schema.Boolean(run.Minimize),
			schema.Text(run.CostUnit), schema.Integer(len(run.Variables)), schema.Integer(len(run.Sensors)), schema.Integer(len(run.ControlSets))),
	}
	rows = append(rows, sessionRows(s)...)
	rows = append(rows, configRows(run, s.Number)...)
	for i, v := range run.Variables {
		rows = append(rows, store.RowOf("variable", schema.Integer(i), schema.Text(v.Name), schema.Text(v.Unit)))
	}
	for i, v := range run.Sensors {
		rows = append(rows, store.RowOf("sensor", schema.Integer(i), schema.Text(v.Name), schema.Text(v.Unit)))
	}
	index := variableIndex(run.Variables)
	for i, c := range run.ControlSets {
		rows = append(rows, store.RowOf("control_set", schema.Integer(i), schema.Number(c.Cost), schema.Integer(len(c.Variables))))
		for k, name := range c.Variables {
			rows = append(rows, store.RowOf("control_set_variable", schema.Integer(i), schema.Integer(k), schema.Integer(index[name])))
		}
	}
	return rows
}

// configRows are the configuration of one session.
func configRows(run Run, session int) []store.Row {
	rows := []store.Row{store.RowOf("config", schema.Integer(session), schema.Text(run.ConfigFile), fmt.Sprintf("%x", sha256.Sum256(run.ConfigText)),
		schema.Blob(run.ConfigText), schema.Integer(len(run.Effective)))}
	for i, e := range run.Effective {
		rows = append(rows, store.RowOf("setting", schema.Integer(session), schema.Integer(i), schema.Text(e.Key), schema.Text(e.Value), schema.Text(e.Origin)))
	}
	return rows
}

func sessionRows(s Session) []store.Row {
	return []store.Row{
		store.RowOf("session", schema.Integer(s.Number), schema.Integer(s.PID), schema.Text(s.Version), schema.Text(s.BootID),
			schema.Integer(s.Start.Mono), schema.Wall(s.Start.Wall)),
		decisionsRow(s.Number, s.Decisions),
	}
}

func decisionsRow(session, version int) store.Row {
	return store.RowOf("session_decisions", schema.Integer(session), schema.Integer(version))
}

// variableIndex gives each variable's place by its name.
func variableIndex(variables []Column) map[string]int {
	index := make(map[string]int, len(variables))
	for i, v := range variables {
		index[v.Name] = i
	}
	return index
}

// checkRun refuses a run that the tables cannot hold, or that names could not be
// told apart in.
func checkRun(run Run) error {
	if n := len(run.Variables); n == 0 || n > schema.MaxVariables {
		return fmt.Errorf("the run has %d variables, a journal holds 1 to %d; see the [[variable]] sections", n, schema.MaxVariables)
	}
	for what, columns := range map[string][]Column{"variable": run.Variables, "sensor": run.Sensors} {
		seen := map[string]bool{}
		for _, c := range columns {
			if c.Name == "" || schema.Text(c.Name) != c.Name || seen[c.Name] {
				return fmt.Errorf("%s name %q is empty, not text, or given twice; give each %s a name of its own", what, c.Name, what)
			}
			seen[c.Name] = true
		}
	}
	index := variableIndex(run.Variables)
	for i, c := range run.ControlSets {
		for _, name := range c.Variables {
			if _, ok := index[name]; !ok {
				return fmt.Errorf("control set %d names %q, which is no variable of the run; declare it or leave it out", i, name)
			}
		}
	}
	return nil
}
