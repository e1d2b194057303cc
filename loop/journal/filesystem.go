package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// FileSystem is what a journal must know of the place it lies in.
type FileSystem struct {
	// Name is the kind, such as "nfs", as far as it is known.
	Name string
	// SharedMemory says that processes can share a mapped file there, which WAL
	// needs: not over a network, and not on file systems run by a user's process.
	SharedMemory bool
}

// syncFolder makes a new, renamed or removed entry of path's folder durable.
func syncFolder(path string) error {
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// renameUnlessThere looks first: between the look and the renaming somebody may be faster.
func renameUnlessThere(from, to string) error {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(&os.LinkError{Op: "rename", Old: from, New: to, Err: fs.ErrExist}, err)
	}
	return os.Rename(from, to)
}
