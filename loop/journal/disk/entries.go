package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// SyncFolder makes a new, renamed or removed entry of path's folder durable.
func SyncFolder(path string) error {
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// renameUnlessThere looks first: between the look and the renaming another process may be faster.
func renameUnlessThere(from, to string) error {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(&os.LinkError{Op: "rename", Old: from, New: to, Err: fs.ErrExist}, err)
	}
	return os.Rename(from, to)
}

// MakeFile makes an empty file with a mode, whatever the umask is.
func MakeFile(name string, mode fs.FileMode) error {
	if mode == 0 {
		mode = 0o600
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(mode), f.Close())
}

func RemoveIfThere(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// SyncFile makes a file durable that nobody has open.
func SyncFile(name string, mode fs.FileMode) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(mode.Perm()), f.Sync(), f.Close())
}
