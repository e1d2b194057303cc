package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"

	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/store"
)

// A journal that has lost its name is copied, whole, from the files that are still open, to
// NAME.rescued.db beside the old name, and goes on there: from then on nothing that is
// recorded is in danger. As soon as the old name is free the copy takes it. Where something
// else stands at the name it is left alone: Held says so, and a person decides.

// News is what has happened to a journal's files, for a person.
type News struct{ Level, Message string }

// Look sees whether the files still stand at their names, and puts right what can be. The
// caller's goroutine is the one that records.
func (j *Journal) Look() error {
	if j.closed {
		return nil
	}
	takeIn(j)
	err := j.putRight()
	j.held = j.heldWords(err)
	return err
}

// Held says why the run is to wait, "" if it need not: what is recorded is safe, but not
// where it belongs, or nothing can be recorded.
func (j *Journal) Held() string { return j.held }

// News gives what has happened since the last call.
func (j *Journal) News() []News {
	n := j.news
	j.news = nil
	return n
}

func (j *Journal) tellNews(level, format string, args ...any) {
	j.news = append(j.news, News{level, fmt.Sprintf(format, args...)})
}

// Path is where the journal is now: where it was opened, or its rescued copy. It may be
// called by any goroutine.
func (j *Journal) Path() string { return *j.shown.Load() }

func (j *Journal) goTo(path string) {
	j.path = path
	j.shown.Store(&path)
}

// heldWords say why the run waits.
func (j *Journal) heldWords(err error) string {
	switch {
	case err != nil:
		return err.Error()
	case j.path != j.home:
		return fmt.Sprintf("%s stands at the journal's name %q; the record goes on in %q: move what stands there away, and the run goes on by itself", kindOf(j.home), j.home, j.path)
	}
	return ""
}

// putRight brings a journal whose files have lost their names to safety, and a rescued copy
// back to the journal's name when that is free.
func (j *Journal) putRight() error {
	if j.w == nil {
		return j.reconnect()
	}
	l, err := j.lost()
	if err != nil {
		return err
	}
	switch {
	case l == logGone:
		err = j.mendLog()
	case l == nameTaken && !j.wal && j.adopt():
	case l != whole:
		err = j.rescue(l)
	}
	if err == nil && j.path != j.home {
		err = j.goHome()
	}
	if err == nil && j.lock != nil {
		err = j.lock.Renew()
	}
	return err
}

// reconnect opens the journal again after a failure.
func (j *Journal) reconnect() error {
	switch id, err := j.identify(j.path); {
	case errors.Is(err, fs.ErrNotExist):
		return &disk.Error{Err: ErrMoved, Path: j.path, Detail: "it was deleted or moved while it was closed after a failure, so there is nothing to copy",
			Hint: "put it back, and the run goes on by itself", Cause: err}
	case err != nil:
		return store.Fault(j.path, "look whether it is still there", err)
	case id != j.files.main && j.wal:
		return j.moved(nameTaken)
	}
	return j.reopen()
}

// reopen connects to the journal at its path, which must hold what was acknowledged, and at
// most the failed transaction beside it.
func (j *Journal) reopen() error {
	if err := j.foreignLog(); err != nil {
		return err
	}
	a := store.WriteRollback
	if j.wal {
		a = store.WriteWAL
	}
	w, err := store.Connect(j.path, a)
	if err != nil {
		return store.Fault(j.path, "open it again", err)
	}
	if err := j.inspect(w); err != nil {
		_ = w.Close() // the first error is the one that matters
		return store.Fault(j.path, "open it again", err)
	}
	if j.files, err = j.look(); err == nil {
		err = j.content.watch(j.path, j.files)
	}
	if err != nil {
		_ = w.Close()
		return store.Fault(j.path, "open it again", err)
	}
	if j.w = w; j.doubt != nil {
		j.doubt.checked = true
	}
	return nil
}

// foreignLog refuses a log at the journal's name that is another database's: SQLite would
// play it into the journal, or empty it.
func (j *Journal) foreignLog() error {
	log := j.path + "-wal"
	info, err := os.Lstat(log)
	if err != nil || !j.wal || info.Size() == 0 {
		return nil
	}
	if id, err := j.identify(log); err == nil && id == j.files.wal {
		return nil
	}
	return &disk.Error{Err: ErrMoved, Path: j.path, Detail: fmt.Sprintf("another log stands at %q", log),
		Hint: "move that away: it would garble the journal; the run then goes on by itself"}
}

// leave closes the connection to files that have lost their names. Nothing at these names
// is removed but what is this journal's own: a log of another database may be there by now.
func (j *Journal) leave() {
	if j.wal {
		// What is left of the old file, if anything, is to be whole; nothing depends on it.
		_ = j.foldAll(j.w)
		_ = j.w.Conn().Raw(func(c any) error {
			_, err := c.(sqlite.FileControl).FileControlPersistWAL("main", 1)
			return err
		})
	}
	_ = j.w.Close() // everything is in the copy, or has been folded
	j.w = nil
	for name, id := range map[string]disk.FileID{j.path + "-wal": j.files.wal, j.path + "-shm": j.files.shm} {
		if now, err := j.identify(name); err == nil && j.wal && now == id {
			_ = os.Remove(name) // one that stays is looked at by whoever opens the name
		}
	}
	j.files.wal, j.files.shm = disk.FileID{}, disk.FileID{} // their numbers are free for others
}

// mendLog folds a log without a name into the journal, and begins a new one.
func (j *Journal) mendLog() error {
	if err := j.foldAll(j.w); err != nil {
		return store.Fault(j.path, "move the log, which was deleted, into it", err)
	}
	j.leave()
	if err := j.reopen(); err != nil {
		return err
	}
	j.tellNews("warn", "%s: %s; every record was moved into the journal, nothing is missing", j.path, j.lossWords(logGone))
	return nil
}

// adopt takes a file under another inode number for the journal where it holds this run up
// to the last record: file systems without shared memory, such as those over a network, may
// number a file anew when they are mounted again.
func (j *Journal) adopt() bool {
	if _, err := os.Lstat(j.path + "-journal"); err == nil {
		return false // what is in there might belong to the file that was there before
	}
	r, err := OpenReader(j.path)
	if err != nil {
		return false
	}
	run := r.Run().ID
	if errors.Join(r.Sound(), r.Close()) != nil || run != j.run {
		return false
	}
	old := j.w
	if err := j.reopen(); err != nil {
		return false
	}
	_ = old.Close() // it has nothing that the new one has not
	j.tellNews("info", "the journal %s has another inode number than before, as after mounting a file system again; it holds this run to the last record", j.path)
	return true
}

// rescue copies the open journal beside its old name, and goes on in the copy.
func (j *Journal) rescue(l loss) error {
	lost := j.moved(l)
	if folder := filepath.Dir(j.home); !isFolder(folder) {
		if j.nowAt() != "" { // it was renamed: everything is together, elsewhere
			return j.moved(noFolder)
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return store.Fault(j.home, "make its folder, which was deleted, again", err)
		}
	}
	copied, err := j.copyOut()
	if err != nil {
		hint := "see that the folder can be written and has room: it is tried again"
		if l == mangled {
			hint = "what was in the file is lost where SQLite no longer has it; end the run, keep what stands there with its -wal, and begin again with --new"
		}
		return &disk.Error{Err: ErrMoved, Path: j.path, Detail: lost.Detail + "; it cannot be copied: " + err.Error(), Hint: hint, Cause: err}
	}
	j.leave()
	j.goTo(copied)
	if j.files.main, err = j.identify(copied); err == nil {
		err = j.reopen()
	}
	if err != nil {
		return store.Fault(copied, "go on in the rescued copy", err)
	}
	j.tellNews("error", "%s: %s; every record was copied to %s, nothing is missing", j.home, lost.Detail, copied)
	return nil
}

// copyOut writes the whole open journal to a file of a new name, and gives that.
func (j *Journal) copyOut() (name string, err error) {
	if name, err = rescueName(j.home); err != nil {
		return "", err
	}
	if name, err = filepath.Abs(name); err != nil {
		return "", err
	}
	draft := name + ".new"
	if err := disk.RemoveIfThere(draft); err != nil { // a crash in the middle of copyOut left it
		return "", err
	}
	if err := disk.MakeFile(draft, 0); err != nil { // SQLite's own would be everybody's to read while it grows
		return "", err
	}
	if _, err := j.w.Conn().ExecContext(context.Background(), "VACUUM INTO ?", draft); err != nil {
		return "", errors.Join(err, disk.RemoveIfThere(draft))
	}
	if err := errors.Join(disk.SyncFile(draft, j.files.mode), verifyFile(draft), holdsRun(draft, j.run, int(j.rows["decision"]))); err != nil {
		return "", errors.Join(err, disk.RemoveIfThere(draft))
	}
	if err := disk.RenameNew(draft, name); err != nil {
		return "", errors.Join(err, disk.RemoveIfThere(draft))
	}
	return name, disk.SyncFolder(name)
}

// holdsRun sees that a copy is of this run, to its last step: where the open file was
// overwritten, SQLite may read another journal.
func holdsRun(name, id string, steps int) error {
	r, err := OpenReader(name)
	if err != nil {
		return err
	}
	status, err := r.Status()
	run := r.Run().ID
	if err = errors.Join(err, r.Close()); err != nil {
		return err
	}
	if run != id || status.Steps < steps {
		return fmt.Errorf("the copy holds %d steps of run %q, and %d of run %q were recorded", status.Steps, run, steps, id)
	}
	return nil
}

// goHome gives a rescued copy the journal's name, if that is free.
func (j *Journal) goHome() error {
	if err := absent(j.home); errors.Is(err, ErrExists) {
		return nil
	} else if err != nil {
		return err
	}
	if err := j.foldAll(j.w); err != nil {
		return store.Fault(j.path, "fold its log", err)
	}
	err := j.w.Close() // takes the log away, which would not follow
	j.w = nil
	copied := j.path
	if err == nil {
		err = disk.RenameNew(copied, j.home)
	}
	if err == nil {
		j.goTo(j.home)
		err = disk.SyncFolder(j.home)
	}
	if err := errors.Join(err, j.reopen()); err != nil {
		return store.Fault(j.path, "take the journal's name again", err)
	}
	j.tellNews("info", "the rescued copy %s was put at the journal's name %s: the run goes on there", copied, j.home)
	return nil
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// rescueName is a free name for a rescued copy of the journal at path: NAME.rescued.db, or
// NAME.rescued-2.db and so on.
func rescueName(path string) (string, error) {
	ext := filepath.Ext(path)
	stem := strings.TrimSuffix(path, ext) + rescued
	name := stem + ext
	for n := 2; ; n++ {
		_, err := os.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return name, nil
		}
		if err != nil {
			return "", err
		}
		name = fmt.Sprintf("%s-%d%s", stem, n, ext)
	}
}

const rescued = ".rescued"

// Rescued lists the rescued copies beside the journal at path, oldest number first.
func Rescued(path string) (names []string, err error) {
	ext := filepath.Ext(path)
	stem := strings.TrimSuffix(filepath.Base(path), ext) + rescued
	entries, err := os.ReadDir(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		middle, found := strings.CutPrefix(strings.TrimSuffix(e.Name(), ext), stem)
		if found && strings.HasSuffix(e.Name(), ext) && strings.Trim(middle, "-0123456789") == "" {
			names = append(names, filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
	return names, err
}

// PutBack gives a rescued copy, which nobody writes, the journal's name again. Nothing is
// overwritten.
func PutBack(copied, path string) (err error) {
	l, err := disk.TakeLock(path, disk.Holder{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Release()) }()
	if err := absent(path); err != nil {
		return err
	}
	if err := verifyFile(copied); err != nil {
		return err
	}
	w, err := store.Connect(copied, store.WriteRollback) // takes a log in
	if err != nil {
		return store.Fault(copied, "open it", err)
	}
	if err := errors.Join(w.Exec("PRAGMA wal_checkpoint(TRUNCATE)"), w.Close()); err != nil {
		return store.Fault(copied, "fold its log", err)
	}
	if err := disk.RenameNew(copied, path); err != nil {
		return &disk.Error{Err: disk.ErrIO, Path: path, Detail: err.Error(), Hint: "see that the folder can be written", Cause: err}
	}
	return disk.SyncFolder(path)
}
