package loop

import (
	"context"
	"log/slog"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/safety"
)

// Mode says what the loop does to the instrument.
type Mode string

// The three modes.
const (
	// Simulate: a simulated plant in virtual time, as fast as the machine allows.
	Simulate Mode = "simulate"
	// Shadow: real sensors, no actuator is written.
	Shadow Mode = "shadow"
	// Live: the job.
	Live Mode = "run"
)

// Options describes what to tune: plain data, built from a configuration file.
// Indices point into the slices of the same Options.
type Options struct {
	Mode Mode
	// Tick is the period of safety, leases and watchdog.
	Tick time.Duration
	// Objective is what is maximised or minimised.
	Objective Objective
	Sensors   []Sensor
	Variables []Variable
	// ControlSets in file order; ControlSets[i] is the policy's control set i.
	ControlSets []ControlSet
	Cost        Cost
	// Constraints are learnt beside the objective; Constraints[i] is the policy's
	// constraint i.
	Constraints []Constraint
	Stop        Stop
	Verify      Verify
	Safety      Safety
	Outages     Outages
	// Start says whether a person has begun the run.
	Start StartMode
	// Deadline bounds one decision in modes other than Simulate.
	Deadline time.Duration
	// FailureLimit failed steps in a row end the run, or hold it where outages are
	// waited out.
	FailureLimit int
	// Run is who this is, for those who ask; nothing depends on it.
	Run RunNames
}

// RunNames name a run: the journal's run and path, the configuration's name and site.
type RunNames struct {
	ID, Name, Site, Journal string
}

// Channel names a channel of a device.
type Channel struct {
	// Device indexes Deps.Devices; -1: there is none.
	Device int
	Name   string
}

// Sensor is a measured quantity.
type Sensor struct {
	Name, Unit string
	Channel    Channel
	// Low and High bound what is believed, in Unit; outside is no data.
	Low, High float64
	// MaxAge is how long a value may stand in for the present; MaxSkew how far it
	// may lie from the shot it is used with (0: MaxAge rules alone).
	MaxAge, MaxSkew time.Duration
	// Limits are the safety layer's on this sensor in time: Rate, Stuck, With,
	// Tolerance and AgreeTime; the others follow from the fields above.
	Limits safety.SensorLimits
}

// Objective is what a shot measures.
type Objective struct {
	// Name is the sensor's name or the formula's text, Unit its unit.
	Name, Unit string
	// Sensor indexes Sensors; -1 where Formula is used.
	Sensor int
	// Formula computes the objective of one shot from the sensors' values in file
	// order (NaN: no data); it is called on the loop's goroutine.
	Formula func(sensors []float64) (float64, error)
	// Uses indexes the sensors that the formula needs; a shot is a new value of the
	// first of them.
	Uses     []int
	Minimize bool
	// Shots is the number of replicates at one setting.
	Shots int
	// Statistic turns the shots' values into the step's value: "mean", "median",
	// "trimmed" or "pNN" (percentile).
	Statistic string
	// Timeout is the longest wait for one shot.
	Timeout time.Duration
}

// ReleaseKind says what an actuator does when a step leaves its variable random.
type ReleaseKind string

// The release kinds.
const (
	// Release: the device lets go.
	Release ReleaseKind = "release"
	// Park: drive to the safe value.
	Park ReleaseKind = "park"
	// Hold: keep the last value.
	Hold ReleaseKind = "hold"
)

// RestState is where an actuator is brought at boot, on a fault or at shutdown.
type RestState string

// The rest states.
const (
	// RestHold leaves the actuator as it is (for boot: "read").
	RestHold RestState = "hold"
	// RestSafe drives it to its declared safe value.
	RestSafe RestState = "safe"
	// RestOff releases it.
	RestOff RestState = "off"
)

// Variable is an input of the instrument.
type Variable struct {
	Name, Unit string
	Channel    Channel
	// Actuated is false for a variable without an actuator: it is always random.
	Actuated bool
	// Low and High bound what the policy may ask for.
	Low, High float64
	// Start is the starting setting, NaN: read at boot.
	Start float64
	// Resolution is the device's step; 0: continuous.
	Resolution float64
	// Stepped says that only destinations make sense (a list of levels): values on
	// the way are not written.
	Stepped bool
	// Dose says that the variable is an amount, given once in each step that controls
	// it (0: nothing is sent), and nothing in any other. Its value is what was given:
	// what the device says, or what it was told. OnRelease is Hold.
	Dose bool
	// Tolerance and Timeout of the readback; Tolerance 0: the device gives none.
	Tolerance float64
	Timeout   time.Duration
	// MaxAge is how long a measured value may stand in for the present.
	MaxAge    time.Duration
	Settle    time.Duration
	OnRelease ReleaseKind
	// Limits are the safety layer's, of which Low and High above are inside; what the
	// other fields say (tolerance, rest states) is filled in from them.
	Limits                  safety.VariableLimits
	Boot, OnFault, Shutdown RestState
}

// Safety holds what the safety layer keeps to beside each variable's and sensor's
// own limits. Indices point into Options.
type Safety struct {
	// HoldMax is the longest hold for a fault before the fallback.
	HoldMax time.Duration
	// Comms is the silence of a device that counts as its loss; 0: not watched.
	Comms time.Duration
	// StaleFalls says that a stale sensor leads to the fallback at once.
	StaleFalls bool
	// Explore is how far from the nearest setting known to be safe a step may go, as a
	// fraction of each variable's range; 0: anywhere within the limits.
	Explore     float64
	Interlocks  []safety.Condition
	Permissives []safety.Condition
	Responses   []safety.ResponseLimits
	Doses       []safety.DoseLimits
	Duties      []safety.DutyLimits
	Bypasses    []Bypass
}

// Bypass sets a rule aside until a date, at most four hours from the start. Who
// answers for it, and Why.
type Bypass struct {
	Rule     safety.Rule
	Until    time.Time
	Who, Why string
}

// ControlSet is a subset of the variables with the cost of one step.
type ControlSet struct {
	// Variables indexes Options.Variables.
	Variables []int
	Cost      float64
}

// Cost is what is paid beside the control sets' own costs, in Unit.
type Cost struct {
	Unit             string
	PerStep, PerShot float64
	// PerMove has one entry per variable: cost per unit moved.
	PerMove []float64
	// Setting is what the setting itself costs: of a control set and its variables'
	// destinations (NaN for those left random); nil: nothing. It is called on the
	// loop's goroutine.
	Setting func(controlSet int, x []float64) float64
}

// Constraint is a sensor whose value should stay within bounds. It is advice to the
// policy: a step that breaks it is told of and stays valid.
type Constraint struct {
	// Sensor indexes Options.Sensors.
	Sensor int
	// Low and High bound what should be, in the sensor's unit; infinite: no bound.
	Low, High float64
}

// Stop ends the run at whichever comes first; zero values do not bound.
type Stop struct {
	Cost  float64
	Steps int
	Time  time.Duration
}

// Device is a device with its name.
type Device struct {
	Name string
	drivers.Device
}

// Deps is what the loop uses of the world.
type Deps struct {
	Clock   drivers.Clock
	Devices []Device
	Policy  policy.Policy
	Journal *journal.Journal
	// Control keeps latches and doses over crashes; nil: they end with the run.
	Control *journal.ControlFile
	// Machine tells how long a run was away.
	Machine Machine
	// Run names the run; it is part of the names of its doses.
	Run string
	// Space tells the free bytes on the journal's disk; nil: nobody looks. It may block.
	Space func() (uint64, error)
	// Past is what the journal's run has behind it; nil: it begins. Policy has been
	// brought to where the run's was, by Replay.
	Past *Past
	// Rebuild makes the policy anew and brings it to where the journal ends, by Replay:
	// what has panicked cannot be asked again as it is. It runs on the policy's lane. nil:
	// a panic is the end.
	Rebuild func(ctx context.Context) (policy.Policy, error)
	// Panel takes commands from other goroutines and tells them how the run stands; nil:
	// nobody commands and nobody asks.
	Panel *Panel
	// Narrower brings narrower limits from other goroutines; nil: there are none.
	Narrower *Narrower
	Log      *slog.Logger
	// Watch is told what happens, on the loop's goroutine; it must not block.
	Watch Watch
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
	// BeginStep, if any, is told of each step as it begins (a simulated plant's
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
		return RealClock{}
	}
	return d.Stopwatch
}

// Watch is a set of callbacks; nil ones are not called.
type Watch struct {
	// Step: a step was concluded.
	Step func(journal.Decision, journal.Outcome)
	// Progress: a tick was completed that changed what a progress line shows.
	Progress func(Progress)
	// Event: a line of the run's story.
	Event func(journal.Event)
	// Meter: durations and counts.
	Meter Meter
}

// Progress is what a progress line shows.
type Progress struct {
	Step  int
	Phase string
	// LowerBound is the recommended setting's, in the user's sense; NaN at first.
	LowerBound float64
	Spent      float64
	Elapsed    time.Duration
	// Left is the time until the earliest of the stop conditions at the present
	// pace; negative: unknown.
	Left time.Duration
	// Read says that the instrument has been read and the run goes on from there;
	// Ending that the actuators are on their way to rest.
	Read, Ending bool
}

// Result is what a run found.
type Result struct {
	// Reason says why the run ended: "steps", "cost", "time", "interrupted",
	// "fault", "no data", "safety", "set-best".
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
	Verification *Verification
	Unverified   string
	Elapsed      time.Duration
	// Rest says what became of the actuators.
	Rest []RestReport
}

// RestReport is what became of one actuator at the end.
type RestReport struct {
	Variable string
	State    RestState
	// ByDevice says that nothing is held although State is RestHold: the device has
	// brought the actuator to its own safe state, or does when the connection ends.
	ByDevice bool
	// Dose says that it is a variable of doses: RestOff is that none runs any more.
	Dose bool
	// Value is the safe value where State is RestSafe, in Unit.
	Value float64
	Unit  string
	// Err is nil where the state was confirmed.
	Err error
}

// Run tunes until a stop condition, a fault or the end of ctx, brings the
// actuators to their declared shutdown state and returns what was found. The
// Result is usable whatever the error. The error wraps ErrInstrument if the
// instrument failed, ErrSafety if the safety layer ended the run, ErrUnsafe if a shutdown state could not be confirmed (it
// outranks the others), ErrJournal if the record could not be written; a run
// that ctx ended returns ctx's error.
func Run(ctx context.Context, o Options, d Deps) (Result, error) {
	l, err := newLoop(o, d)
	if err != nil {
		return Result{}, err
	}
	return l.run(ctx)
}
