package instrument

import (
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
	// Stood says that the loop has stood still for longer than the watchdog lets it: then no
	// setpoint and no dose leaves. It is called from any goroutine; nil: it never stands still.
	Stood func() bool
	// Failpoint, if any, is called with the name of each point that a test may end the
	// process at.
	Failpoint func(name string)
}

// Instrument is the devices of a run and what they set and read. Its methods belong to the
// goroutine that owns the pool; HaltAll alone may be called from any.
type Instrument struct {
	plan *plan.Options
	devices
	actuators
	// giving are the doses on their way, rests the ways to rest at the end.
	giving []*Dose
	rests  []*restJob
	// drove says that something was written to an actuator.
	drove bool
	// ruledAt is when the safety layer said what was applied last.
	ruledAt time.Time
}

// New returns an instrument whose devices are not open.
func New(o Options, pool *worker.Pool) *Instrument {
	return &Instrument{plan: o.Plan, devices: devices{opt: o, plan: o.Plan, pool: pool, why: map[plan.Channel]error{}, links: newLinks(o.Devices, o.Lane), unopened: len(o.Devices)},
		actuators: newActuators(o.Plan)}
}

// Present is what an instrument has to know of the run.
type Present struct {
	Now time.Time
	// Mode is the safety layer's; Ending says that the actuators go to their shutdown
	// states, MakesSafe to where a person's stop brings them, not to their fault states.
	Mode              safety.Mode
	Ending, MakesSafe bool
	// Reconnects says that a device that fails is opened again and waited for.
	Reconnects bool
	// Moving says that a step is on its way to its setting: doses may be given.
	Moving bool
}

// final says that what the layer gives out now is the safe values of a trip or a stop.
func (p *Present) final() bool { return p.Mode >= safety.Tripped }

// restOf is the state that a variable is brought to where the actuators are taken away.
func (p *Present) restOf(v *plan.Variable) plan.RestState {
	switch {
	case p.MakesSafe:
		return v.OnStop()
	case p.Ending:
		return v.Shutdown
	}
	return v.OnFault
}

// Drove says that something was written to an actuator; Driven that an earlier process did.
func (x *Instrument) Drove() bool { return x.drove }

// Driven notes that an earlier process has written to an actuator.
func (x *Instrument) Driven() { x.drove = true }
