package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/store"
)

// SQLite writes to the files that it has opened, whatever becomes of their names: a journal
// that is deleted or replaced under a run would be written to the end, and be gone with the
// process. So the names are compared with the open files after every record, before it
// counts as durable, and whenever Look is called.

// parts are the files that a connection has open: the journal itself, and with a log that
// and its index.
type parts struct {
	main, wal, shm disk.FileID
	// mode is the journal's, which a copy takes over.
	mode fs.FileMode
}

// look finds out which files stand at a journal's name now.
func (j *Journal) look() (p parts, err error) {
	info, err := os.Lstat(j.path)
	if err != nil {
		return p, err
	}
	p, err = named(j)
	p.mode = info.Mode()
	return p, err
}

// named are the files that stand at the names now, without the mode.
func named(j *Journal) (p parts, err error) {
	if p.main, err = j.identify(j.path); err != nil || !j.wal {
		return p, err
	}
	// A log that is not there has no identity: that differs from every open one.
	if p.wal, err = j.identify(j.path + "-wal"); err == nil || errors.Is(err, fs.ErrNotExist) {
		p.shm, err = j.identify(j.path + "-shm")
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return p, err
}

// contents are the bytes of the open files: of the journal, and of its log where it has one.
type contents struct {
	main disk.Content
	log  disk.Log
}

// watch begins to look at the files that are open now.
func (c *contents) watch(path string, p parts) error {
	err := c.main.Watch(path, p.main)
	if err == nil && p.wal != (disk.FileID{}) {
		err = c.log.Watch(path, p.wal, p.shm)
	}
	return err
}

// overwritten says that other bytes are in one of them.
func (c *contents) overwritten(run string) (bool, error) {
	if bad, err := c.main.Overwritten(run); bad || err != nil {
		return bad, err
	}
	return c.log.Overwritten()
}

// end ends it, once the connection is closed.
func (c *contents) end() {
	c.main.End()
	c.log.End()
}

// loss is what has become of a journal's name.
type loss int

const (
	whole     loss = iota // nothing
	logGone               // the journal is there, its log or the index of that is not
	nameFree              // nothing stands at the name
	nameTaken             // something else does
	mangled               // the file and its log are there, and other bytes are in one of them
	noFolder              // nor is the folder there
)

// lost compares the names with the open files.
func (j *Journal) lost() (loss, error) {
	now, err := named(j)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		if !isFolder(filepath.Dir(j.path)) {
			return noFolder, nil
		}
		return nameFree, nil
	case err != nil:
		return whole, &disk.Error{Err: disk.ErrIO, Path: j.path, Detail: fmt.Sprintf("look whether it is still there: %v", err),
			Hint: "see that its folder can be read", Cause: err}
	case now.main != j.files.main:
		return nameTaken, nil
	}
	switch bad, err := j.content.overwritten(j.run); {
	case err != nil:
		return whole, store.Fault(j.path, "look whether it was overwritten", err)
	case bad:
		return mangled, nil
	case j.wal && (now.wal != j.files.wal || now.shm != j.files.shm):
		return logGone, nil
	}
	return whole, nil
}

// stillThere returns an error that wraps ErrMoved where the open files do not stand at
// their names any more: what was written to them is not durable.
func (j *Journal) stillThere() error {
	l, err := j.lost()
	if err != nil || l == whole {
		return err
	}
	return j.moved(l)
}

// moved says what has happened to the journal, and what a person can do where the run
// cannot help itself.
func (j *Journal) moved(l loss) *disk.Error {
	e := &disk.Error{Err: ErrMoved, Path: j.path, Detail: j.lossWords(l)}
	switch l {
	case noFolder:
		e.Hint = fmt.Sprintf("give the folder its name %q back, and the run goes on by itself; or end the run and start it where the folder is now", filepath.Dir(j.path))
	case nameTaken: // of one that was overwritten, whether it can be copied shows what helps
		e.Hint = "move what stands there away, and the run goes on by itself"
	}
	return e
}

// lossWords say what has happened.
func (j *Journal) lossWords(l loss) string {
	switch l {
	case logGone:
		return "its log (" + filepath.Base(j.path) + "-wal, -shm) was deleted or replaced while the run writes it"
	case noFolder:
		return "its folder was deleted or renamed while the run writes it" + j.nowAt()
	case mangled:
		return "it or its log (" + filepath.Base(j.path) + "-wal) was overwritten in place while the run writes it"
	case nameTaken:
		return "it was replaced by " + kindOf(j.path) + " while the run writes it" + j.nowAt()
	}
	if at := j.nowAt(); at != "" {
		return "it was moved while the run writes it" + at
	}
	return "it was deleted while the run writes it"
}

// nowAt says where the open journal is now, "" where it has no name or nobody knows.
func (j *Journal) nowAt() string {
	if name := disk.NameOf(j.files.main); name != "" && name != j.path {
		return fmt.Sprintf("; it is at %q now", name)
	}
	return ""
}

// kindOf says in words what stands at a name.
func kindOf(name string) string {
	info, err := os.Lstat(name)
	switch {
	case err != nil:
		return "something that cannot be looked at"
	case info.IsDir():
		return "a folder"
	case info.Mode()&fs.ModeSymlink != 0:
		return "a symbolic link"
	case info.Size() == 0:
		return "an empty file"
	}
	return "another file"
}
