package main

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

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
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
	"github.com/labtuner/tuner/loop/web"
)

// session is one run of the loop, from the wiring to the last line.
type session struct {
	env *host.Env
	w   *setup.Setup
	// json makes stdout one line of JSON per step, and one for the result.
	json bool
	// path is the journal's.
	path string
	// resume says that the journal holds an unfinished run, which goes on.
	resume bool
	// warm is what the policy is told of earlier runs, of a resumed run by its journal.
	warm []journal.WarmSource
	// remarks are told first.
	remarks []string

	// began is when the session did, by this machine's clock.
	began   time.Time
	clock   drivers.Clock
	plant   *sim.Plant // nil where the instrument is real
	run     journal.Run
	journal *journal.Journal
	// panel takes commands to the run and tells how it stands; nil in a simulation.
	panel *control.Panel
	// metrics are what Prometheus may ask for, nil without a server.
	metrics *web.Metrics
	// control keeps latches and doses over crashes; nil where nothing is driven.
	control *controlstate.File
	tell    *show.Narrator
	box     *show.Outbox
	service *notifier
	// narrower brings a file that was changed to the loop; going is what it goes by.
	narrower *loop.Narrower
	going    *configs.Config
	tally    tally
}

// finale is what a session ends with.
type finale struct {
	result loop.Result
	// err is what ended the run, nil at a stop condition.
	err   error
	truth *truth
	tally *tally
	// levels are those of a sparkline that the terminal can show.
	levels string
	// took is the time by this machine's clock.
	took time.Duration
}

// play runs the loop until it ends and tells what came of it. Cancelling ctx
// brings the actuators to their shutdown states first.
func (s *session) play(ctx context.Context) error {
	s.began = s.env.Now()
	s.tell = show.NewNarrator(s.env.Stderr, s.env.Style())
	defer s.tell.Close()
	var err error
	if s.service, err = newNotifier(s.env.Manager, s.clock, s.w.Options.Tick); err != nil {
		return err
	}
	defer s.service.close("not begun")
	deps, err := s.prepare(ctx)
	if err != nil {
		return errors.Join(err, s.closeControl())
	}
	ctx, readerGone := context.WithCancelCause(ctx)
	defer readerGone(nil)
	if s.json {
		s.box = show.NewOutbox(s.env.Stdout, s.w.Options.Mode == plan.Simulate, func() { s.lostReader(readerGone) })
	}
	doors, err := s.openDoors(deps.Log)
	if err != nil {
		return errors.Join(err, s.journal.Close(), s.closeControl())
	}
	s.sayStart()
	if s.w.Options.Mode != plan.Simulate {
		s.narrower, s.going = loop.NewNarrower(), s.w.Config
		deps.Narrower = s.narrower
		over, ended := context.WithCancel(ctx)
		defer ended()
		go s.reloadWhenAsked(over)
	}
	there, err := s.appear(deps.Log)
	if err != nil {
		return errors.Join(err, doors.stop(), s.journal.Close(), s.closeControl())
	}
	if s.w.Config.Web != nil && doors != nil {
		s.panel.MakeReachable()
		s.tell.Say("tuner: dashboard at %s", doors.words(s.env.IsTerminal(s.env.Stderr)))
	}
	doors.start(ctx)
	f := finale{tally: &s.tally, levels: s.env.SparkLevels()}
	f.result, f.err = loop.Run(ctx, s.w.Options, deps)
	there.leave()
	if context.Cause(ctx) == errReaderGone {
		f.err = nil // what close says of stdout is the error
	}
	f.took = s.env.Now().Sub(s.began)
	s.service.close(s.lastWords(f))
	var truthErr error
	if s.plant != nil && s.w.Options.Mode == plan.Simulate {
		f.truth, truthErr = askPlant(s.w, s.plant, f.result)
	}
	line, lineErr := show.EncodeLine(newResultLine(s.w, f.result, f.truth, f.err))
	closeErr := errors.Join(doors.stop(), s.closeJournal(f.result, line))
	s.tell.Close()
	return errors.Join(f.err, truthErr, lineErr, closeErr, s.closeControl(), s.print(f, line))
}

// errReaderGone ends a simulation whose lines nobody reads any more.
var errReaderGone = errors.New("nobody reads stdout")

// lostReader ends a simulation when stdout breaks; a run on a real instrument
// goes on, as its journal has everything.
func (s *session) lostReader(cancel context.CancelCauseFunc) {
	if s.w.Options.Mode == plan.Simulate {
		cancel(errReaderGone)
		return
	}
	s.tell.Say("tuner: warning: nobody reads stdout any more; the run goes on and the journal has every step")
}

// prepare makes everything that the loop needs; the journal comes last, so that
// nothing is left behind when another part cannot be made.
func (s *session) prepare(ctx context.Context) (loop.Deps, error) {
	log := show.NewLog(s.tell)
	deps := loop.Deps{Clock: s.clock, Log: log, Failpoint: s.env.Failpoint, Slowness: s.env.Slowness, Watch: s.watch()}
	env := drivers.Env{Clock: s.clock, Log: log}
	if s.w.Options.Mode == plan.Simulate {
		if err := s.simulated(&deps, env); err != nil {
			return deps, err
		}
	} else if err := s.real(&deps, env); err != nil {
		return deps, err
	}
	var err error
	if s.w.Options.Mode == plan.Live {
		if err := s.openControl(&deps); err != nil {
			return deps, err
		}
	}
	if deps.Policy, err = s.w.NewPolicy(s.warm); err != nil {
		return deps, err
	}
	s.tally.firstStep = make([]int, len(s.w.Options.ControlSets))
	if s.run, err = s.describeRun(); err != nil {
		return deps, err
	}
	if s.w.Options.Mode != plan.Simulate {
		if err := s.openPanel(&deps); err != nil {
			return deps, err
		}
		s.openMetrics(&deps)
	}
	if s.resume {
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
	deps.Journal, deps.Rebuild, deps.Run = s.journal, s.rebuild, s.run.ID
	if s.w.Options.Mode != plan.Simulate {
		deps.Space = func() (uint64, error) { return disk.FreeSpace(filepath.Dir(s.path)) }
	}
	return deps, nil
}

// begin makes the journal of a new run.
func (s *session) begin() (err error) {
	if s.journal, err = journal.Create(s.path, s.run, journal.Options{Mode: journalMode(s.w)}); err != nil {
		return err
	}
	for _, source := range s.warm {
		s.remarks = append(s.remarks, setup.WarmWords(source))
	}
	if err := s.journal.Warm(s.warm); err != nil {
		return errors.Join(err, s.journal.Close())
	}
	return nil
}

// simulated gives every device of the file a view of one plant.
func (s *session) simulated(deps *loop.Deps, env drivers.Env) (err error) {
	if s.plant, err = s.w.NewPlant(env); err != nil {
		return err
	}
	deps.BeginStep = s.plant.BeginStep
	for _, d := range s.w.Devices {
		deps.Devices = append(deps.Devices, loop.Device{Name: d.Name, Device: s.plant.Device(d.Name)})
	}
	return nil
}

// real makes the devices of the file; the loop opens them.
func (s *session) real(deps *loop.Deps, env drivers.Env) error {
	for _, d := range s.w.Devices {
		env := drivers.Env{Clock: env.Clock, Log: env.Log.With("device", d.Name), Looking: s.w.Options.Mode == plan.Shadow}
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
			s.tally.add(d, o)
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
			s.env.JSON.At(s.run.ID, p.Step)
			line := func() string { return progressLine(s.w, p, s.pace(p.Elapsed)) }
			s.tell.Show(line())
			s.service.tick(p, line)
		},
		Event: s.sayEvent,
	}
}

// lastWords is what the service manager shows of a run that has ended.
func (s *session) lastWords(f finale) string {
	words := []string{"ended: " + f.result.Reason}
	if f.err != nil && fault.ExitCode(f.err) != fault.ExitInterrupted {
		words[0] = f.err.Error()
	}
	return strings.Join(append(words, restLines(s.w, &f.result)...), "; ")
}

// progressMarks is the width of the course in a progress line.
const progressMarks = 16

// showProgress draws the progress line, with the last steps' values before it.
func (s *session) showProgress(p control.Progress) {
	line := progressLine(s.w, p, s.pace(p.Elapsed))
	if course := show.Sparkline(s.tally.course.newest(progressMarks), s.env.SparkLevels()); course != "" {
		line = course + " " + line
	}
	s.tell.Show(line)
}

// pace is how much of this machine's time has passed per unit of the loop's: a
// simulation is faster than what it simulates.
func (s *session) pace(elapsed time.Duration) float64 {
	if s.w.Options.Mode != plan.Simulate || elapsed <= 0 {
		return 1
	}
	return float64(s.env.Now().Sub(s.began)) / float64(elapsed)
}

// sayEvent tells what a person should hear at once. Faults are told at the end,
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
	case (e.Kind == "home" || e.Kind == journal.EventVerify) && s.w.Options.Mode == plan.Live:
		s.tell.Say("tuner: %s", e.Message)
	}
}

// sayStart tells what begins, and what the file asks for and does not get.
func (s *session) sayStart() {
	w := s.w
	for _, r := range s.remarks {
		s.tell.Say("tuner: %s", r)
	}
	s.tell.Say("tuner: %s of %s begins: %s; journal %s", show.ModeWords(string(w.Options.Mode)), w.Config.Name, endWords(w), s.path)
	if text := verifyWords(w); text != "" && w.Options.Mode == plan.Live {
		s.tell.Say("tuner: it %s", text)
	}
	if w.Options.Mode != plan.Simulate {
		for _, d := range w.Doubts {
			s.tell.Say("tuner: warning: %s:%d: %s: %s", w.Config.File, d.Line, d.Key, doubtWords(d))
		}
	}
}

// describeRun is the head of the journal.
func (s *session) describeRun() (journal.Run, error) {
	w := s.w
	run := journal.Run{Name: w.Config.Name, Site: w.Config.Site, Mode: string(w.Options.Mode), Policy: w.Config.Policy.Kind,
		Version: host.Version(), Seed: w.Spec.Seed, Start: journal.Stamp{Wall: s.clock.Now().Round(0)},
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
	if _, err := io.ReadFull(s.env.Random, unique); err != nil {
		return run, fmt.Errorf("name the run: %w", err)
	}
	run.ID = s.clock.Now().UTC().Format("20060102T150405Z-") + hex.EncodeToString(unique)
	run.BootID = host.BootID()
	return run, nil
}

// closeJournal writes the result and closes. A run on a real instrument that did
// not reach a stop condition stays unfinished: it is there to be resumed.
func (s *session) closeJournal(r loop.Result, line []byte) error {
	var err error
	if s.w.Options.Mode == plan.Simulate || slices.Contains([]string{"steps", "cost", "time", "set-best"}, r.Reason) {
		at := journal.Stamp{Mono: r.Elapsed, Wall: s.clock.Now().Round(0)}
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
	if at := s.journal.Path(); at != s.path && host.Absolute(at) != host.Absolute(s.path) {
		s.tell.Say("tuner: warning: the record of this run is in %s: move what stands at %s away, and the next start puts it back there", at, s.path)
		s.path = at
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
func (s *session) print(f finale, line []byte) error {
	reportSeen := !s.json && s.env.IsTerminal(s.env.Stdout) && s.env.IsTerminal(s.env.Stderr)
	if s.w.Options.Mode != plan.Simulate && f.err != nil && !reportSeen {
		for _, text := range restLines(s.w, &f.result) {
			fmt.Fprintf(s.env.Stderr, "tuner: %s\n", text)
		}
	}
	if s.json {
		s.box.Put(line)
		if err := s.box.Close(); err != nil {
			return fmt.Errorf("write to stdout: %w", err)
		}
		return nil
	}
	return writeReport(s.w, s.env.Stdout, f, s.path)
}

// journalMode is that of a new journal.
func journalMode(w *setup.Setup) fs.FileMode {
	mode, err := strconv.ParseUint(w.Config.Journal.Mode, 8, 9)
	if err != nil {
		return 0 // the configuration's check has said so
	}
	return fs.FileMode(mode)
}
