package journal

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/store"
)

// Unlocked returns nil if the journal at path, which need not be there, may be written: no process writes it, else
// the error is an ErrLocked that names the process, and the file has one name. Nothing is
// recorded, and what a process left that was killed stays.
func Unlocked(path string) error {
	real, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		real = path
	case err != nil:
		return store.Fault(path, "find the file", err)
	default:
		if err := disk.OneName(real); err != nil {
			return err
		}
	}
	return disk.Unlocked(real, path)
}
