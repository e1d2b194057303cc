// Package session is one run's life around the loop: it opens the journal, the control state,
// the socket, the pages and the broker before anything is driven, goes on with a run that was
// interrupted, tells people and the service manager how the run stands, takes a changed file
// over, and in the end writes the result and lets everything go.
package session

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/describe"
	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/outcome"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/sim"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/export"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/web"
)

// Start is what a session begins with.
type Start struct {
	Env *host.Env
	// Setup is the configuration.
	Setup *setup.Setup
	// json makes stdout one line of JSON per step, and one for the result.
	JSON bool
	// Path is the journal's.
	Path string
	// Resume says that the journal holds an unfinished run, which goes on.
	Resume bool
	// Clock is the virtual one of a simulation, else the computer's.
	Clock drivers.Clock
	// Warm is what the policy learns from earlier runs; of a resumed run its journal has it.
	Warm []journal.WarmSource
	// Tries are settings of a person's own, to be measured first; Tried names where they are from.
	Tries []control.Try
	Tried string
	// Remarks are printed first.
	Remarks []string
}

// Play runs the loop until it ends and tells what came of it. Cancelling ctx
// brings the actuators to their shutdown states first.
func Play(ctx context.Context, begin Start) error {
	s := &session{Start: begin}
	return s.play(ctx)
}

// session is one run of the loop, from the configuration to the last line.
type session struct {
	Start

	// began is when the session did, by this machine's clock.
	began   time.Time
	plant   *sim.Plant // nil where the instrument is real
	run     journal.Run
	journal *journal.Journal
	// panel takes commands to the run and tells how it stands; nil in a simulation.
	panel *control.Panel
	// metrics are what Prometheus may ask for, nil without a server.
	metrics *web.Metrics
	// control keeps latches and doses over crashes; nil where nothing is driven.
	control *controlstate.File
	// claims keep others from the instruments.
	claims  []io.Closer
	tell    *show.Narrator
	box     *show.Outbox
	service *notifier
	// heralds tell people by the ways of [notify], nil without it.
	heralds *heralds
	// base is the configuration as the file has it; Setup has what was changed meanwhile.
	base *setup.Setup
	// narrower brings a file that was changed to the loop; going is what it goes by.
	narrower *loop.Narrower
	going    *configs.Config
	tally    outcome.Tally
}

// play is the session's whole life.
func (s *session) play(ctx context.Context) error {
	s.began = s.Env.Now()
	s.tell = show.NewNarrator(s.Env.Stderr, s.Env.Style())
	defer s.tell.Close()
	var err error
	if s.service, err = newNotifier(s.Env.Manager, s.Clock, s.Setup.Options.Tick); err != nil {
		return err
	}
	defer s.service.close("not begun")
	deps, err := s.prepare(ctx)
	if err != nil {
		return errors.Join(err, s.closeControl())
	}
	ctx, readerGone := context.WithCancelCause(ctx)
	defer readerGone(nil)
	if s.JSON {
		s.box = show.NewOutbox(s.Env.Stdout, s.Setup.Options.Mode == plan.Simulate, func() { s.lostReader(readerGone) })
	}
	doors, err := s.openDoors(deps.Log)
	if err != nil {
		return errors.Join(err, s.journal.Close(), s.closeControl())
	}
	s.sayStart()
	if s.Setup.Options.Mode != plan.Simulate {
		s.narrower, s.going = loop.NewNarrower(), s.Setup.Config
		deps.Narrower = s.narrower
		over, ended := context.WithCancel(ctx)
		defer ended()
		go s.reloadWhenAsked(over)
	}
	there, err := s.appear(deps.Log)
	if err != nil {
		return errors.Join(err, doors.stop(), s.journal.Close(), s.closeControl())
	}
	if s.Setup.Config.Web != nil && doors != nil {
		s.panel.MakeReachable()
		s.tell.Say("tuner: dashboard at %s", doors.words(s.Env.IsTerminal(s.Env.Stderr)))
	}
	doors.start(ctx)
	f := outcome.Finale{Tally: &s.tally, Levels: s.Env.SparkLevels()}
	f.Result, f.Err = loop.Run(ctx, s.Setup.Options, deps)
	s.heralds.finished(s.lastWords(f))
	there.leave()
	if context.Cause(ctx) == errReaderGone {
		f.Err = nil // what close says of stdout is the error
	}
	f.Took = s.Env.Now().Sub(s.began)
	s.service.close(s.lastWords(f))
	var truthErr error
	if s.plant != nil && s.Setup.Options.Mode == plan.Simulate {
		f.Truth, truthErr = outcome.AskPlant(s.Setup, s.plant, f.Result)
	}
	line, lineErr := show.EncodeLine(outcome.NewLine(s.Setup, f.Result, f.Truth, f.Err))
	closeErr := errors.Join(doors.stop(), s.closeJournal(f.Result, line))
	s.heralds.close()
	s.tell.Close()
	return errors.Join(f.Err, truthErr, lineErr, closeErr, s.closeControl(), s.print(f, line))
}

// errReaderGone ends a simulation whose lines nobody reads any more.
var errReaderGone = errors.New("nobody reads stdout")

// lostReader ends a simulation when stdout breaks; a run on a real instrument
// goes on, as its journal has everything.
func (s *session) lostReader(cancel context.CancelCauseFunc) {
	if s.Setup.Options.Mode == plan.Simulate {
		cancel(errReaderGone)
		return
	}
	s.tell.Say("tuner: warning: nobody reads stdout any more; the run goes on and the journal has every step")
}

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
	}
	if s.Setup.Options.Mode != plan.Simulate {
		deps.Space = func() (uint64, error) { return disk.FreeSpace(filepath.Dir(s.Path)) }
	}
	return deps, nil
}

// begin makes the journal of a new run.
func (s *session) begin() (err error) {
	if s.journal, err = journal.Create(s.Path, s.run, journal.Options{Mode: journalMode(s.Setup)}); err != nil {
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

// watch is what the session does while the loop runs: nothing that waits, outside
// a simulation.
func (s *session) watch() control.Watch {
	return control.Watch{
		Step: func(d journal.Decision, o journal.Outcome) {
			s.tally.Add(d, o)
			if s.box == nil {
				return
			}
			line, err := show.EncodeLine(export.NewStepLine(s.run, d, o))
			if err != nil {
				s.tell.Say("tuner: warning: step %d cannot be printed: %v", d.Step, err)
				return
			}
			s.box.Put(line)
		},
		Progress: func(p control.Progress) {
			s.Env.JSON.At(s.run.ID, p.Step)
			line := func() string {
				return outcome.Progress(s.Setup, p.Status, s.pace(time.Duration(float64(p.Elapsed)*float64(time.Second))))
			}
			s.tell.Show(line())
			s.heralds.look(p.Status)
			s.service.tick(p, line)
		},
		Event: s.sayEvent,
	}
}

// lastWords is what the service manager shows of a run that has ended.
func (s *session) lastWords(f outcome.Finale) string {
	words := []string{"ended: " + f.Result.Reason}
	if f.Err != nil && fault.ExitCode(f.Err) != fault.ExitInterrupted {
		words[0] = f.Err.Error()
	}
	return strings.Join(append(words, outcome.RestLines(s.Setup, &f.Result)...), "; ")
}

// pace is how much of this machine's time has passed per unit of the loop's: a
// simulation is faster than what it simulates.
func (s *session) pace(elapsed time.Duration) float64 {
	if s.Setup.Options.Mode != plan.Simulate || elapsed <= 0 {
		return 1
	}
	return float64(s.Env.Now().Sub(s.began)) / float64(elapsed)
}

// sayEvent prints what a person should read at once. Faults are printed at the end,
// with what became of the actuators.
func (s *session) sayEvent(e journal.Event) {
	switch {
	case e.Kind == "recommend": // the report says that there is none
	case e.Kind == journal.EventSafety && e.Level == "error": // at once: bringing actuators to rest may take its time
		s.tell.Say("tuner: error: %s", e.Message)
	case e.Kind == journal.EventSafety && e.Level == "info", e.Kind == journal.EventCommand && e.Level == "info":
		s.tell.Say("tuner: %s", e.Message)
	case (e.Kind == "device" || e.Kind == journal.EventDisk) && e.Level == "info":
		s.tell.Say("tuner: %s", e.Message)
	case e.Level == "warn", e.Kind == journal.EventDisk:
		s.tell.Say("tuner: warning: %s", e.Message)
	case e.Kind == "interrupt":
		s.tell.Say("tuner: %s", e.Message)
	case (e.Kind == "home" || e.Kind == journal.EventVerify) && s.Setup.Options.Mode == plan.Live:
		s.tell.Say("tuner: %s", e.Message)
	}
}

// sayStart tells what begins, and what the file asks for and does not get.
func (s *session) sayStart() {
	w := s.Setup
	for _, r := range s.Remarks {
		s.tell.Say("tuner: %s", r)
	}
	s.tell.Say("tuner: %s of %s begins: %s; journal %s", show.ModeWords(string(w.Options.Mode)), w.Config.Name, describe.Endings(w), s.Path)
	if text := describe.Verification(w); text != "" && w.Options.Mode == plan.Live {
		s.tell.Say("tuner: it %s", text)
	}
	if w.Options.Mode != plan.Simulate {
		for _, d := range w.Doubts {
			s.tell.Say("tuner: warning: %s:%d: %s: %s", w.Config.File, d.Line, d.Key, describe.Doubt(d))
		}
	}
}

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

// print writes the result to stdout, and after a failure or an interrupt what
// became of the actuators to stderr as well, where a person looks first.
func (s *session) print(f outcome.Finale, line []byte) error {
	reportSeen := !s.JSON && s.Env.IsTerminal(s.Env.Stdout) && s.Env.IsTerminal(s.Env.Stderr)
	if s.Setup.Options.Mode != plan.Simulate && f.Err != nil && !reportSeen {
		for _, text := range outcome.RestLines(s.Setup, &f.Result) {
			fmt.Fprintf(s.Env.Stderr, "tuner: %s\n", text)
		}
	}
	if s.JSON {
		s.box.Put(line)
		if err := s.box.Close(); err != nil {
			return fmt.Errorf("write to stdout: %w", err)
		}
		return nil
	}
	return outcome.WriteReport(s.Setup, s.Env.Stdout, f, s.Path)
}

// journalMode is that of a new journal.
func journalMode(w *setup.Setup) fs.FileMode {
	mode, err := strconv.ParseUint(w.Config.Journal.Mode, 8, 9)
	if err != nil {
		return 0 // the configuration's check has said so
	}
	return fs.FileMode(mode)
}
