// Package runfiles knows the files that runs leave on a computer: the journal, its copies, the
// control state beside it and the notes that say where the control state of which instrument
// lies. It finds them, moves them aside and refuses what is not theirs.
package runfiles

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/store"
)

// RunJournalPath is where run keeps its journal. A dry run has one beside it: it
// is no part of the job's record, and must not stand in the job's way.
func RunJournalPath(cfg *configs.Config, stateDir string, shadow bool) string {
	path := cfg.JournalPath(stateDir)
	if shadow {
		ext := filepath.Ext(path)
		path = strings.TrimSuffix(path, ext) + ".shadow" + ext
	}
	return followLinks(path)
}

// followLinks gives the file that a symbolic link names, which need not be there yet. What
// belongs to a journal lies beside the file itself, however it is called.
func followLinks(path string) string {
	for range 40 { // as many as the kernel follows
		to, err := os.Readlink(path)
		if err != nil { // it is no link
			break
		}
		if !filepath.IsAbs(to) {
			folder, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil {
				break
			}
			to = filepath.Join(folder, to)
		}
		path = to
	}
	return path
}

// SimulateJournalPath is where simulate keeps its journal: the file that the user
// names, which must be new, or NAME.simulate.db, where only an earlier simulation
// is replaced.
func SimulateJournalPath(cfg *configs.Config, named string) (string, error) {
	if named != "" {
		if _, err := os.Lstat(named); err == nil {
			return "", &disk.Error{Err: journal.ErrExists, Path: named, Hint: "a simulation always makes a new journal: give another name, or remove the file"}
		}
		return named, nil
	}
	path := cfg.Name + ".simulate.db"
	hint := "give the simulation a journal with --journal FILE"
	old, err := LookAt(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path, nil
	case err != nil:
		return "", fault.WithHint(err, hint)
	case old.run.Mode != "simulate":
		return "", &disk.Error{Err: journal.ErrExists, Path: path,
			Detail: fmt.Sprintf("it is the journal of a %s, not of a simulation", show.ModeWords(old.run.Mode)), Hint: hint}
	}
	if err := journal.Unlocked(path); err != nil {
		return "", fault.WithHint(err, hint)
	}
	return path, removeJournal(path)
}

// Wanted is what a start asks of the journal at its path.
type Wanted struct {
	// Fresh asks for a new run, whatever is there; Extend for one that is there, finished or not.
	Fresh, Extend bool
	// Config is the configuration's text, Warm says that the policy learns from earlier runs.
	Config []byte
	Warm   bool
}

// prepared says what is at a run's journal path now.
type prepared struct {
	// Resume says that the journal there is to go on: its run has not ended, or is to be extended.
	Resume bool
	// Done is what was done, in words, "" if nothing.
	Done string
}

// PrepareRunJournal sees that there is no journal at path or one that goes on, or
// moves one aside where the user wants a new one. What was recorded is never deleted, and an
// unfinished run never dropped silently; one without a single step, as a run leaves it whose
// instrument did not answer, goes on where nothing has changed, and is moved aside else.
func PrepareRunJournal(path string, want Wanted, now time.Time) (p prepared, err error) {
	if want.Fresh && latched(path) { // the start is refused when the control state is opened: the files stay where they are
		return p, nil
	}
	done, err := takeRescued(path, want.Fresh, now)
	if err != nil {
		return p, err
	}
	defer func() { p.Done = joinWords(done, p.Done) }()
	old, err := LookAt(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && want.Extend:
		return p, fault.Usage(fault.WithHint(fmt.Errorf("there is no run to extend: no journal %s", path), "tuner run without --extend begins one"))
	case errors.Is(err, fs.ErrNotExist) && !want.Fresh:
		return p, refuseLostJournal(path)
	case errors.Is(err, fs.ErrNotExist):
		return p, nil
	case err != nil && !want.Fresh:
		return p, journalTrouble(path, err)
	case err != nil:
		if errors.Is(err, disk.ErrLocked) {
			return p, err
		}
		p.Done, err = moveAside(path, now)
		return p, err
	}
	if err := journal.Unlocked(path); err != nil {
		return p, err
	}
	switch {
	case old.GoesOn(want):
		return prepared{Resume: true}, nil
	case old.Status.Steps == 0:
		p.Done, err = moveAside(path, now)
		p.Done += strings.Join(append([]string{", which holds no step"}, old.notices...), "; ")
		return p, err
	case want.Fresh:
		p.Done, err = moveAside(path, now)
		return p, err
	default:
		return p, &disk.Error{Err: journal.ErrFinished, Path: path,
			Detail: fmt.Sprintf("%s, ended by %s", show.Count(old.Status.Steps-old.Status.Compared, "step"), old.Status.Reason),
			Hint:   "let a stop condition of [stop] say more and give --extend to go on with it; --new moves it aside and begins a new run"}
	}
}

// GoesOn reports whether a start goes on in this journal: with a run that is to be extended, or
// is not finished or, where that has no step yet, that began with the same configuration and the same earlier runs. Where
// something is wrong with one without a step, there may have been steps.
func (x *existing) GoesOn(want Wanted) bool {
	switch {
	case want.Fresh:
		return false
	case x.Status.Finished:
		return want.Extend
	}
	return x.Status.Steps > 0 || bytes.Equal(x.config, want.Config) && !x.warm && !want.Warm && len(x.notices) == 0
}

// journalTrouble adds what to do about a journal that cannot be gone on with. There may be
// nothing wrong with one that cannot be read now: that error has its own hint.
func journalTrouble(path string, err error) error {
	if foreign := RefuseForeign(path); foreign != nil {
		return foreign // --new would not move it either
	}
	if errors.Is(err, disk.ErrIO) || errors.Is(err, store.ErrBusy) || errors.Is(err, store.ErrVersion) {
		return err
	}
	return fault.WithHint(err, "--new moves it aside and begins a new run")
}

// OpenJournal opens a journal that a person has named, and says what is to be heard about
// the file.
func OpenJournal(e *host.Env, path string) (*journal.Reader, error) {
	r, err := journal.OpenReader(path)
	if err != nil {
		return nil, err
	}
	for _, n := range r.Notices() {
		fmt.Fprintf(e.Stderr, "tuner: warning: %s\n", n)
	}
	return r, nil
}

// existing is what is known of a journal that is there already.
type existing struct {
	run    journal.Run
	Status journal.Status
	// notices are what is to be heard about the file.
	notices []string
	// config is what its last session went by, warm says that it learnt from earlier runs.
	config []byte
	warm   bool
}

// LookAt reads what a journal is; the file is not changed.
func LookAt(path string) (existing, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return existing{}, err // without it a leftover is Create's to refuse
	}
	r, err := journal.OpenReader(path)
	if err != nil {
		return existing{}, err
	}
	x := existing{run: r.Run(), notices: r.Notices()}
	err = x.read(r)
	return x, errors.Join(err, r.Close())
}

func (x *existing) read(r *journal.Reader) (err error) {
	if x.Status, err = r.Status(); err != nil || x.Status.Steps > 0 {
		return err
	}
	all, err := r.Configurations()
	if err != nil {
		return err
	}
	x.config = all[len(all)-1].Text // there is the run's at least
	warm, err := r.Warm()
	x.warm = len(warm) > 0
	return err
}

// journalParts are the files that SQLite keeps beside a journal. The journal
// itself comes last: without it they are left unread, the other way round they
// would be taken for a new journal's.
func journalParts(path string) []string {
	return []string{path + "-wal", path + "-shm", path + "-journal", path}
}

// RefuseForeign refuses what is neither an SQLite file nor a file that is named
// like one (a journal may be damaged): --new moves journals aside and nothing
// else.
func RefuseForeign(path string) error {
	const magic = "SQLite format 3\x00"
	head := make([]byte, len(magic))
	info, err := os.Stat(path)
	if err == nil && info.Mode().IsRegular() {
		var f *os.File
		if f, err = os.Open(path); err == nil {
			_, err = io.ReadFull(f, head)
			err = errors.Join(ignoreShort(err), f.Close())
		}
	}
	if err != nil {
		return &disk.Error{Err: disk.ErrIO, Path: path, Detail: "look what it is: " + err.Error(), Cause: err}
	}
	if info.Mode().IsRegular() && (string(head) == magic || filepath.Ext(path) == ".db") {
		return nil
	}
	return fault.WithHint(&disk.Error{Err: journal.ErrExists, Path: path, Detail: "it is not a journal, so it stays where it is"},
		"name another path in [journal] path")
}

// ignoreShort makes a file that is shorter than what was looked for no error.
func ignoreShort(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// moveAside renames a journal after the present time. Nothing is overwritten.
func moveAside(path string, now time.Time) (string, error) {
	if err := RefuseForeign(path); err != nil {
		return "", err
	}
	ext := filepath.Ext(path)
	stem := strings.TrimSuffix(path, ext) + now.Format("-20060102-150405")
	aside := stem + ext
	for n := 2; ; n++ {
		_, err := os.Lstat(aside)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return "", &disk.Error{Err: disk.ErrIO, Path: aside, Detail: "look whether it exists: " + err.Error(), Cause: err}
		}
		aside = fmt.Sprintf("%s-%d%s", stem, n, ext)
	}
	parts, to := journalParts(path), journalParts(aside)
	for i := range parts {
		if err := os.Rename(parts[i], to[i]); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", &disk.Error{Err: disk.ErrIO, Path: path, Detail: "move it aside: " + err.Error(), Cause: err}
		}
	}
	return "moved " + path + " to " + aside, nil
}

func removeJournal(path string) error {
	for _, part := range journalParts(path) {
		if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return &disk.Error{Err: disk.ErrIO, Path: path, Detail: err.Error(), Cause: err}
		}
	}
	return nil
}
