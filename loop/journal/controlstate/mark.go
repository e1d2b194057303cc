package controlstate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/safety"
)

// A disk that is full takes no new control state, but it does take an empty file: a name
// in the folder needs no block of its own. So a state with something latched that cannot be
// written leaves PATH-latched behind, which says, by being there, that what the copies hold
// is not all that was latched. The next state that is written replaces it. A disk that is
// slow is the same: what is latched is marked at once, beside a write that may take long.

// lostLatch is what a control state has latched beside its own where the mark is there.
var lostLatch = Cause{Rule: safety.RuleRecord, Name: safety.RuleRecord.String(),
	Of: "what was latched last, which the disk did not take"}

// markName is the mark's file.
func (c *File) markName() string { return c.path + "-latched" }

// loadMark adds what the mark says to the state that was read. A mark that cannot be
// looked at counts as one.
func (c *File) loadMark() {
	_, err := c.files.read(c.markName())
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	c.marked = true
	c.state.Latched = append(c.state.Latched, lostLatch)
	if len(c.state.FirstOut) == 0 {
		c.state.Mode, c.state.FirstOut = safety.Tripped.String(), []Cause{lostLatch}
	}
	c.notices = append(c.notices, fmt.Sprintf("%q says that something was latched which could not be written", c.markName()))
}

// mark notes that s, which could not be written because of err, has something latched.
// It returns err with what the user has to know where that cannot be noted either.
func (c *File) mark(s *State, err *disk.Error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(s.Latched) == 0 || c.marked {
		return err
	}
	if bad := c.files.mark(c.markName()); bad != nil {
		err.Detail += fmt.Sprintf("; nor can it be noted that something is latched: %v", bad)
		err.Hint = "look at the instrument before tuner is started again: nothing on the disk says that it may not; " + err.Hint
		return err
	}
	c.marked, c.markCount = true, s.Marks
	return err
}

// MarkAhead notes that something is latched which a Write that waits, or takes long, is to
// make durable: a process that ends before finds it latched all the same. n counts the
// marks of this process from 1 on; a state that says by Marks that it knows of the mark
// takes it away when it is written, also where that comes first. It may be called beside
// Write from another goroutine.
func (c *File) MarkAhead(n uint64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n <= c.covered {
		return nil // written meanwhile
	}
	if !c.marked {
		if err := c.files.mark(c.markName()); err != nil {
			return &disk.Error{Err: disk.ErrIO, Path: c.path, Detail: fmt.Sprintf("note that something is latched: %v", err),
				Hint: "see that the folder can be written", Cause: err}
		}
	}
	c.marked, c.markCount = true, n
	return nil
}

// unmark removes the mark when a state has been written that knows of it.
func (c *File) unmark(marks uint64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.covered = max(c.covered, marks)
	if !c.marked || c.markCount > c.covered {
		return nil
	}
	if err := c.files.remove(c.markName()); err != nil {
		return &disk.Error{Err: disk.ErrIO, Path: c.path, Detail: fmt.Sprintf("remove %q: %v", c.markName(), err),
			Hint: "see that the folder can be written; until then a start is refused", Cause: err}
	}
	c.marked = false
	return nil
}

// mark makes an empty file.
func (onDisk) mark(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), disk.SyncFolder(name))
}

// remove removes a file, if it is there, for good.
func (onDisk) remove(name string) error {
	if err := disk.RemoveIfThere(name); err != nil {
		return err
	}
	return disk.SyncFolder(name)
}
