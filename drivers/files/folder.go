package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/labtuner/tuner/drivers"
)

// folder is the place of the exchange, held by one host.
type folder struct {
	input, output string // paths
	lock          *os.File
	// last is the output file as it was seen last, and since when it has been so.
	last  stamp
	since time.Time
	// takes says that the experiment was seen to delete an input, keeps that it
	// answers without.
	takes, keeps bool
}

// takeGrace is how long an answer waits, while it is not known whether the experiment
// deletes its input, for that to happen. Not shorter: an experiment looks for its input
// once a second, say.
const takeGrace = 2 * time.Second

// sent is the path of a second name of the input: what is left when the experiment
// deletes the first one, and tells when that was.
func (f *folder) sent() string { return f.input + ".sent" }

// stamp tells one state of a file from another.
type stamp struct {
	inode uint64
	size  int64
	mtime time.Time
}

// stampOf describes a file; what is no plain file is an error, since reading a pipe
// waits for a writer and a folder has no text.
func stampOf(info fs.FileInfo) (stamp, error) {
	if !info.Mode().IsRegular() {
		return stamp{}, fmt.Errorf("%q is no plain file but %v; remove it", info.Name(), info.Mode())
	}
	s := stamp{size: info.Size(), mtime: info.ModTime()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.inode = sys.Ino
	}
	return s, nil
}

// hold locks the folder and, unless it only looks, moves aside what is left of an earlier
// run; the names of what was moved are returned. Where the file system knows no locks, locked is
// false.
func hold(o *Options, looking bool) (f *folder, moved []string, locked bool, err error) {
	path := o.folder()
	if path == "" {
		path = "."
	}
	lock, err := os.Open(path)
	if err != nil {
		return nil, nil, false, fmt.Errorf("folder: %w; make it, or correct the key", err)
	}
	err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, nil, false, errors.Join(fmt.Errorf("another program exchanges files in %q: %w; end it, or use a folder of your own", path, drivers.ErrUnavailable), lock.Close())
	}
	f = &folder{input: filepath.Join(path, o.Input), output: filepath.Join(path, o.Output), lock: lock}
	for _, name := range []string{f.input, f.output} {
		if looking {
			break
		}
		switch err := os.Rename(name, name+".old"); {
		case err == nil:
			moved = append(moved, name)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, nil, false, errors.Join(fmt.Errorf("what an earlier run left cannot be moved aside: %w", err), lock.Close())
		}
	}
	return f, moved, err == nil, nil
}

// offer writes the input file.
func (f *folder) offer(text string) error {
	if err := f.forget(); err != nil {
		return err
	}
	return writeWhole(f.input, text, func(whole string) {
		// Without it (a file system may know no second names) an answer to an earlier
		// run is only known by an input that is still there.
		_ = os.Link(whole, f.sent())
	})
}

// forget removes the second name of an input.
func (f *folder) forget() error {
	if err := os.Remove(f.sent()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// writeWhole writes a file so that it is seen whole or not at all; ready is called with
// the path that it has before.
func writeWhole(path, text string, ready func(whole string)) error {
	whole := path + ".new"
	// Removed and made: to write into what is there could wait for a pipe's reader.
	if err := os.Remove(whole); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(whole, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if ready != nil {
		ready(whole)
	}
	return os.Rename(whole, path)
}

// withdraw takes the input file back; false means that the experiment has it, or may
// have read it.
func (f *folder) withdraw() (bool, error) {
	err := os.Remove(f.input)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && !f.keeps, errors.Join(err, f.forget())
}

// errEarlier: the output was written before the experiment could know the input.
var errEarlier = errors.New("it is the answer to an earlier run")

// answer gives the output file's text and removes the file; ok is false while there
// is none, or one that changed less than quiet ago. The error wraps errEarlier where
// the file, which is moved aside, answers another input.
func (f *folder) answer(now time.Time, quiet time.Duration) (text string, ok bool, err error) {
	info, err := os.Stat(f.output)
	if err != nil {
		f.last = stamp{}
		if errors.Is(err, fs.ErrNotExist) {
			return "", false, nil
		}
		return "", false, err
	}
	seen, err := stampOf(info)
	if err != nil {
		return "", false, err
	}
	if seen != f.last {
		f.last, f.since = seen, now
	}
	age := now.Sub(f.since)
	if age < quiet || seen.size == 0 {
		return "", false, nil
	}
	switch mine, known := f.answers(info, age-quiet); {
	case !known:
		return "", false, nil
	case !mine:
		f.last = stamp{}
		return "", false, errors.Join(errEarlier, os.Rename(f.output, f.output+".old"))
	}
	text, read, err := readBounded(f.output)
	if err != nil || read != seen {
		return "", false, err // replaced meanwhile: the next look begins anew
	}
	if err := os.Remove(f.output); err != nil {
		return "", false, fmt.Errorf("the output file cannot be deleted, so the next one could not be told from it: %w", err)
	}
	f.last = stamp{}
	return text, true, f.forget()
}

// answers says whether an output, which has been there for age, answers the input that
// was offered last: it cannot where the experiment deletes its inputs and did not have
// this one when the output was written. known is false while that cannot be told yet.
func (f *folder) answers(output fs.FileInfo, age time.Duration) (mine, known bool) {
	_, err := os.Lstat(f.input)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.takes = true
		sent, err := os.Stat(f.sent())
		return err != nil || !changed(output).Before(changed(sent)), true
	case f.takes:
		return false, true
	case f.keeps:
		return true, true
	case age < takeGrace:
		return false, false
	}
	f.keeps = true
	return true, true
}

// waits says that the input has not been taken.
func (f *folder) waits() bool {
	_, err := os.Lstat(f.input)
	return err == nil && !f.keeps
}

// changed is when a file was last changed, moved or unlinked, by its file system's clock.
func changed(info fs.FileInfo) time.Time {
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(sys.Ctim.Unix())
	}
	return info.ModTime()
}

// readBounded reads a small plain file; of one that is longer than it may be, the
// beginning and one byte more.
func readBounded(name string) (string, stamp, error) {
	// Nonblocking, because what is opened may have become a pipe.
	file, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return "", stamp{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", stamp{}, err
	}
	read, err := stampOf(info)
	if err != nil {
		return "", stamp{}, err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return "", stamp{}, err
	}
	// What changed while it was read is another file.
	if info, err = file.Stat(); err == nil {
		read, err = stampOf(info)
	}
	return string(text), read, err
}

// release ends the hold.
func (f *folder) release() error { return errors.Join(f.forget(), f.lock.Close()) }
