package guard

import (
	"cmp"
	"fmt"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/trace"
	"github.com/labtuner/tuner/loop/worker"
	"github.com/labtuner/tuner/safety"
)

// Options says what is guarded.
type Options struct {
	// Plan has the variables, sensors and limits.
	Plan *plan.Options
	// Devices are the devices' names.
	Devices []string
	// Start is when the process began, by Clock.
	Start time.Time
	Clock drivers.Clock
	// Control keeps latches and doses over crashes; nil: they end with the run. Machine
	// tells how long a run was away.
	Control *controlstate.File
	Machine Machine
	// Run names the run.
	Run string
	// Commands are kept with the control state.
	Commands Commands
	// Readings are what causes are explained by.
	Readings Readings
	// Lane is the control state's, MarkLane that of the mark that something is latched,
	// which does not wait for latches and doses.
	Lane, MarkLane int
	// Slowness is how many times longer the watchdog waits for a tick; 0 is as 1.
	Slowness int
	// Disk, if any, is called before and after each write; Failpoint with the name of each
	// point that a test may end the process at.
	Disk      func(what string)
	Failpoint func(name string)
}

// Commands is what the transports remember of commands.
type Commands interface {
	// TakeUnsaved reports whether there is something new to be kept.
	TakeUnsaved() bool
	// Remembered is what is to be kept, before being what was.
	Remembered(before *controlstate.CommandMemory) *controlstate.CommandMemory
}

// Guard is the safety layer of a run. Its methods belong to the goroutine that owns the
// pool; Watch alone runs on one of its own.
type Guard struct {
	opt Options
	bounds
	state safety.State
	// base is the safety layer's time at start.
	base time.Duration
	// out is what was said last, on the causes that the disk gives for being held.
	out  *safety.Output
	disk string
	// news is what the run's story knows of that, commands wait for the next ticks.
	news     news
	commands []safety.Command
	explain  explainer
	saver    saver
	known    known
	faults
	tracing
	watchdog
}

// New begins with what was latched and dosed before. It refuses a run while anything is
// latched: a crash is no reset.
func New(o Options, pool *worker.Pool) (*Guard, error) {
	g := &Guard{opt: o, out: &safety.Output{}, bounds: bounds{plan: o.Plan}, saver: newSaver(&o, pool), watchdog: newWatchdog(&o)}
	for i := range o.Plan.Variables {
		g.began = append(g.began, g.Range(i))
	}
	limits, err := plan.SafetyLimits(o.Plan, o.Start.Round(0))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", plan.ErrOptions, err)
	}
	g.limits = limits
	g.explain = explainer{plan: o.Plan, limits: &g.limits, state: &g.state, readings: o.Readings, devices: o.Devices, clock: o.Clock}
	return g, g.restore()
}

// Time is a time by the safety layer's clock, which goes on over restarts.
// It is rounded down to what the trace keeps: nothing grows younger by it.
func (g *Guard) Time(t time.Time) time.Duration { return trace.Round(g.base + t.Sub(g.opt.Start)) }

// Hear passes a sensor's value through the safety layer, and reports whether it is
// believed: what is not is no data.
func (g *Guard) Hear(sensor int, value float64, at time.Time) bool {
	sample := safety.Sample{Value: value, At: g.Time(at), Known: true}
	var verdict safety.Verdict
	g.state.Sensor[sensor], verdict = g.limits.Sensors[sensor].Accept(g.state.Sensor[sensor], sample)
	g.trace.Heard(trace.Reading{Sensor: sensor, Sample: sample, Verdict: verdict})
	return verdict == safety.Valid
}

// Told are the facts of a tick that the safety layer decides by. One may be told anew for each tick: its Tick is large,
// and what Tick says in it holds until the next one.
type Told struct {
	Now time.Time
	// Tick has the instrument's inputs and what the step wants of it; the rest is Tick's to set.
	trace.Tick
	// CameBack has each driven variable whose device has come back; Before says
	// that nothing has been driven yet.
	CameBack safety.Set
	Before   bool
	// Disk says why the record cannot be relied on, "" where it can.
	Disk string
}

// Ruling is what the safety layer says in a tick.
type Ruling struct {
	Out *safety.Output
	// Turned says that the mode has changed, Changed that there is something to Keep, Full
	// that a piece of the trace is to be Cut.
	Turned, Changed, Full bool
	Said                  []Said
}

// Said is a line of the run's story.
type Said struct{ Level, Kind, Message string }

// Tick passes a tick through the safety layer.
func (g *Guard) Tick(c safety.Command, t *Told) (r Ruling) {
	g.disk = t.Disk
	r.Said = g.tellOutside(t)
	generation, mode := g.state.Generation, g.state.Mode
	v := &t.Tick
	v.Now = g.Time(t.Now)
	g.complete(&v.In, c, t)
	v.Out = g.state.Advance(&g.limits, &v.In, &v.P, v.Now)
	g.out = &v.Out
	r.Out, r.Turned, r.Changed, r.Full = g.out, g.state.Mode != mode, g.state.Generation != generation, g.trace.Tick(v)
	return r
}

// rehearse says what commands would come to, and changes nothing: what keeps the last of
// them from being followed, and the mode.
func (g *Guard) rehearse(t Told, commands ...safety.Command) (refused safety.Causes, mode safety.Mode) {
	state := g.state
	var out safety.Output
	for _, c := range commands {
		in := t.In
		g.complete(&in, c, &t)
		state, out = safety.Step(&g.limits, state, &in, &t.P, g.Time(t.Now))
	}
	return out.Refused, state.Mode
}

// complete adds to the instrument's inputs what the loop itself holds against the run.
func (g *Guard) complete(in *safety.Inputs, c safety.Command, t *Told) {
	in.Command, in.Durable = c, g.saver.durable
	found := g.found
	g.foundOutside(&found, t)
	g.unrecordable(&found)
	in.Faults.Join(&found)
}

// unrecordable adds rule 24 while the record cannot be relied on.
func (g *Guard) unrecordable(c *safety.Causes) {
	if g.Problem() != "" {
		c.Add(safety.RuleRecord, 0)
	}
}

// Problem says why a run is held for the disk, "" where it is not.
func (g *Guard) Problem() string { return cmp.Or(g.disk, g.saver.problem()) }

// Ask queues a command of the loop's own; Next is what the safety layer is asked for in
// this tick: a stop overtakes everything.
func (g *Guard) Ask(c safety.Command) { g.commands = append(g.commands, c) }

func (g *Guard) Next(stop bool) safety.Command {
	if stop {
		return safety.CommandStop
	}
	if len(g.commands) > 0 {
		c := g.commands[0]
		g.commands = g.commands[1:]
		return c
	}
	return safety.CommandNone
}

// faults are what the loop itself has found.
type faults struct{ found safety.Causes }

// Fault holds something that the loop has found against the run; Forgive forgets that.
func (f *faults) Fault(r safety.Rule, subject int) { f.found.Add(r, subject) }
func (f *faults) Forgive(r safety.Rule)            { f.found[r] = safety.Set{} }

// Faulted says that the loop has found something against the run.
func (f *faults) Faulted(r safety.Rule) bool { return f.found.Has(r) }

// Mode is the safety layer's; Ending says that the actuators go to their shutdown states,
// MakesSafe that a person's stop brings them to their safe values, Paused that a person holds the run.
func (g *Guard) Mode() safety.Mode { return g.state.Mode }
func (g *Guard) Ending() bool      { return g.state.Ending }
func (g *Guard) MakesSafe() bool   { return g.state.MakesSafe() }
func (g *Guard) Paused() bool      { return g.state.Paused }

// Since is when the mode was entered.
func (g *Guard) Since(now time.Time) time.Time { return now.Add(g.state.Since - g.Time(now)) }

// Clear says that no cause holds now.
func (g *Guard) Clear() bool { return g.out.Active.Empty() }

// outageRules are the causes that are nobody's fault and go away by themselves: what
// is silent, out of its range or out of order.
var outageRules = [...]safety.Rule{safety.RuleStale, safety.RuleRange, safety.RuleComms, safety.RuleInstrument, safety.RuleRecord}

// Outage reports whether it is an outage that has made the run fall back: nothing is
// latched, nobody holds it, and what came first goes away by itself.
func (g *Guard) Outage() bool {
	if !g.state.Latched.Empty() || g.state.Paused {
		return false
	}
	rest := g.state.FirstOut
	for _, r := range outageRules {
		rest[r] = safety.Set{}
	}
	return rest.Empty() && !g.state.FirstOut.Empty()
}
