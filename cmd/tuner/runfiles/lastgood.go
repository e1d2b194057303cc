package runfiles

import (
	"errors"
	"os"
	"path/filepath"
)

// Beside its control state a run keeps the file that it went by. When the file itself has been
// broken or removed since, make-safe still knows where everything is to go.

// GoodCopy is where a run's file is kept.
func GoodCopy(control string) string { return control + ".toml" }

// KeepGood keeps the file that a run goes by: written beside and renamed, so that there is no
// half of one.
func KeepGood(control string, text []byte) error {
	path := GoodCopy(control)
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}
