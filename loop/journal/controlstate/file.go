package controlstate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/labtuner/tuner/loop/journal/disk"
)

// File keeps a State in two files, PATH-a and PATH-b, written in
// turn: each is written beside, synced and renamed, so that whatever happens one
// of them is whole. It is locked: one process keeps it.
type File struct {
	path  string
	lock  *disk.Lock
	state State
	// instrument is what the next state is about, nil: what the last one was.
	instrument *Instrument
	// copies are the files of the two copies as this process has read or written them.
	copies [2]disk.FileID
	// lost: both copies were damaged, and the next state is written to both.
	lost bool
	// notices say what was wrong with a copy that another stood in for.
	notices []string
	// mu guards the mark. marked: the file markName is there, the markCount-th of this
	// process; covered is the newest mark that a written state knows of.
	mu                 sync.Mutex
	marked             bool
	markCount, covered uint64
	// files are replaced by tests.
	files files
}

// files is what a control file does to the disk.
type files interface {
	read(name string) ([]byte, error)
	replace(name string, data []byte) error
	mark(name string) error
	remove(name string) error
	identify(name string) (disk.FileID, error)
}

// Open locks the control state at path for h and reads it; a state that there is not
// is the empty one. Where both copies are damaged the error wraps ErrLost, and
// the file is usable: what is written next is the new state.
func Open(path string, h disk.Holder) (*File, error) {
	for g := range uint64(2) {
		if err := noLink((&File{path: path}).copyName(g)); err != nil {
			return nil, err
		}
	}
	l, err := disk.TakeLock(path, h)
	if err != nil {
		return nil, err
	}
	c := &File{path: path, lock: l, files: onDisk{}}
	return c, c.load()
}

// noLink refuses a copy that is a symbolic link: replacing it would leave what it points to
// behind as it was, for whoever reads that.
func noLink(name string) error {
	info, err := os.Lstat(name)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return nil // what is wrong with it, reading it tells
	}
	return &disk.Error{Err: disk.ErrLinked, Path: name, Detail: "it is a symbolic link, which the next control state would replace, and not the file that it points to",
		Hint: "put the files of the control state themselves beside the journal, or make a link of the whole folder"}
}

// State is what was read or written last.
func (c *File) State() State { return c.state }

// Notices say what was wrong with a copy that the other stood in for.
func (c *File) Notices() []string { return c.notices }

// Look sees whether the copies still are the files that this process has read or written,
// and the lock is its own. Where they are not, the state is written anew, to both copies: an
// older one that was put in their place must not be believed. It says what it found, "" if
// nothing. It is called by the goroutine that calls Write.
func (c *File) Look() (found string, err error) {
	if c.state.Generation == 0 {
		return "", nil // nothing was written yet
	}
	for g, want := range c.copies {
		id, err := c.files.identify(c.copyName(uint64(g)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", &disk.Error{Err: disk.ErrIO, Path: c.path, Detail: fmt.Sprintf("look whether the control state is still there: %v", err),
				Hint: "see that its folder can be read", Cause: err}
		}
		if id != want { // one that is missing has no identity
			found = fmt.Sprintf("%q was deleted or replaced under the run", c.copyName(uint64(g)))
		}
	}
	if found != "" {
		for range c.copies {
			s := c.state
			s.Marks = c.covered
			if err := c.Write(s); err != nil {
				return found, err
			}
		}
	}
	return found, c.lock.Renew()
}

// Belongs says what instrument the states are about that are written from now on.
func (c *File) Belongs(to Instrument) { c.instrument = &to }

// Peek reads the control state at path as it is, also while another process keeps
// it. The error wraps ErrLost where both copies are damaged.
func Peek(path string) (State, error) {
	c := &File{path: path, files: onDisk{}}
	err := c.load()
	return c.state, err
}

// Has reports whether there is a control state at path.
func Has(path string) bool {
	c := &File{path: path}
	for g := range uint64(2) {
		if _, err := os.Lstat(c.copyName(g)); err == nil {
			return true
		}
	}
	return false
}

// Close lets go of the lock.
func (c *File) Close() error { return c.lock.Release() }

// copyName is the file of a generation: the two take turns.
func (c *File) copyName(generation uint64) string {
	return c.path + [...]string{"-a", "-b"}[generation%2]
}

// load reads the newer of the copies that are whole. Where one is damaged, or missing though
// there must be two, the other stands in, and what it may lack is latched: see besideDamage.
func (c *File) load() error {
	found, whole := 0, 0
	var damage []error
	var remains []byte
	for g := range uint64(2) {
		name := c.copyName(g)
		data, err := c.files.read(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		found++
		if id, err := c.files.identify(name); err == nil {
			c.copies[g] = id
		}
		var s State
		if err == nil {
			s, err = decode(data)
		}
		if err == nil && s.Generation%2 != g {
			err = fmt.Errorf("generation %d is not of this copy", s.Generation)
		}
		if err != nil {
			damage, remains = append(damage, fmt.Errorf("%q: %w", name, err)), data
			continue
		}
		if whole++; whole == 1 || s.Generation > c.state.Generation {
			c.state = s
		}
	}
	if found == 1 && whole == 1 && c.state.Generation > 1 {
		damage = append(damage, fmt.Errorf("%q: it is missing", c.copyName(c.state.Generation+1)))
	}
	if whole == 1 && len(damage) == 1 {
		c.state = besideDamage(c.state, salvage(remains, c.state))
		c.notices = append(c.notices, fmt.Sprintf("one copy of the control state is damaged: %v; the other, generation %d, stands in for it, with what the damaged one still says that allows less",
			damage[0], c.state.Generation))
	}
	c.loadMark()
	if c.lost = found > 0 && whole == 0; c.lost {
		return fmt.Errorf("%w: %w", ErrLost, errors.Join(damage...))
	}
	return nil
}

// Write makes s durable as the next generation. When it returns nil, a crash at any
// later time finds s; when it fails, a crash finds the state before, or s. A state with
// something latched is then marked as lost, so that a crash finds it latched all the same.
func (c *File) Write(s State) error {
	s.Generation = c.state.Generation + 1
	switch {
	case c.instrument != nil:
		s.Instrument = *c.instrument
	case s.Instrument.Config == "":
		s.Instrument = c.state.Instrument
	}
	data, err := encode(s)
	if err != nil {
		return err
	}
	name := c.copyName(s.Generation)
	if err = c.files.replace(name, data); err == nil {
		c.copies[s.Generation%2], err = c.files.identify(name)
	}
	if err != nil {
		return c.mark(&s, &disk.Error{Err: disk.ErrIO, Path: c.path, Detail: fmt.Sprintf("write the control state: %v", err),
			Hint: "see that the disk is not full and can be written", Cause: err})
	}
	c.state = s
	if c.lost { // else the copy that stays damaged would speak against this one
		c.lost = false
		return c.Write(s)
	}
	return c.unmark(s.Marks)
}

// onDisk is the real one.
type onDisk struct{}

func (onDisk) identify(name string) (disk.FileID, error) { return disk.IdentifyClosed(name) }

func (onDisk) read(name string) ([]byte, error) { return os.ReadFile(name) }

// replace writes beside, syncs, renames and syncs the folder: at no time is there a
// half-written file of that name. The file keeps the mode that it has; a new one is its
// user's alone.
func (onDisk) replace(name string, data []byte) error {
	mode := os.FileMode(0o600)
	if info, err := os.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.OpenFile(name+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(mode), disk.OwnAsFolder(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(name+".new", name); err != nil {
		return err
	}
	return disk.SyncFolder(name)
}
