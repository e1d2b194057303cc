package loop

import (
	"context"
	"log/slog"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/guard"
	"github.com/labtuner/tuner/loop/instrument"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/replay"
	"github.com/labtuner/tuner/loop/worker"
)

// Device is a device with its name.
type Device = instrument.Device

// Fits refuses the device of an index among the options', which has been opened and offers these channels, where a run
// would: where it does not have what the options need of it.
func Fits(o *plan.Options, index int, name string, channels []drivers.Channel) error {
	return instrument.Fits(o, index, name, channels)
}

// RestReport is what became of one actuator at the end.
type RestReport = instrument.RestReport

// Deps is what the loop uses of the world.
type Deps struct {
	Clock   drivers.Clock
	Devices []Device
	Policy  policy.Policy
	Journal *journal.Journal
	// Control keeps latches and doses over crashes; nil: they end with the run.
	Control *controlstate.File
	// Machine tells how long a run was away.
	Machine guard.Machine
	// Run names the run; it is part of the names of its doses.
	Run string
	// Space tells the free bytes on the journal's disk; nil: nobody looks. It may block.
	Space func() (uint64, error)
	// Past is what the journal's run has behind it; nil: it begins. Policy has been
	// brought to where the run's was, by Replay.
	Past *replay.Past
	// Asked are the settings of their own that people have asked for before the run goes on, those
	// on record.
	Asked []replay.Asked
	// Rebuild makes the policy anew and brings it to where the journal ends, by Replay:
	// what has panicked cannot be asked again as it is. It runs on the policy's worker. nil:
	// a panic is the end.
	Rebuild func(ctx context.Context) (policy.Policy, error)
	// Panel takes commands from other goroutines and tells them how the run stands; nil:
	// nobody commands and nobody asks.
	Panel *control.Panel
	// Amend looks at a change that is asked for while the run goes on, by what is recorded and
	// the changes before it: whether it can be made, and what the run then goes by. It runs on
	// a worker of its own; its error says to a person why not. nil: there are no changes.
	Amend func(before plan.Changes, w EditRequest) (plan.Amended, error)
	// Narrower brings narrower limits from other goroutines; nil: there are none.
	Narrower *control.Narrower
	Log      *slog.Logger
	// Watch is called with what happens, on the loop's goroutine; it must not block.
	Watch control.Watch
	// Stopwatch times decisions for the record; nothing depends on what it shows.
	// nil: the real clock.
	Stopwatch drivers.Clock
	// Failpoint, if any, is called with the name of each step between intent,
	// write and outcome; tests end the process there.
	Failpoint func(name string)
	// Slowness is how many times longer the watchdog waits for a tick; 0, which is as 1, in
	// the product: a test may share its machine with much else.
	Slowness int
	// Disk, if any, is called before and after each write to the disk, with what is
	// written ("record" or "control state"), on the goroutine that writes: tests let it
	// take its time.
	Disk func(what string)
	// BeginStep, if any, is called with each step as it begins (a simulated plant's
	// faults count steps).
	BeginStep func(step int)
}

func (d *Deps) logger() *slog.Logger {
	if d.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return d.Log
}

func (d *Deps) stopwatch() drivers.Clock {
	if d.Stopwatch == nil {
		return worker.RealClock{}
	}
	return d.Stopwatch
}

// Result is what a run found.
type Result struct {
	// Reason says why the run ended: "steps", "cost", "time", "interrupted",
	// "fault", "no data", "safety", "target", "no-improvement", "set-best", "end".
	Reason string
	// Steps counts those that the policy decided, and Spent is their cost.
	Steps int
	Spent float64
	// SpentBySet and PlaysBySet have one entry per control set.
	SpentBySet []float64
	PlaysBySet []int
	// Broken counts those of Steps whose readings broke a constraint.
	Broken int
	// Found is the policy's recommendation in the user's sense; valid if HasFound.
	Found    policy.Recommendation
	HasFound bool
	// Verification compares it with the starting setting by measurements of both; where it
	// is nil, Unverified says why.
	Verification *plan.Verification
	Unverified   string
	Elapsed      time.Duration
	// Rest says what became of the actuators.
	Rest []RestReport
	// Left says that this process has written nothing, and that the one before it left the actuators
	// without a confirmed rest.
	Left bool
}

// Run tunes until a stop condition, a fault or the end of ctx, brings the
// actuators to their declared shutdown state and returns what was found. The
// Result is usable whatever the error. The error wraps ErrInstrument if the
// instrument failed, ErrSafety if the safety layer ended the run, ErrUnsafe if a shutdown state could not be confirmed (it
// outranks the others), ErrJournal if the record could not be written; a run
// that ctx ended returns ctx's error.
func Run(ctx context.Context, o plan.Options, d Deps) (Result, error) {
	l, err := newLoop(o, d)
	if err != nil {
		return Result{}, err
	}
	return l.run(ctx)
}
