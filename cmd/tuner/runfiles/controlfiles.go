package runfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/controlstate"
)

// LostControl returns an error that wraps controlstate.ErrLost where there is no control
// state beside a journal that tells of a trip, a stop or a dose: such a run has left one,
// so it was deleted, or not moved with the journal. A run without any of these may never
// have written one. What it costs is one reading of the journal's events, and of its
// actions where the file has doses.
func LostControl(c *controlstate.File, journalPath string, doses bool) (err error) {
	if c.State().Generation > 0 {
		return nil
	}
	if _, err := os.Stat(journalPath); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	r, err := journal.OpenReader(journalPath)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	lost := func(what string) error {
		return fmt.Errorf("%w: there is no %s-a and no %s-b, but the journal %s records %s",
			controlstate.ErrLost, ControlPath(journalPath), ControlPath(journalPath), journalPath, what)
	}
	for e, err := range r.Events() {
		if err != nil {
			return err
		}
		if e.Kind == journal.EventSafety && e.Facts.Latched {
			return lost(strconv.Quote(e.Message))
		}
	}
	if !doses {
		return nil
	}
	for a, err := range r.AllActions() {
		if err != nil {
			return err
		}
		if a.Kind == "dose" {
			return lost("doses")
		}
	}
	return nil
}

// ControlPath is where the control state of a journal's instrument lies. A new
// journal does not change it: what was latched and dosed belongs to the instrument.
func ControlPath(journalPath string) string {
	return strings.TrimSuffix(journalPath, filepath.Ext(journalPath)) + ".control"
}

// Beside its control state a run keeps the file that it went by. When the file itself has been
// broken or removed since, make-safe still knows where everything is to go.

// GoodCopy is where a run's file is kept.
func GoodCopy(control string) string { return control + ".toml" }

// SaveGood saves the file that a run goes by: written beside and renamed, so that there is no
// half of one.
func SaveGood(control string, text []byte) error {
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
