package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
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
type Lock struct {
	file   *os.File
	path   string
	holder Holder
}

// Holder is who holds a lock.
type Holder struct {
	// PID is the process id; 0 is the calling process.
	PID int
	// Since is when the process began, the zero time where that is not known.
	Since time.Time
	// NoLog says that the file is whole without its log: nothing has been written yet, or
	// all of it has been moved into the file.
	NoLog bool
}

// TakeLock takes the lock of the journal at path for h, or says who has it.
func TakeLock(path string, h Holder) (*Lock, error) {
	if h.PID == 0 {
		h.PID = os.Getpid()
	}
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
		l := &Lock{file: f, path: path, holder: h}
		if err := l.sign(); err != nil {
			return nil, errors.Join(&Error{Err: ErrIO, Path: path, Detail: fmt.Sprintf("write the lock file: %v", err),
				Hint: "see that the disk is not full", Cause: err}, l.Release())
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
func (l *Lock) sign() error {
	b := fmt.Appendf(nil, "pid %d\n", l.holder.PID)
	if host, err := os.Hostname(); err == nil { // without a name the rest is shown
		b = fmt.Appendf(b, "host %s\n", host)
	}
	if !l.holder.Since.IsZero() {
		b = fmt.Appendf(b, "since %s\n", l.holder.Since.UTC().Format(time.RFC3339))
	}
	if l.holder.NoLog {
		b = append(b, noLog+"\n"...)
	}
	if _, err := l.file.WriteAt(b, 0); err != nil { // first: a lock without a word in it says too little
		return err
	}
	return l.file.Truncate(int64(len(b)))
}

// noLog is the line of a lock whose file is whole without its log.
const noLog = "log none"

// ExpectLog signs the lock anew: whether the file needs its log.
func (l *Lock) ExpectLog(needed bool) error {
	if l.holder.NoLog == !needed {
		return nil
	}
	l.holder.NoLog = !needed
	return l.sign()
}

// signer is who signed a lock.
type signer struct {
	pid         int
	host, since string
	noLog       bool
}

// readHolder reads who holds the lock.
func readHolder(f *os.File) (h signer) {
	b := make([]byte, 256)
	n, _ := f.ReadAt(b, 0) // a short file gives an error with what there is
	for line := range strings.Lines(string(b[:n])) {
		line = strings.TrimSpace(line)
		if _, err := fmt.Sscanf(line, "pid %d", &h.pid); err == nil {
			continue
		}
		if line == noLog {
			h.noLog = true
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

// Unlocked returns nil if no process holds the lock of the file real, else an ErrLocked that
// names the process, and the file as path.
func Unlocked(real, path string) error {
	f, err := os.OpenFile(real+".lock", os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("journal %q: look at the lock file: %w", path, err)
	}
	defer f.Close() // lets go of the lock
	if err := tryLock(f); errors.Is(err, syscall.EWOULDBLOCK) {
		return lockedBy(path, f)
	}
	return nil // whoever takes the lock hears of anything else that is wrong with it
}

// LeftBehind reports whether the lock file of a process that has ended is there, and says
// that the file needs its log.
func LeftBehind(real string) bool {
	f, err := os.Open(real + ".lock")
	if err != nil {
		return false
	}
	defer f.Close() // lets go of the lock
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil && !readHolder(f).noLog
}

// Renew takes the lock again where its file was deleted, so that no second process gets it.
func (l *Lock) Renew() error {
	if same, err := isCurrent(l.file, l.path+".lock"); same || err != nil {
		return err
	}
	anew, err := TakeLock(l.path, l.holder)
	if err != nil {
		return err
	}
	_ = l.file.Close() // it has no name any more
	l.file = anew.file
	return nil
}

// lockedBy is the error of a lock that another process holds.
func lockedBy(path string, f *os.File) error {
	return &Error{Err: ErrLocked, Path: path, Detail: signature(f) + " writes it",
		Hint: "wait for that process to end, stop it, or choose another journal"}
}

// OneName refuses a file with hard links. SQLite names its log after the file, so two names
// have two logs, and two writers that do not know of each other: the file would be lost.
func OneName(real string) error {
	info, err := os.Stat(real)
	if err != nil {
		return fmt.Errorf("journal %q: look at the file: %w", real, err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Nlink > 1 {
		return &Error{Err: ErrLinked, Path: real, Detail: fmt.Sprintf("the file has %d names (hard links), and each would have a log of its own", st.Nlink),
			Hint: "remove the other names (find DIR -samefile FILE shows them); a copy is made by cp, not by ln"}
	}
	return nil
}

// Release removes the file, then lets go of it: in this order nobody can lock a
// file that is about to vanish without noticing. A file of that name which is another's
// stays; one that was moved with its folder is removed where it is now.
func (l *Lock) Release() error {
	name := l.file.Name()
	if same, err := isCurrent(l.file, name); err != nil || !same {
		name = ""
		if info, err := l.file.Stat(); err == nil {
			name = NameOf(identityOf(info))
		}
	}
	if name == "" {
		return l.file.Close()
	}
	return errors.Join(RemoveIfThere(name), l.file.Close())
}
