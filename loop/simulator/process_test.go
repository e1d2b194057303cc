package simulator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/mqtt"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/guard"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/replay"
)

// process is one process of tuner, from its start to its end: what tuner run does,
// with the simulation's network, clock and folder. A process that was killed goes on
// as a ghost, because no goroutine can be ended from outside: its network is gone,
// the files that count are copies, and nobody listens to it.
type process struct {
	w      *world
	number int
	folder string
	line   *line
	panel  *control.Panel
	cancel context.CancelFunc
	done   chan error
	killed atomic.Bool
	// refused says that the last reset was: some latches need a new process.
	refused atomic.Bool
	disk    slowDisk
	// freed lets a process go on that was killed at a failpoint.
	freed chan struct{}
}

// The files of a process's folder.
const (
	journalFile = "run.db"
	controlFile = "run.control"
)

// start begins a process on the files in folder.
func (w *world) start(folder string) *process {
	w.processes++
	p := &process{w: w, number: w.processes, folder: folder, panel: control.NewPanel(fmt.Sprint("process-", w.processes)), done: make(chan error, 1), freed: make(chan struct{}),
		line: newLine(w.broker, w.seed, uint64(100+w.processes))}
	w.lines = append(w.lines, p.line)
	p.disk.most.Store(int64(w.drag))
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	w.note("process %d starts", p.number)
	go func() { p.done <- p.run(ctx) }()
	return p
}

// run is the process's main function.
func (p *process) run(ctx context.Context) (err error) {
	w := p.w
	state, err := controlstate.Open(filepath.Join(p.folder, controlFile), disk.Holder{PID: p.number})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, state.Close()) }()
	w.witness.booked(p, state.State())
	defer func() { w.witness.booked(p, state.State()) }()
	if err := guard.Latched(state.State()); err != nil {
		return err
	}
	inner, err := policy.New(w.spec())
	if err != nil {
		return err
	}
	o := w.pace.options()
	p.panel.MakeReachable()
	deps := loop.Deps{Clock: &w.wall, Policy: inner, Control: state, Panel: p.panel, Failpoint: p.failpoint, Rebuild: p.rebuild, Run: runName,
		Disk:    func(what string) { p.disk.write(p, what) },
		Machine: w.machine()}
	j, err := p.journal(&o, &deps)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	device, err := p.device()
	if err != nil {
		return err
	}
	deps.Policy, deps.Journal, deps.Devices = &moody{Policy: inner, w: w}, j, []loop.Device{{Name: "lab", Device: device}}
	deps.Watch = control.Watch{
		Step:  func(d journal.Decision, o journal.Outcome) { w.witness.acknowledged(p, d, o) },
		Event: func(e journal.Event) { w.witness.told(p, e) },
	}
	_, err = loop.Run(ctx, o, deps)
	p.disk.over.Store(true)
	return err
}

// machine tells the time that nobody can set.
func (w *world) machine() guard.Machine { return guard.Machine{BootID: "one", Uptime: w.since} }

// device is the real driver with the witness at its border.
func (p *process) device() (drivers.Device, error) {
	o := p.w.pace.connection(p.line)
	o.Random = seeded(p.w.seed, uint64(p.number))
	d, err := mqtt.New(o, p.w.pace.channels(), drivers.Env{Clock: &p.w.wall, Log: p.w.logger(fmt.Sprintf("driver of process %d", p.number))})
	if err != nil {
		return nil, err
	}
	return &border{Device: d, p: p}, nil
}

// journal creates the run's journal, or goes on with the one that is there.
func (p *process) journal(o *plan.Options, deps *loop.Deps) (*journal.Journal, error) {
	path := filepath.Join(p.folder, journalFile)
	session := journal.Session{PID: p.number, Version: "simulation"}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return journal.Create(path, runOf(o, p.w), journal.Options{Session: session})
	}
	j, err := journal.Open(path, journal.Options{Session: session})
	if err != nil {
		return nil, err
	}
	past, err := p.takeUp(context.Background(), deps.Policy)
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	deps.Past = past
	return j, nil
}

// takeUp brings a policy to where the run's was.
func (p *process) takeUp(ctx context.Context, to policy.Policy) (past *replay.Past, err error) {
	r, err := journal.OpenReader(filepath.Join(p.folder, journalFile))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	o := p.w.pace.options()
	recalled, err := replay.Recall(&o, r)
	if err != nil {
		return nil, err
	}
	replay := replay.Decisions{Options: o, Policy: to, Lenient: true, Sampled: true}
	done, err := replay.Run(ctx, r)
	if err != nil {
		return nil, err
	}
	if done.First != nil {
		p.w.witness.violation("process %d would have decided otherwise: %+v", p.number, *done.First)
	}
	return &recalled, nil
}

// rebuild makes the policy anew after a panic.
func (p *process) rebuild(ctx context.Context) (policy.Policy, error) {
	inner, err := policy.New(p.w.spec())
	if err == nil {
		_, err = p.takeUp(ctx, inner)
	}
	return &moody{Policy: inner, w: p.w}, err
}

// command is what a person or a program asks of the process, one thing after the
// other; what it answers is noted.
func (p *process) command(names ...string) {
	p.w.commands.Go(func() {
		for _, name := range names {
			p.ask(name)
		}
	})
}

func (p *process) ask(name string) {
	w := p.w
	ctx, cancel := context.WithTimeout(context.Background(), 10*w.pace.tick+31*time.Microsecond)
	defer cancel()
	r := p.panel.Do(ctx, control.Request{Command: name, Who: "someone", Transport: "cli"})
	w.note("process %d answers %s: %s %s", p.number, name, r.Code, r.Message)
	if name == control.CommandReset && !p.killed.Load() {
		acts := r.OK || r.Code == control.CodeUnanswered // it acts, and only the answer is late
		p.refused.Store(!acts)
		if acts {
			w.witness.reset()
		}
	}
}

// runOf is the head of the journal.
func runOf(o *plan.Options, w *world) journal.Run {
	run := journal.Run{ID: runName, Name: "simulation", Mode: string(o.Mode), Policy: w.kind, Seed: w.seed,
		Objective: journal.Column{Name: o.Objective.Name, Unit: o.Objective.Unit}, Start: journal.Stamp{Wall: w.began.Round(0)}}
	for _, v := range o.Variables {
		run.Variables = append(run.Variables, journal.Column{Name: v.Name, Unit: v.Unit})
	}
	for _, s := range o.Sensors {
		run.Sensors = append(run.Sensors, journal.Column{Name: s.Name, Unit: s.Unit})
	}
	names := make([]string, len(o.Variables))
	for i := range names {
		names[i] = o.Variables[i].Name
	}
	run.ControlSets = []journal.ControlSet{{Variables: names, Cost: 1}}
	return run
}

// failpoint is called by the loop between intent, write and outcome: the world may
// kill the process here, or stop the loop's goroutine for a while.
func (p *process) failpoint(name string) {
	if p.killed.Load() {
		return
	}
	stall, kill := p.w.at(name)
	if kill {
		p.w.deaths <- p
		<-p.freed
	}
	if stall > 0 {
		p.w.note("the loop of process %d stands still at %s for %v", p.number, name, stall)
		p.disk.stands.Add(1)
		time.Sleep(stall)
		p.disk.stands.Add(1)
	}
}

// workerTime is what each of the loop's workers takes at least for a job: at one instant two of
// them would be done in the order of the scheduler.
var workerTime = map[string]time.Duration{"record": 1009 * time.Nanosecond, "control state": 2003 * time.Nanosecond,
	"policy": 5003 * time.Nanosecond, "device": 10007 * time.Nanosecond}

// border is where the tuner's words leave it: the witness sees each.
type border struct {
	*mqtt.Device
	p *process
}

// Write shows the witness what is about to be sent.
func (b *border) Write(ctx context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	time.Sleep(workerTime["device"])
	if s.Dose != "" {
		b.p.w.witness.doseLeaves(b.p, s)
		return b.Device.Write(ctx, s)
	}
	n := b.p.w.witness.sends(b.p, s)
	r, err := b.Device.Write(ctx, s)
	b.p.w.witness.sent(n, err)
	return r, err
}

// Read takes its time.
func (b *border) Read(ctx context.Context, channels []string) (drivers.Reading, error) {
	time.Sleep(workerTime["device"])
	return b.Device.Read(ctx, channels)
}

// Halt is shown as a write of the safe values.
func (b *border) Halt(ctx context.Context) error {
	time.Sleep(workerTime["device"])
	n := b.p.w.witness.sends(b.p, drivers.Setpoints{Values: map[string]float64{"a": safeValue, "b": safeValue}})
	err := b.Device.Halt(ctx)
	b.p.w.witness.sent(n, err)
	return err
}

// moody is a policy that has bad moods when the world wants it.
type moody struct {
	policy.Policy
	w *world
}

// Propose is slow, panics, or says what no safety layer may believe.
func (m *moody) Propose(ctx context.Context) (policy.Proposal, error) {
	time.Sleep(workerTime["policy"])
	mood := m.w.mood()
	if mood == moodSlow || mood == moodHung {
		time.Sleep(m.w.pace.moodTime(mood))
	}
	if mood == moodPanic {
		panic("a policy that panics, as the simulation wants it")
	}
	return m.Policy.Propose(ctx)
}

// Observe takes its time.
func (m *moody) Observe(o policy.Observation) error {
	time.Sleep(workerTime["policy"])
	return m.Policy.Observe(o)
}

// LimitWork passes on what replay asks for.
func (m *moody) LimitWork(units int) {
	if l, ok := m.Policy.(policy.WorkLimiter); ok {
		l.LimitWork(units)
	}
}

// SetStart passes on the starting setting.
func (m *moody) SetStart(x []float64) {
	if s, ok := m.Policy.(policy.Starter); ok {
		s.SetStart(x)
	}
}

// seeded is a source of bytes that a seed determines.
func seeded(seed, stream uint64) io.Reader { return &bytesOf{rng: newRand(seed, 1000+stream)} }
