package session

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// describeRun is the head of the journal.
func (s *session) describeRun() (journal.Run, error) {
	w := s.Setup
	run := journal.Run{Name: w.Config.Name, Site: w.Config.Site, Mode: string(w.Options.Mode), Policy: w.Config.Policy.Kind,
		Version: host.Version(), Decisions: policy.DecisionsVersion, Seed: w.Spec.Seed, Start: journal.Stamp{Wall: s.Clock.Now().Round(0)},
		ConfigFile: w.Config.File, ConfigText: w.Config.Text,
		Objective: journal.Column{Name: w.Options.Objective.Name, Unit: w.Options.Objective.Unit},
		Minimize:  w.Options.Objective.Minimize, CostUnit: w.Options.Cost.Unit}
	for _, k := range w.Config.Effective() {
		run.Effective = append(run.Effective, journal.Setting{Key: k.Key, Value: k.Value, Origin: k.Origin})
	}
	for _, v := range w.Options.Variables {
		run.Variables = append(run.Variables, journal.Column{Name: v.Name, Unit: v.Unit})
	}
	for _, v := range w.Options.Sensors {
		run.Sensors = append(run.Sensors, journal.Column{Name: v.Name, Unit: v.Unit})
	}
	for i, c := range w.Options.ControlSets {
		run.ControlSets = append(run.ControlSets, journal.ControlSet{Variables: w.SetNames(i), Cost: c.Cost})
	}
	if w.Options.Mode == plan.Simulate {
		// What a simulation does follows from its file alone, so its name does too.
		run.ID = "simulate-" + w.Config.SHA256[:16]
		return run, nil
	}
	unique := make([]byte, 8)
	if _, err := io.ReadFull(s.Env.Random, unique); err != nil {
		return run, fmt.Errorf("name the run: %w", err)
	}
	run.ID = s.Clock.Now().UTC().Format("20060102T150405Z-") + hex.EncodeToString(unique)
	run.BootID = host.BootID()
	return run, nil
}

// closeJournal writes the result and closes. A run on a real instrument that did
// not reach a stop condition stays unfinished: it is there to be resumed.
func (s *session) closeJournal(r loop.Result, line []byte) error {
	var err error
	if s.Setup.Options.Mode == plan.Simulate || slices.Contains([]string{control.ReasonSteps, control.ReasonCost, control.ReasonTime, control.ReasonTarget, control.ReasonNoImprovement, control.ReasonBest, control.ReasonEnd}, r.Reason) {
		at := journal.Stamp{Mono: r.Elapsed, Wall: s.Clock.Now().Round(0)}
		finish := func() error { return s.journal.Finish(r.Reason, line[:max(len(line)-1, 0)], at) }
		if err = finish(); errors.Is(err, journal.ErrMoved) {
			err = finish() // the journal has lost its name: it is put right first
		}
		err = s.outlast(err, finish)
	}
	ended := err == nil && s.journal.Finished()
	err = errors.Join(err, s.journal.Close())
	for _, n := range s.journal.News() {
		s.tell.Say("tuner: warning: %s", n.Message)
	}
	if at := s.journal.Path(); at != s.Path && host.Absolute(at) != host.Absolute(s.Path) {
		s.tell.Say("tuner: warning: the record of this run is in %s: move what stands at %s away, and the next start puts it back there", at, s.Path)
		s.Path = at
	}
	if ended && err == nil {
		err = s.clearUnderway()
	}
	return err
}

// finishWait is the longest wait before the result is tried to be recorded again; with those
// before it, a disk has 6.3 s to come back. Not longer: a person waits for the result, and
// without its record the next start finds a run that can be resumed.
const finishWait = 3200 * time.Millisecond

// outlast tries again what a disk that fails has refused with err, as the loop does with
// each step.
func (s *session) outlast(err error, write func() error) error {
	for wait := 100 * time.Millisecond; errors.Is(err, disk.ErrIO) && wait <= finishWait; wait *= 2 {
		time.Sleep(wait)
		if err = write(); err == nil {
			s.tell.Say("tuner: the result can be recorded again")
		}
	}
	return err
}

// journalMode is that of a new journal.
func journalMode(w *setup.Setup) fs.FileMode {
	mode, err := strconv.ParseUint(w.Config.Journal.Mode, 8, 9)
	if err != nil {
		return 0 // the configuration's check has said so
	}
	return fs.FileMode(mode)
}
