package session

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/plan"
)

// prepare makes everything that the loop needs; the journal comes last, so that
// nothing is left behind when another part cannot be made.
func (s *session) prepare(ctx context.Context) (loop.Deps, error) {
	log := show.NewLog(s.tell)
	s.base = s.Setup
	deps := loop.Deps{Clock: s.Clock, Log: log, Failpoint: s.Env.Failpoint, Slowness: s.Env.Slowness, Watch: s.watch()}
	env := drivers.Env{Clock: s.Clock, Log: log}
	if s.Setup.Options.Mode == plan.Simulate {
		if err := s.simulated(&deps, env); err != nil {
			return deps, err
		}
	} else if err := s.real(&deps, env); err != nil {
		return deps, err
	}
	var err error
	if s.Setup.Options.Mode == plan.Live {
		if err := s.openControl(&deps); err != nil {
			return deps, err
		}
	}
	if deps.Policy, err = s.Setup.NewPolicy(s.Warm); err != nil {
		return deps, err
	}
	s.tally.FirstStep = make([]int, len(s.Setup.Options.ControlSets))
	if s.run, err = s.describeRun(); err != nil {
		return deps, err
	}
	if s.Setup.Options.Mode != plan.Simulate {
		if err := s.openPanel(&deps); err != nil {
			return deps, err
		}
		s.openMetrics(&deps)
		if s.heralds, err = s.openHeralds(&deps); err != nil {
			return deps, err
		}
	}
	if s.Resume {
		err = s.takeUp(ctx, &deps)
	} else {
		err = s.begin()
	}
	if err != nil {
		return deps, err
	}
	for _, notice := range s.journal.Notices() {
		s.tell.Say("tuner: warning: %s", notice)
	}
	if err := s.recordResets(); err != nil {
		return deps, errors.Join(err, s.journal.Close())
	}
	if err := s.orderTries(&deps); err != nil {
		return deps, errors.Join(err, s.journal.Close())
	}
	deps.Journal, deps.Rebuild, deps.Run = s.journal, s.rebuild, s.run.ID
	if s.Setup.Options.Mode != plan.Simulate {
		deps.Amend = s.amend
		deps.Space = func() (uint64, error) { return disk.FreeSpace(filepath.Dir(s.Path)) }
	}
	return deps, nil
}

// begin makes the journal of a new run.
func (s *session) begin() (err error) {
	if s.journal, err = journal.Create(s.Path, s.run, journal.Options{Mode: journalMode(s.Setup), Repeatable: s.Setup.Options.Mode == plan.Simulate}); err != nil {
		return err
	}
	for _, source := range s.Warm {
		s.Remarks = append(s.Remarks, setup.WarmWords(source))
	}
	if err := s.journal.Warm(s.Warm); err != nil {
		return errors.Join(err, s.journal.Close())
	}
	return nil
}

// simulated gives every device of the file a view of one plant.
func (s *session) simulated(deps *loop.Deps, env drivers.Env) (err error) {
	if s.plant, err = s.Setup.NewPlant(env); err != nil {
		return err
	}
	deps.BeginStep = s.plant.BeginStep
	for _, d := range s.Setup.Devices {
		deps.Devices = append(deps.Devices, loop.Device{Name: d.Name, Device: s.plant.Device(d.Name)})
	}
	return nil
}

// real makes the devices of the file; the loop opens them.
func (s *session) real(deps *loop.Deps, env drivers.Env) error {
	for _, d := range s.Setup.Devices {
		env := drivers.Env{Clock: env.Clock, Log: env.Log.With("device", d.Name), ReadOnly: s.Setup.Options.Mode == plan.Shadow}
		if s.Setup.Options.Mode == plan.Live {
			env.Owner = new(s.owner())
		}
		dev, err := d.Build(env)
		if err != nil {
			return fmt.Errorf("device %q: %w", d.Name, err)
		}
		deps.Devices = append(deps.Devices, loop.Device{Name: d.Name, Device: dev})
	}
	return nil
}
