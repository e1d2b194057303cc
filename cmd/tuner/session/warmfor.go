package session

import (
	"fmt"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/runfiles"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/loop/journal"
)

// WarmFor reads what a run with its journal at path is told of earlier runs: nothing where
// it goes on, because its journal has that. It is read before that journal may be moved
// aside, as it may be one of them.
func WarmFor(w *setup.Setup, path string, fresh bool, named []string) ([]journal.WarmSource, error) {
	old, err := runfiles.LookAt(path)
	if goesOn := err == nil && !fresh && old.Status.Steps > 0 && !old.Status.Finished; !goesOn {
		return w.ReadWarm(w.WarmFiles(named))
	}
	if len(named) > 0 {
		return nil, fault.Usage(fault.WithHint(fmt.Errorf("%s holds an unfinished run that goes on, and was told of earlier runs when it began", path),
			"leave --warm-start out, or begin a new run with --new"))
	}
	return nil, nil
}
