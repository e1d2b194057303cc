package setup

import (
	"errors"
	"path/filepath"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

// OfRun wires the configuration that a journal holds, in the mode of its run.
func OfRun(run journal.Run, folder string, e *host.Env) (*Setup, error) {
	if len(run.ConfigText) == 0 {
		return nil, errors.New("the journal holds no configuration, so there is nothing to derive its decisions from")
	}
	file := run.ConfigFile
	if folder != "" {
		file = filepath.Join(folder, filepath.Base(file))
	}
	w, err := Parse(file, run.ConfigText, e)
	if err != nil {
		return nil, err
	}
	w.Options.Mode = plan.Mode(run.Mode)
	return w, nil
}
