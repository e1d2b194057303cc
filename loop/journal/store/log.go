package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// HasLog says that beside the file real there is a write-ahead log with something in it.
func HasLog(real string) bool {
	info, err := os.Stat(real + "-wal")
	return err == nil && info.Size() > 0
}

// ReadOnlyPlace reports whether SQLite cannot read the file because it cannot make the
// files of a log beside it, and there is no log that it would have to read.
func ReadOnlyPlace(path string, err error) bool {
	if code := ResultCode(err) & 0xff; code != CodeCantOpen && code != CodeReadOnly {
		return false
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	info, err := os.Stat(real + "-wal")
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0
}
