package host

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// WriteFile writes a file that a person has asked for under a name of its own and renames it
// when it is complete, so that nobody takes half an export for a whole one. One that is
// replaced leaves its mode; a new one has what the umask leaves.
func WriteFile(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, errors.Unwrap(err))
	}
	if info, there := os.Stat(path); there == nil {
		err = f.Chmod(info.Mode().Perm())
	}
	err = errors.Join(err, write(f), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
