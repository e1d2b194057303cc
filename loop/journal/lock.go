package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// lockFile is an exclusive flock on PATH.lock, held as long as a process writes
// the journal at PATH. The kernel lets go of it however the process ends, so a
// file that was left behind locks nobody out. It is a file of its own because
// SQLite's locks on the journal belong to the whole process and are lost as soon
// as any descriptor of that file is closed.
//
// The file says who holds the lock, in three lines:
//
//	pid 4711
//	host lab-pc
//	since 2026-03-01T21:04:05Z
type lockFile struct {
	file *os.File
}

// lock takes the lock of the journal at path for s, or says who has it.
func lock(path string, s Session) (*lockFile, error) {
	name := path + ".lock"
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, &Error{Err: ErrIO, Path: path, Detail: fmt.Sprintf("make the lock file: %v", err),
				Hint: "see that the folder exists and can be written", Cause: err}
		}
		if err := tryLock(f); err != nil {
			locked := lockedBy(path, f)
			f.Close()
			if !errors.Is(err, syscall.EWOULDBLOCK) {
				return nil, &Error{Err: ErrIO, Path: path, Detail: fmt.Sprintf("lock %q: %v", name, err),
					Hint: "put the journal on a local disk", Cause: err}
			}
			return nil, locked
		}
		// Between open and flock the last holder may have removed the file: then
		// this lock is on nothing, and another process may hold the true one.
		if same, err := isCurrent(f, name); err != nil || !same {
			f.Close()
			if err != nil {
				return nil, &Error{Err: ErrIO, Path: path, Detail: fmt.Sprintf("look at the lock file: %v", err), Cause: err}
			}
			continue
		}
		l := &lockFile{file: f}
		if err := l.sign(s); err != nil {
			return nil, errors.Join(&Error{Err: ErrIO, Path: path, Detail: fmt.Sprintf("write the lock file: %v", err),
				Hint: "see that the disk is not full", Cause: err}, l.release())
		}
		return l, nil
	}
}

// lockPatience is how long a lock is waited for whose holder is dead: a child that it was
// about to start has the lock, too, until it runs its own program. lockAgain is the time
// between two attempts.
const (
	lockPatience = 2 * time.Second
	lockAgain    = 5 * time.Millisecond
)

// tryLock takes the lock, or gives EWOULDBLOCK where a process has it.
func tryLock(f *os.File) error {
	for range lockPatience / lockAgain {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) || !holderDead(f) {
			return err
		}
		time.Sleep(lockAgain)
	}
	return syscall.EWOULDBLOCK
}

// holderDead reports whether the process of this computer that signed a lock is no more.
func holderDead(f *os.File) bool {
	h := readHolder(f)
	host, err := os.Hostname()
	return h.pid > 0 && err == nil && h.host == host && errors.Is(syscall.Kill(h.pid, 0), syscall.ESRCH)
}

// isCurrent says whether name still is the file f.
func isCurrent(f *os.File, name string) (bool, error) {
	mine, err := f.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Stat(name)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(mine, there), err
}

// sign writes who holds the lock.
func (l *lockFile) sign(s Session) error {
	b := fmt.Appendf(nil, "pid %d\n", s.PID)
	if host, err := os.Hostname(); err == nil { // without a name the rest is told
		b = fmt.Appendf(b, "host %s\n", host)
	}
	if !s.Start.Wall.IsZero() {
		b = fmt.Appendf(b, "since %s\n", s.Start.Wall.UTC().Format(time.RFC3339))
	}
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err := l.file.WriteAt(b, 0)
	return err
}

// holder is who signed a lock.
type holder struct {
	pid         int
	host, since string
}

// readHolder reads who holds the lock.
func readHolder(f *os.File) (h holder) {
	b := make([]byte, 256)
	n, _ := f.ReadAt(b, 0) // a short file gives an error with what there is
	for line := range strings.Lines(string(b[:n])) {
		line = strings.TrimSpace(line)
		if _, err := fmt.Sscanf(line, "pid %d", &h.pid); err == nil {
			continue
		}
		if s, ok := strings.CutPrefix(line, "since "); ok {
			h.since = s
		}
		if s, ok := strings.CutPrefix(line, "host "); ok {
			h.host = s
		}
	}
	return h
}

// signature says who holds the lock.
func signature(f *os.File) string {
	h := readHolder(f)
	if h.pid == 0 {
		return "another process"
	}
	text := fmt.Sprintf("process %d", h.pid)
	if h.host != "" {
		text += " on " + h.host
	}
	if h.since != "" {
		text += " since " + h.since
	}
	return text
}

// Unlocked returns nil if the journal at path, which need not be there, may be written: no process writes it, else
// the error is an ErrLocked that names the process, and the file has one name. Nothing is
// recorded, and what a process left that was killed stays.
func Unlocked(path string) error {
	real, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		real = path
	case err != nil:
		return fault(path, "find the file", err)
	default:
		if err := oneName(real); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(real+".lock", os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fault(path, "look at the lock file", err)
	}
	defer f.Close() // lets go of the lock
	if err := tryLock(f); errors.Is(err, syscall.EWOULDBLOCK) {
		return lockedBy(path, f)
	}
	return nil // what else can be wrong with it, who takes it is told
}

// lockedBy is the error of a lock that another process holds.
func lockedBy(path string, f *os.File) error {
	return &Error{Err: ErrLocked, Path: path, Detail: signature(f) + " writes it",
		Hint: "wait for that process to end, stop it, or choose another journal"}
}

// oneName refuses a file with hard links. SQLite names its log after the file, so two names
// have two logs, and two writers that do not know of each other: the file would be lost.
func oneName(real string) error {
	info, err := os.Stat(real)
	if err != nil {
		return fault(real, "look at the file", err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Nlink > 1 {
		return &Error{Err: ErrLinked, Path: real, Detail: fmt.Sprintf("the file has %d names (hard links), and each would have a log of its own", st.Nlink),
			Hint: "remove the other names (find DIR -samefile FILE shows them); a copy is made by cp, not by ln"}
	}
	return nil
}

// release removes the file, then lets go of it: in this order nobody can lock a
// file that is about to vanish without noticing. A file of that name which is another's
// stays; one that was moved with its folder is removed where it is now.
func (l *lockFile) release() error {
	name := l.file.Name()
	if same, err := isCurrent(l.file, name); err != nil || !same {
		name = ""
		if info, err := l.file.Stat(); err == nil {
			name = nameOf(identityOf(info))
		}
	}
	if name == "" {
		return l.file.Close()
	}
	return errors.Join(removeIfThere(name), l.file.Close())
}
