package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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
}

// stamp tells one state of a file from another.
type stamp struct {
	size  int64
	mtime time.Time
}

// hold locks the folder and moves aside what is left of an earlier run; the names
// of what was moved are returned. Where the file system knows no locks, locked is
// false.
func hold(o *Options) (f *folder, moved []string, locked bool, err error) {
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
		switch err := os.Rename(name, name+".old"); {
		case err == nil:
			moved = append(moved, name)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, nil, false, errors.Join(fmt.Errorf("what an earlier run left cannot be moved aside: %w", err), lock.Close())
		}
	}
	return f, moved, err == nil, nil
}

// offer writes the input file so that the experiment sees it whole or not at all.
func (f *folder) offer(text string) error {
	temporary := f.input + ".new"
	if err := os.WriteFile(temporary, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, f.input)
}

// withdraw takes the input file back; false means that the experiment has it.
func (f *folder) withdraw() (bool, error) {
	err := os.Remove(f.input)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// answer gives the output file's text and removes the file; ok is false while there
// is none, or one that changed less than quiet ago.
func (f *folder) answer(now time.Time, quiet time.Duration) (text string, ok bool, err error) {
	info, err := os.Stat(f.output)
	if err != nil {
		f.last = stamp{}
		if errors.Is(err, fs.ErrNotExist) {
			return "", false, nil
		}
		return "", false, err
	}
	seen := stamp{info.Size(), info.ModTime()}
	if seen != f.last {
		f.last, f.since = seen, now
	}
	if now.Sub(f.since) < quiet || seen.size == 0 {
		return "", false, nil
	}
	if text, err = readBounded(f.output); err != nil {
		return "", false, err
	}
	if err := os.Remove(f.output); err != nil {
		return "", false, fmt.Errorf("the output file cannot be deleted, so the next one could not be told from it: %w", err)
	}
	f.last = stamp{}
	return text, true, nil
}

// readBounded reads a small file; of one that is longer than it may be, the beginning.
func readBounded(name string) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile))
	return string(text), err
}

// release ends the hold.
func (f *folder) release() error { return f.lock.Close() }
