package instrument

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/worker"
	"github.com/labtuner/tuner/safety"
)

// Device is a device with its name.
type Device struct {
	Name string
	drivers.Device
}

// Options says what an instrument consists of.
type Options struct {
	// Plan has its variables and sensors. The run may narrow it between two calls.
	Plan    *plan.Options
	Devices []Device
	Clock   drivers.Clock
	// Run names the run; it is part of the names of its doses.
	Run string
	// Lane is that of the first device; each further one has the next.
	Lane int
	// Failpoint, if any, is called with the name of each point that a test may end the
	// process at.
	Failpoint func(name string)
}

// Instrument is the devices of a run. Its methods belong to the goroutine that owns the
// pool; HaltAll alone may be called from any.
type Instrument struct {
	opt  Options
	plan *plan.Options
	pool *worker.Pool
	// ctx is that of all calls of devices.
	ctx   context.Context
	links []*link
	// unopened counts the devices that are not open for the first time yet.
	unopened  int
	board     board
	actuators []actuator
	// giving are the doses on their way, rests the ways to rest at the end.
	giving []*Dose
	rests  []*restJob
	// cameBack has a bit for each driven variable whose device has come back since the
	// last Inputs, moved one for each that may have moved by itself since Unsettled.
	cameBack, moved uint32
	// drove says that something was written to an actuator.
	drove bool
	// ruledAt is when the safety layer said what was applied last. orders grows when what
	// was said before must not leave any more.
	ruledAt time.Time
	orders  atomic.Int64
	// halted says that HaltAll has halted the devices and Halted has not been asked since:
	// until it has, no setpoint leaves.
	halted atomic.Bool
	// dropped counts the readings for which there was no room.
	dropped atomic.Int64
	// events are what the present call has to tell.
	events []any
}

// New returns an instrument whose devices are not open.
func New(o Options, pool *worker.Pool) *Instrument {
	return &Instrument{opt: o, plan: o.Plan, pool: pool, links: newLinks(o.Devices, o.Lane), unopened: len(o.Devices),
		board: newBoard(o.Plan), actuators: newActuators(o.Plan)}
}

// Present is what an instrument has to know of the run.
type Present struct {
	Now time.Time
	// Mode is the safety layer's; Ending says that the actuators go to their shutdown
	// states, not to their fault states.
	Mode   safety.Mode
	Ending bool
	// Mends says that a device that fails is opened again and waited for.
	Mends bool
	// Moving says that a step is on its way to its setting: doses may be given.
	Moving bool
}

// final says that what the layer gives out now is the safe values of a trip or a stop.
func (p *Present) final() bool { return p.Mode >= safety.Tripped }

// restOf is the state that a variable is brought to where the actuators are taken away.
func (p *Present) restOf(v *plan.Variable) plan.RestState {
	if p.Ending {
		return v.Shutdown
	}
	return v.OnFault
}

// now is the present time.
func (x *Instrument) now() time.Time { return x.opt.Clock.Now() }

// failpoint tells a test where the instrument is.
func (x *Instrument) failpoint(name string) {
	if x.opt.Failpoint != nil {
		x.opt.Failpoint(name)
	}
}

// tell adds an event to what the present call returns.
func (x *Instrument) tell(e any) { x.events = append(x.events, e) }

// told is what the present call has to tell.
func (x *Instrument) told() []any {
	out := x.events
	x.events = nil
	return out
}

// deviceOf is the device of variable i, nil where it has none.
func (x *Instrument) deviceOf(i int) *link {
	if d := x.plan.Variables[i].Channel.Device; d >= 0 {
		return x.links[d]
	}
	return nil
}

// Drove says that something was written to an actuator; Driven that an earlier process did.
func (x *Instrument) Drove() bool { return x.drove }

// Driven notes that an earlier process has written to an actuator.
func (x *Instrument) Driven() { x.drove = true }

// Dropped is how many readings there was no room for.
func (x *Instrument) Dropped() int64 { return x.dropped.Load() }

// DeviceName is the name of device d.
func (x *Instrument) DeviceName(d int) string { return x.links[d].name }
