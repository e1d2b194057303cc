package guard

import (
	"maps"
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/worker"
	"github.com/labtuner/tuner/safety"
)

// keeper makes latches and doses durable.
type keeper struct {
	opt  *Options
	pool *worker.Pool
	file *controlstate.File
	// durable is the newest generation of the safety layer's state that is; failed says that
	// one could not be kept. keeping says that one is being written, next that a newer one
	// waits.
	durable       uint64
	failed        bool
	keeping, next bool
	// marked says that what is latched has been marked ahead of its state, marks how often
	// that was done.
	marked bool
	marks  uint64
	// others are kept as they were found: doses of variables without a budget now, and what
	// earlier processes knew of commands.
	others   map[string]safety.DoseState
	commands *controlstate.CommandMemory
	// underway says that the run has made a step.
	underway bool
	// starts are the times of this hour's automatic starts; waits says why the run
	// stays still until resume, "" if it does not; kept is when the state was last written.
	starts []time.Duration
	waits  string
	kept   time.Time
	files  controlFiles
}

func newKeeper(o *Options, pool *worker.Pool) keeper {
	return keeper{opt: o, pool: pool, file: o.Control}
}

// problem says why a run is held for the control state, "" where it is not.
func (k *keeper) problem() string {
	switch {
	case k.files.held != "":
		return k.files.held
	case k.failed:
		return "the control state cannot be written"
	}
	return ""
}

// What the keeper tells of beside Said.
type (
	// Unkept: the control state cannot be kept, and that is not waited for.
	Unkept struct{ Err error }
	// Settled: nothing is being written.
	Settled struct{}
)

// What jobs on the lanes of the control state bring.
type (
	// kept is what became of a state.
	kept struct {
		generation uint64
		err        error
	}
	// ahead is what became of the mark that something is latched.
	ahead struct{ err error }
)

// Keep makes latches and doses durable, on a lane of its own: a slow journal does
// not hold it up. Output that must wait for it waits in the safety layer. While one state
// is being written the next one waits, and is the newest then: a disk that hangs has one
// state, not a queue of them.
func (g *Guard) Keep() {
	if g.keeper.file == nil {
		return
	}
	saved := g.state.Save()
	g.keeper.keep(g.controlState(saved), saved.Generation)
}

// keep writes a state of the given generation.
func (k *keeper) keep(state controlstate.State, generation uint64) {
	k.kept = k.opt.Clock.Now()
	k.markLatch(&state)
	if k.next = k.keeping; k.next {
		return
	}
	k.keeping = true
	k.failpoint("control-changed")
	k.pool.Post(k.opt.Lane, func() any {
		return kept{generation, k.onDisk("control state", func() error { return k.file.Write(state) })}
	})
}

// onDisk writes, on a lane.
func (k *keeper) onDisk(what string, write func() error) error {
	if k.opt.Disk == nil {
		return write()
	}
	k.opt.Disk(what)
	err := write()
	k.opt.Disk(what) // what is durable is not reported at once
	return err
}

// failpoint tells a test where the keeper is.
func (k *keeper) failpoint(name string) {
	if k.opt.Failpoint != nil {
		k.opt.Failpoint(name)
	}
}

// Handle takes in what a job has brought. It reports false where that is not of a guard.
func (g *Guard) Handle(result any) (events []any, mine bool) {
	switch r := result.(type) {
	case kept:
		events = g.keeper.took(r, g.plan.Outages.Wait)
		if g.keeper.next {
			g.Keep()
		}
		return append(events, Settled{}), true
	case ahead:
		if r.err != nil {
			events = append(events, Said{"error", journal.EventDisk, r.err.Error()})
		}
		return events, true
	case seen:
		return g.keeper.files.saw(r), true
	}
	return nil, false
}

// took takes in what became of a state; wait says that a disk that fails is waited for.
func (k *keeper) took(r kept, wait bool) (events []any) {
	k.keeping = false
	switch {
	case r.err == nil:
		k.durable = max(k.durable, r.generation)
		if k.failed {
			k.failed = false
			events = append(events, Said{"info", journal.EventDisk, "the control state can be written again"})
		}
		k.failpoint("control-durable")
	case !wait:
		events = append(events, Unkept{r.err})
	case !k.failed:
		k.failed = true
		events = append(events, Said{"error", journal.EventDisk, r.err.Error()})
	}
	return events
}

// Keeping says that a state is being written, Owes that the newest one is not durable.
func (g *Guard) Keeping() bool { return g.keeper.keeping }
func (g *Guard) Owes() bool    { return g.keeper.keeping || g.keeper.failed }

// MarkUnderway has the control state say once in a process that there is a run with a step:
// a start that finds no journal then knows that there was one.
func (g *Guard) MarkUnderway() {
	if !g.keeper.underway {
		g.keeper.underway = true
		g.Keep()
	}
}

// Underway says that the run has made a step already.
func (g *Guard) Underway() { g.keeper.underway = true }

// markLatch notes at once that something is latched, on a lane that nothing else waits in:
// a disk that is slow may take longer with the state than the process lives.
func (k *keeper) markLatch(state *controlstate.State) {
	latched := len(state.Latched) > 0
	if latched && !k.marked {
		k.marks++
		n := k.marks
		k.pool.Post(k.opt.MarkLane, func() any { return ahead{k.file.MarkAhead(n)} })
	}
	k.marked, state.Marks = latched, k.marks
}

// keepEvery is how often the control state is written though nothing in it has changed:
// its time is what doses and starts grow old by. Not more often: a card wears. Not less:
// after a crash that time is lost, and budgets and starts count for longer.
const keepEvery = 5 * time.Minute

// keepSoon is how long what a transport wants remembered may wait: many commands make one
// writing.
const keepSoon = time.Second

// KeepTime makes the safety layer's time durable now and then.
func (g *Guard) KeepTime(now time.Time) {
	if g.keeper.file == nil || g.plan.Mode != plan.Live {
		return
	}
	if age := now.Sub(g.keeper.kept); age >= keepEvery || age >= keepSoon && g.opt.Commands.TakeUnkept() {
		g.Keep()
	}
}

// KeepAgain tries again to make latches and doses durable, every second.
func (g *Guard) KeepAgain(now time.Time) {
	if g.keeper.failed && now.Sub(g.keeper.kept) >= time.Second {
		g.Keep()
	}
}

// controlState is what is written of a saved state, by names, so that it outlives
// changes of the configuration.
func (g *Guard) controlState(saved safety.Saved) controlstate.State {
	k := &g.keeper
	s := controlstate.State{Wall: g.opt.Clock.Now().Round(0).UTC(), BootID: g.opt.Machine.BootID, Uptime: g.opt.Machine.uptime(), At: saved.At,
		Mode: g.state.Mode.String(), Latched: g.words.named(saved.Latched), FirstOut: g.words.named(saved.FirstOut),
		Doses: maps.Clone(k.others), Run: g.opt.Run, Underway: k.underway, Starts: k.starts, Commands: g.opt.Commands.Remembered(k.commands)}
	if s.Doses == nil {
		s.Doses = map[string]safety.DoseState{}
	}
	for i, d := range g.limits.Doses {
		s.Doses[g.plan.Variables[d.Variable].Name] = saved.Dose[i]
	}
	return s
}
