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

// saver makes latches and doses durable.
type saver struct {
	opt  *Options
	pool *worker.Pool
	file *controlstate.File
	// durable is the newest generation of the safety layer's state that is; failed says that
	// one could not be saved. saving says that one is being written, next that a newer one
	// waits.
	durable      uint64
	failed       bool
	saving, next bool
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
	// stays still until resume, "" if it does not; savedAt is when the state was last written.
	starts  []time.Duration
	waits   string
	savedAt time.Time
	files   controlFiles
}

func newSaver(o *Options, pool *worker.Pool) saver {
	return saver{opt: o, pool: pool, file: o.Control}
}

// problem says why a run is held for the control state, "" where it is not.
func (k *saver) problem() string {
	switch {
	case k.files.held != "":
		return k.files.held
	case k.failed:
		return "the control state cannot be written"
	}
	return ""
}

// What the saver reports beside Said.
type (
	// Unsaved: the control state cannot be saved, and that is not waited for.
	Unsaved struct{ Err error }
	// Saved: nothing is being written.
	Saved struct{}
)

// What jobs on the workers of the control state bring.
type (
	// written is what became of a state.
	written struct {
		generation uint64
		err        error
	}
	// ahead is what became of the mark that something is latched.
	ahead struct{ err error }
)

// Save makes latches and doses durable, on a worker of its own: a slow journal does
// not hold it up. Output that must wait for it waits in the safety layer. While one state
// is being written the next one waits, and is the newest then: a disk that hangs has one
// state, not a queue of them.
func (g *Guard) Save() {
	if g.saver.file == nil {
		return
	}
	saved := g.state.Save()
	g.saver.write(g.controlState(saved), saved.Generation)
}

// write writes a state of the given generation.
func (k *saver) write(state controlstate.State, generation uint64) {
	k.savedAt = k.opt.Clock.Now()
	k.markLatch(&state)
	if k.next = k.saving; k.next {
		return
	}
	k.saving = true
	k.failpoint("control-changed")
	k.pool.Post(k.opt.Lane, func() any {
		return written{generation, k.onDisk("control state", func() error { return k.file.Write(state) })}
	})
}

// onDisk writes, on a worker.
func (k *saver) onDisk(what string, write func() error) error {
	if k.opt.Disk == nil {
		return write()
	}
	k.opt.Disk(what)
	err := write()
	k.opt.Disk(what) // what is durable is not reported at once
	return err
}

// failpoint tells a test where the saver is.
func (k *saver) failpoint(name string) {
	if k.opt.Failpoint != nil {
		k.opt.Failpoint(name)
	}
}

// Handle takes in what a job has brought. It reports false where that is not of a guard.
func (g *Guard) Handle(result any) (events []any, mine bool) {
	switch r := result.(type) {
	case written:
		events = g.saver.took(r, g.plan.Outages.Wait)
		if g.saver.next {
			g.Save()
		}
		return append(events, Saved{}), true
	case ahead:
		if r.err != nil {
			events = append(events, Said{"error", journal.EventDisk, r.err.Error()})
		}
		return events, true
	case seen:
		return g.saver.files.saw(r), true
	}
	return nil, false
}

// took takes in what became of a state; wait says that a disk that fails is waited for.
func (k *saver) took(r written, wait bool) (events []any) {
	k.saving = false
	switch {
	case r.err == nil:
		k.durable = max(k.durable, r.generation)
		if k.failed {
			k.failed = false
			events = append(events, Said{"info", journal.EventDisk, "the control state can be written again"})
		}
		k.failpoint("control-durable")
	case !wait:
		events = append(events, Unsaved{r.err})
	case !k.failed:
		k.failed = true
		events = append(events, Said{"error", journal.EventDisk, r.err.Error()})
	}
	return events
}

// Saving says that a state is being written, Owes that the newest one is not durable.
func (g *Guard) Saving() bool { return g.saver.saving }
func (g *Guard) Owes() bool   { return g.saver.saving || g.saver.failed }

// MarkUnderway has the control state say once in a process that there is a run with a step:
// a start that finds no journal then knows that there was one.
func (g *Guard) MarkUnderway() {
	if !g.saver.underway {
		g.saver.underway = true
		g.Save()
	}
}

// Underway says that the run has made a step already.
func (g *Guard) Underway() { g.saver.underway = true }

// markLatch notes at once that something is latched, on a worker that nothing else waits in:
// a disk that is slow may take longer with the state than the process lives.
func (k *saver) markLatch(state *controlstate.State) {
	latched := len(state.Latched) > 0
	if latched && !k.marked {
		k.marks++
		n := k.marks
		k.pool.Post(k.opt.MarkLane, func() any { return ahead{k.file.MarkAhead(n)} })
	}
	k.marked, state.Marks = latched, k.marks
}

// saveEvery is how often the control state is written though nothing in it has changed:
// its time is what doses and starts grow old by. Not more often: a card wears. Not less:
// after a crash that time is lost, and budgets and starts count for longer.
const saveEvery = 5 * time.Minute

// saveSoon is how long what a transport wants remembered may wait: many commands make one
// writing.
const saveSoon = time.Second

// SaveTime makes the safety layer's time durable now and then.
func (g *Guard) SaveTime(now time.Time) {
	if g.saver.file == nil || g.plan.Mode != plan.Live {
		return
	}
	if age := now.Sub(g.saver.savedAt); age >= saveEvery || age >= saveSoon && g.opt.Commands.TakeUnsaved() {
		g.Save()
	}
}

// SaveAgain tries again to make latches and doses durable, every second.
func (g *Guard) SaveAgain(now time.Time) {
	if g.saver.failed && now.Sub(g.saver.savedAt) >= time.Second {
		g.Save()
	}
}

// controlState is what is written of a saved state, by names, so that it outlives
// changes of the configuration.
func (g *Guard) controlState(saved safety.Saved) controlstate.State {
	k := &g.saver
	s := controlstate.State{Wall: g.opt.Clock.Now().Round(0).UTC(), BootID: g.opt.Machine.BootID, Uptime: g.opt.Machine.uptime(), At: saved.At,
		Mode: g.state.Mode.String(), Latched: g.explain.named(saved.Latched), FirstOut: g.explain.named(saved.FirstOut),
		Doses: maps.Clone(k.others), Run: g.opt.Run, Underway: k.underway, Starts: k.starts, Commands: g.opt.Commands.Remembered(k.commands)}
	if s.Doses == nil {
		s.Doses = map[string]safety.DoseState{}
	}
	for i, d := range g.limits.Doses {
		s.Doses[g.plan.Variables[d.Variable].Name] = saved.Dose[i]
	}
	return s
}
