package setup

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/replay"
)

// Decisions prepares the replay of a journal, by the configurations and changes that it holds.
func Decisions(r *journal.Reader, folder string, e *host.Env) (*replay.Decisions, error) {
	all, err := r.Configurations()
	if err != nil {
		return nil, err
	}
	earlier, err := r.Warm()
	if err != nil {
		return nil, err
	}
	replay := &replay.Decisions{Version: policy.DecisionsVersion}
	for _, c := range all[1:] {
		replay.Configured = append(replay.Configured, c.Session)
	}
	replay.Remake = func(session int, changes plan.Changes) (o plan.Options, p policy.Policy, err error) {
		at := max(slices.Index(replay.Configured, session)+1, 0)
		w, err := changed(r, all[at], changes, folder, e)
		if err != nil {
			return o, nil, err
		}
		p, err = w.NewPolicy(earlier)
		return w.Options, p, err
	}
	replay.Options, replay.Policy, err = replay.Remake(0, nil)
	return replay, err
}

// OfJournal wires the newest configuration that a journal holds, with the changes that were
// made while its run went on: what its next decision would go by.
func OfJournal(r *journal.Reader, folder string, e *host.Env) (*Setup, error) {
	all, err := r.Configurations()
	if err != nil {
		return nil, err
	}
	changes, err := plan.ChangesIn(r)
	if err != nil {
		return nil, err
	}
	return changed(r, all[len(all)-1], changes, folder, e)
}

// changed wires a configuration of a journal with changes.
func changed(r *journal.Reader, c journal.Configuration, changes plan.Changes, folder string, e *host.Env) (*Setup, error) {
	run := r.Run()
	run.ConfigFile, run.ConfigText = c.File, c.Text
	w, err := ofRun(run, folder, e, overridesOf(changes)...)
	if err == nil {
		err = w.Strike(r, changes)
	}
	if err != nil {
		return nil, fmt.Errorf("the configuration of session %d: %w", c.Session, err)
	}
	return w, nil
}

// OfRun wires the configuration that a journal holds, in the mode of its run.
func ofRun(run journal.Run, folder string, e *host.Env, overrides ...configs.Override) (*Setup, error) {
	if len(run.ConfigText) == 0 {
		return nil, errors.New("the journal holds no configuration, so there is nothing to derive its decisions from")
	}
	file := run.ConfigFile
	if folder != "" {
		file = filepath.Join(folder, filepath.Base(file))
	}
	w, err := Parse(file, run.ConfigText, e, overrides...)
	if err != nil {
		return nil, err
	}
	w.Options.Mode = plan.Mode(run.Mode)
	w.Options.Run = plan.RunNames{ID: run.ID, Name: run.Name, Site: run.Site}
	return w, nil
}

// overridesOf are what changes have set, as a file is read with them.
func overridesOf(changes plan.Changes) (all []configs.Override) {
	set := changes.Settings()
	for _, key := range slices.Sorted(maps.Keys(set)) {
		all = append(all, configs.Override{Key: key, Value: set[key]})
	}
	return all
}

// Strike has the policy count what struck steps have cost, which it is not to know of
// otherwise: what was paid is paid.
func (w *Setup) Strike(r *journal.Reader, changes plan.Changes) error {
	struck := changes.Struck()
	if len(struck) == 0 || w.Spec.Budget == 0 {
		return nil
	}
	var paid plan.Money
	for s, err := range r.Steps() {
		if err != nil {
			return err
		}
		if _, ok := struck[s.Decision.Step]; ok && s.Concluded {
			paid = paid.Plus(plan.AsMoney(s.Outcome.Cost))
		}
	}
	const nothing = 1e-9 // a budget of 0 would be none
	w.Spec.Budget = max(w.Spec.Budget-paid.Float(), nothing)
	return nil
}

// Anew is the same configuration with changes that were made while its run went on.
func (w *Setup) Anew(e *host.Env, changes plan.Changes) (*Setup, error) {
	next, err := Parse(w.Config.File, w.Config.Text, e, overridesOf(changes)...)
	if err != nil {
		return nil, err
	}
	next.Options.Mode, next.Options.Start, next.Options.Run = w.Options.Mode, w.Options.Start, w.Options.Run
	return next, nil
}
