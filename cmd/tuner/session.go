package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

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
	env *env
	w   *wiring
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
	tell    *narrator
	box     *outbox
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
	s.began = s.env.now()
	s.tell = newNarrator(s.env.stderr, s.env.style())
	defer s.tell.close()
	var err error
	if s.service, err = newNotifier(s.env.manager, s.clock, s.w.opt.Tick); err != nil {
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
		s.box = newOutbox(s.env.stdout, s.w.opt.Mode == plan.Simulate, func() { s.lostReader(readerGone) })
	}
	doors, err := s.openDoors(deps.Log)
	if err != nil {
		return errors.Join(err, s.journal.Close(), s.closeControl())
	}
	s.sayStart()
	if s.w.opt.Mode != plan.Simulate {
		s.narrower, s.going = loop.NewNarrower(), s.w.cfg
		deps.Narrower = s.narrower
		over, ended := context.WithCancel(ctx)
		defer ended()
		go s.reloadWhenAsked(over)
	}
	there, err := s.appear(deps.Log)
	if err != nil {
		return errors.Join(err, doors.stop(), s.journal.Close(), s.closeControl())
	}
	if s.w.cfg.Web != nil && doors != nil {
		s.panel.MakeReachable()
		s.tell.say("tuner: dashboard at %s", doors.words(s.env.isTerminal(s.env.stderr)))
	}
	doors.start(ctx)
	f := finale{tally: &s.tally, levels: s.env.sparkLevels()}
	f.result, f.err = loop.Run(ctx, s.w.opt, deps)
	there.leave()
	if context.Cause(ctx) == errReaderGone {
		f.err = nil // what close says of stdout is the error
	}
	f.took = s.env.now().Sub(s.began)
	s.service.close(s.lastWords(f))
	var truthErr error
	if s.plant != nil && s.w.opt.Mode == plan.Simulate {
		f.truth, truthErr = s.w.askPlant(s.plant, f.result)
	}
	line, lineErr := encodeLine(s.w.resultLine(f.result, f.truth, f.err))
	closeErr := errors.Join(doors.stop(), s.closeJournal(f.result, line))
	s.tell.close()
	return errors.Join(f.err, truthErr, lineErr, closeErr, s.closeControl(), s.print(f, line))
}

// errReaderGone ends a simulation whose lines nobody reads any more.
var errReaderGone = errors.New("nobody reads stdout")

// lostReader ends a simulation when stdout breaks; a run on a real instrument
// goes on, as its journal has everything.
func (s *session) lostReader(cancel context.CancelCauseFunc) {
	if s.w.opt.Mode == plan.Simulate {
		cancel(errReaderGone)
		return
	}
	s.tell.say("tuner: warning: nobody reads stdout any more; the run goes on and the journal has every step")
}

// prepare makes everything that the loop needs; the journal comes last, so that
// nothing is left behind when another part cannot be made.
func (s *session) prepare(ctx context.Context) (loop.Deps, error) {
	log := newLog(s.tell)
	deps := loop.Deps{Clock: s.clock, Log: log, Failpoint: s.env.failpoint, Slowness: s.env.slowness, Watch: s.watch()}
	env := drivers.Env{Clock: s.clock, Log: log}
	if s.w.opt.Mode == plan.Simulate {
		if err := s.simulated(&deps, env); err != nil {
			return deps, err
		}
	} else if err := s.real(&deps, env); err != nil {
		return deps, err
	}
	var err error
	if s.w.opt.Mode == plan.Live {
		if err := s.openControl(&deps); err != nil {
			return deps, err
		}
	}
	if deps.Policy, err = s.w.newPolicy(s.warm); err != nil {
		return deps, err
	}
	s.tally.firstStep = make([]int, len(s.w.opt.ControlSets))
	if s.run, err = s.describeRun(); err != nil {
		return deps, err
	}
	if s.w.opt.Mode != plan.Simulate {
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
		s.tell.say("tuner: warning: %s", notice)
	}
	deps.Journal, deps.Rebuild, deps.Run = s.journal, s.rebuild, s.run.ID
	if s.w.opt.Mode != plan.Simulate {
		deps.Space = func() (uint64, error) { return disk.FreeSpace(filepath.Dir(s.path)) }
	}
	return deps, nil
}

// begin makes the journal of a new run.
func (s *session) begin() (err error) {
	if s.journal, err = journal.Create(s.path, s.run, journal.Options{Mode: s.w.journalMode()}); err != nil {
		return err
	}
	for _, source := range s.warm {
		s.remarks = append(s.remarks, warmWords(source))
	}
	if err := s.journal.Warm(s.warm); err != nil {
		return errors.Join(err, s.journal.Close())
	}
	return nil
}

// simulated gives every device of the file a view of one plant.
func (s *session) simulated(deps *loop.Deps, env drivers.Env) (err error) {
	if s.plant, err = s.w.newPlant(env); err != nil {
		return err
	}
	deps.BeginStep = s.plant.BeginStep
	for _, d := range s.w.devices {
		deps.Devices = append(deps.Devices, loop.Device{Name: d.name, Device: s.plant.Device(d.name)})
	}
	return nil
}

// real makes the devices of the file; the loop opens them.
func (s *session) real(deps *loop.Deps, env drivers.Env) error {
	for _, d := range s.w.devices {
		env := drivers.Env{Clock: env.Clock, Log: env.Log.With("device", d.name), Looking: s.w.opt.Mode == plan.Shadow}
		dev, err := d.build(env)
		if err != nil {
			return fmt.Errorf("device %q: %w", d.name, err)
		}
		deps.Devices = append(deps.Devices, loop.Device{Name: d.name, Device: dev})
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
			line, err := encodeLine(export.NewStepLine(s.run, d, o))
			if err != nil {
				s.tell.say("tuner: warning: step %d cannot be printed: %v", d.Step, err)
				return
			}
			s.box.put(line)
		},
		Progress: func(p control.Progress) {
			s.env.json.at(s.run.ID, p.Step)
			line := func() string { return s.w.progressLine(p, s.pace(p.Elapsed)) }
			s.tell.show(line())
			s.service.tick(p, line)
		},
		Event: s.sayEvent,
	}
}

// lastWords is what the service manager shows of a run that has ended.
func (s *session) lastWords(f finale) string {
	words := []string{"ended: " + f.result.Reason}
	if f.err != nil && exitCode(f.err) != exitInterrupted {
		words[0] = f.err.Error()
	}
	return strings.Join(append(words, s.w.restLines(&f.result)...), "; ")
}

// progressMarks is the width of the course in a progress line.
const progressMarks = 16

// showProgress draws the progress line, with the last steps' values before it.
func (s *session) showProgress(p control.Progress) {
	line := s.w.progressLine(p, s.pace(p.Elapsed))
	if course := sparkline(s.tally.course.newest(progressMarks), s.env.sparkLevels()); course != "" {
		line = course + " " + line
	}
	s.tell.show(line)
}

// pace is how much of this machine's time has passed per unit of the loop's: a
// simulation is faster than what it simulates.
func (s *session) pace(elapsed time.Duration) float64 {
	if s.w.opt.Mode != plan.Simulate || elapsed <= 0 {
		return 1
	}
	return float64(s.env.now().Sub(s.began)) / float64(elapsed)
}

// sayEvent tells what a person should hear at once. Faults are told at the end,
// with what became of the actuators.
func (s *session) sayEvent(e journal.Event) {
	switch {
	case e.Kind == "recommend": // the report says that there is none
	case e.Kind == journal.EventSafety && e.Level == "error": // at once: bringing actuators to rest may take its time
		s.tell.say("tuner: error: %s", e.Message)
	case e.Kind == journal.EventSafety && e.Level == "info", e.Kind == journal.EventCommand && e.Level == "info":
		s.tell.say("tuner: %s", e.Message)
	case (e.Kind == "device" || e.Kind == journal.EventDisk) && e.Level == "info":
		s.tell.say("tuner: %s", e.Message)
	case e.Level == "warn", e.Kind == journal.EventDisk:
		s.tell.say("tuner: warning: %s", e.Message)
	case e.Kind == "interrupt":
		s.tell.say("tuner: %s", e.Message)
	case (e.Kind == "home" || e.Kind == journal.EventVerify) && s.w.opt.Mode == plan.Live:
		s.tell.say("tuner: %s", e.Message)
	}
}

// sayStart tells what begins, and what the file asks for and does not get.
func (s *session) sayStart() {
	w := s.w
	for _, r := range s.remarks {
		s.tell.say("tuner: %s", r)
	}
	s.tell.say("tuner: %s of %s begins: %s; journal %s", modeWords(string(w.opt.Mode)), w.cfg.Name, w.stopWords(), s.path)
	if text := w.verifyWords(); text != "" && w.opt.Mode == plan.Live {
		s.tell.say("tuner: it %s", text)
	}
	if w.opt.Mode != plan.Simulate {
		for _, d := range w.doubts {
			s.tell.say("tuner: warning: %s:%d: %s: %s", w.cfg.File, d.Line, d.Key, doubtWords(d))
		}
	}
}

// describeRun is the head of the journal.
func (s *session) describeRun() (journal.Run, error) {
	w := s.w
	run := journal.Run{Name: w.cfg.Name, Site: w.cfg.Site, Mode: string(w.opt.Mode), Policy: w.cfg.Policy.Kind,
		Version: buildVersion(), Seed: w.spec.Seed, Start: journal.Stamp{Wall: s.clock.Now().Round(0)},
		ConfigFile: w.cfg.File, ConfigText: w.cfg.Text,
		Objective: journal.Column{Name: w.opt.Objective.Name, Unit: w.opt.Objective.Unit},
		Minimize:  w.opt.Objective.Minimize, CostUnit: w.opt.Cost.Unit}
	for _, k := range w.cfg.Effective() {
		run.Effective = append(run.Effective, journal.Setting{Key: k.Key, Value: k.Value, Origin: k.Origin})
	}
	for _, v := range w.opt.Variables {
		run.Variables = append(run.Variables, journal.Column{Name: v.Name, Unit: v.Unit})
	}
	for _, v := range w.opt.Sensors {
		run.Sensors = append(run.Sensors, journal.Column{Name: v.Name, Unit: v.Unit})
	}
	for i, c := range w.opt.ControlSets {
		run.ControlSets = append(run.ControlSets, journal.ControlSet{Variables: w.setNames(i), Cost: c.Cost})
	}
	if w.opt.Mode == plan.Simulate {
		// What a simulation does follows from its file alone, so its name does too.
		run.ID = "simulate-" + w.cfg.SHA256[:16]
		return run, nil
	}
	unique := make([]byte, 8)
	if _, err := io.ReadFull(s.env.random, unique); err != nil {
		return run, fmt.Errorf("name the run: %w", err)
	}
	run.ID = s.clock.Now().UTC().Format("20060102T150405Z-") + hex.EncodeToString(unique)
	run.BootID = bootID()
	return run, nil
}

// bootID names the boot of this machine, "" where the kernel does not say.
func bootID() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// closeJournal writes the result and closes. A run on a real instrument that did
// not reach a stop condition stays unfinished: it is there to be resumed.
func (s *session) closeJournal(r loop.Result, line []byte) error {
	var err error
	if s.w.opt.Mode == plan.Simulate || slices.Contains([]string{"steps", "cost", "time", "set-best"}, r.Reason) {
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
		s.tell.say("tuner: warning: %s", n.Message)
	}
	if at := s.journal.Path(); at != s.path && absolute(at) != absolute(s.path) {
		s.tell.say("tuner: warning: the record of this run is in %s: move what stands at %s away, and the next start puts it back there", at, s.path)
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
			s.tell.say("tuner: the result can be recorded again")
		}
	}
	return err
}

// print writes the result to stdout, and after a failure or an interrupt what
// became of the actuators to stderr as well, where a person looks first.
func (s *session) print(f finale, line []byte) error {
	reportSeen := !s.json && s.env.isTerminal(s.env.stdout) && s.env.isTerminal(s.env.stderr)
	if s.w.opt.Mode != plan.Simulate && f.err != nil && !reportSeen {
		for _, text := range s.w.restLines(&f.result) {
			fmt.Fprintf(s.env.stderr, "tuner: %s\n", text)
		}
	}
	if s.json {
		s.box.put(line)
		if err := s.box.close(); err != nil {
			return fmt.Errorf("write to stdout: %w", err)
		}
		return nil
	}
	return s.w.writeReport(s.env.stdout, f, s.path)
}
