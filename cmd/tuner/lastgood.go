package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/journal/controlstate"
)

// Beside its control state a run keeps the file that it went by. When the file itself has been
// broken or removed since, make-safe still knows where everything is to go.

// goodCopy is where a run's file is kept.
func goodCopy(control string) string { return control + ".toml" }

// keepGood keeps the file that a run goes by: written beside and renamed, so that there is no
// half of one.
func keepGood(control string, text []byte) error {
	path := goodCopy(control)
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

// lastGood wires the file that the newest run of a configuration went by, in place of the
// configuration itself. Relative paths in it start at the configuration's folder, as they did
// then.
func (e *env) lastGood(config string) (w *wiring, from string, err error) {
	var newest controlstate.State
	var text []byte
	for _, path := range e.knownControls(filepath.Dir(absolute(config))) {
		s, err := controlstate.Peek(path)
		if err != nil && s.Instrument.Config == "" || s.Instrument.Config != absolute(config) || text != nil && !s.Wall.After(newest.Wall) {
			continue
		}
		if t, err := os.ReadFile(goodCopy(path)); err == nil {
			newest, text, from = s, t, goodCopy(path)
		}
	}
	if text == nil {
		return nil, "", fmt.Errorf("no run of it has left a copy")
	}
	cfg, err := configs.Parse(config, text, knownPolicies())
	w, err = wire(cfg, err, e.executable)
	return w, from, err
}
