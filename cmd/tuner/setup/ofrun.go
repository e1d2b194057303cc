package setup

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/replay"
)

// Decisions prepares the replay of a journal, by the configurations that it holds.
func Decisions(r *journal.Reader, folder string, e *host.Env) (*replay.Decisions, error) {
	all, err := r.Configurations()
	if err != nil {
		return nil, err
	}
	earlier, err := r.Warm()
	if err != nil {
		return nil, err
	}
	replay := &replay.Decisions{Version: policy.DecisionsVersion, Changed: map[int]func() (plan.Options, policy.Policy, error){}}
	for i, c := range all {
		run := r.Run()
		run.ConfigFile, run.ConfigText = c.File, c.Text
		remake := func() (o plan.Options, p policy.Policy, err error) {
			w, err := OfRun(run, folder, e)
			if err != nil {
				return o, nil, fmt.Errorf("the configuration of session %d: %w", c.Session, err)
			}
			p, err = w.NewPolicy(earlier)
			return w.Options, p, err
		}
		if i > 0 {
			replay.Changed[c.Session] = remake
		} else if replay.Options, replay.Policy, err = remake(); err != nil {
			return nil, err
		}
	}
	return replay, nil
}

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
