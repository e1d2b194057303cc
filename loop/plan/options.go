package plan

import (
	"errors"
	"fmt"
	"slices"
	"time"

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
	// Constraints are learnt besides the objective; Constraints[i] is the policy's
	// constraint i.
	Constraints []Constraint
	Stop        Stop
	Verify      Verify
	Safety      Safety
	Outages     Outages
	// Start says whether a person has begun the run.
	Start StartMode
	// Deadline bounds one decision; in a simulation by a table of what a unit of work takes.
	Deadline time.Duration
	// UnitScale multiplies that table; 0: as it is.
	UnitScale float64
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
	// Every is the least time from the question of one shot to that of the next; 0: see
	// [Options.AsksAtOnce].
	Every time.Duration
}

// AsksAtOnce says that the instrument is asked for the next shot as soon as it has answered with
// one, and not at the next tick. Not where a rule counts readings or takes their difference: for
// [safety.SensorLimits] Rate and Stuck what comes within a millisecond is no second opinion. Not
// in virtual time, where an answer takes none.
func (o *Options) AsksAtOnce() bool {
	return o.Mode == Live && o.Objective.Every == 0 &&
		!slices.ContainsFunc(o.Sensors, func(s Sensor) bool { return s.Limits.Rate > 0 || s.Limits.Stuck > 0 })
}

// ControlSet is a subset of the variables with the cost of one step.
type ControlSet struct {
	// Variables indexes Options.Variables.
	Variables []int
	// Cost is the set's own, or the first guess where that is read: Cost.Reading.
	Cost float64
}

// Cost is what is paid besides the control sets' own costs, in Unit.
type Cost struct {
	Unit             string
	PerStep, PerShot float64
	// PerMove has one entry per variable: cost per unit moved.
	PerMove []float64
	// Setting is what the setting itself costs: of a control set and its variables'
	// destinations (NaN for those left random); nil: nothing. It is called on the
	// loop's goroutine.
	Setting func(controlSet int, x []float64) float64
	// Reading is what the control set has cost, of the sensors' values of one shot in file
	// order (NaN: no data), and ControlSet.Cost the guess before the first reading; nil: it costs
	// ControlSet.Cost. It is called on the loop's goroutine.
	Reading func(sensors []float64) (float64, error)
}

// Constraint is a sensor whose value should stay within bounds. It is advice to the
// policy: a step that breaks it is reported and stays valid.
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
	// Target, where not nil, is good enough, in the objective's unit: the search ends once the
	// pessimistic bound of the recommended setting has reached it.
	Target *float64
	// NoImprovement ends the search when it brings no better bound.
	NoImprovement NoImprovement
}

// NoImprovement is how long a search goes on without a better pessimistic bound; zero values
// do not bound.
type NoImprovement struct {
	// Steps and Cost are of the search behind its initial design.
	Steps int
	Cost  float64
	// By is how much better than the best so far a bound must be to count, in the objective's
	// unit.
	By float64
}

// StartMode says what a run does once its actuators have been read (rule 26).
type StartMode string

// The start modes.
const (
	// StartNow: a person has typed the command, and that is the arm and the start.
	StartNow StartMode = ""
	// StartHold: read, stay still, wait for resume.
	StartHold StartMode = "hold"
	// StartRun: go on without a person, StartsMax times in an hour at most, and then as
	// StartHold.
	StartRun StartMode = "run"
)

// StartsMax is how many runs may start by themselves within an hour. Not fewer: a
// machine that is updated restarts twice. Not more: what dies three times in an hour
// needs attention by a person.
const StartsMax = 3

// Outages say how long a run puts up with devices and a disk that fail.
type Outages struct {
	// Wait says that outages are waited out, however long: the run is held and goes on
	// by itself. Without it, a device that must be opened again ends the run, and so
	// do FailureLimit failed steps in a row, a fallback, and a record that cannot be
	// written.
	Wait bool
	// Retries failures of a device within Window are mended without holding the run;
	// so is one outage that is not longer than Window. By default not fewer: one garbled
	// answer, or a child that died once, should pass unseen. Not more: what fails four times
	// in half a minute is out of order; the window is as long as a hold.
	Retries int           `toml:"retries" default:"3" bound:">= 0, <= 1000" doc:"how often in retry_window a device may fail and be mended without the run being held"`
	Window  time.Duration `toml:"retry_window" default:"30s" bound:"> 0s" ticks:"1" doubt:"> 10m: is longer than ten minutes: an outage of that length is not held" doc:"the time that retries are counted in, and the longest outage that is mended without the run being held"`
	// MinFree is the free space in bytes on the journal's disk below which the run is
	// held; 0: it is not looked at.
	MinFree uint64
}

// Bypass sets a rule aside until a date, at most four hours from the start. Who
// answers for it, and Why.
type Bypass struct {
	Rule     safety.Rule
	Until    time.Time
	Who, Why string
}

// Safety holds what the safety layer keeps to besides each variable's and sensor's
// own limits. Indices point into Options.
type Safety struct {
	// Limits are the layer's own; SafetyLimits fills in what Options say elsewhere: Tick,
	// Variables, Sensors, Links and Bypasses.
	safety.Limits
	// Explore is how far from the nearest setting known to be safe a step may go, as a
	// fraction of each variable's range; 0: anywhere within the limits.
	Explore  float64
	Bypasses []Bypass
}

// links is how many devices the variables and sensors refer to.
func (o *Options) links() int {
	n := 0
	for i := range o.Variables {
		n = max(n, o.Variables[i].Channel.Device+1)
	}
	for i := range o.Sensors {
		n = max(n, o.Sensors[i].Channel.Device+1)
	}
	return n
}

// Guarded says that a rule of the safety layer needs a sensor at all times.
func (o *Options) Guarded(sensor int) bool {
	is := func(c safety.Condition) bool { return c.Sensor == sensor }
	if slices.ContainsFunc(o.Safety.Interlocks, is) || slices.ContainsFunc(o.Safety.Permissives, is) ||
		slices.ContainsFunc(o.Safety.Responses, func(r safety.ResponseLimits) bool { return r.Sensor == sensor }) {
		return true
	}
	return slices.ContainsFunc(o.Sensors, func(s Sensor) bool { return s.Limits.Tolerance > 0 && s.Limits.With == sensor }) ||
		o.Sensors[sensor].Limits.Tolerance > 0
}

// Watched says that silence of a sensor holds the run: the objective's own are waited
// for instead.
func Watched(o *Options, sensor int) bool { return !slices.Contains(o.Objective.Uses, sensor) }

// ErrOptions: the options contradict themselves or the devices.
var ErrOptions = errors.New("options not usable")

// Check refuses options that no loop could run with; the error wraps ErrOptions.
func (o *Options) Check() error {
	switch {
	case len(o.Variables) == 0 || len(o.Variables) > safety.MaxVariables:
		return fmt.Errorf("%w: %d variables, need 1 to %d", ErrOptions, len(o.Variables), safety.MaxVariables)
	case o.Tick <= 0:
		return fmt.Errorf("%w: tick %v must be positive", ErrOptions, o.Tick)
	case o.Objective.Shots < 1:
		return fmt.Errorf("%w: %d shots, need at least 1", ErrOptions, o.Objective.Shots)
	case len(o.Objective.Uses) == 0:
		return fmt.Errorf("%w: the objective uses no sensor", ErrOptions)
	case len(o.ControlSets) == 0:
		return fmt.Errorf("%w: no control set", ErrOptions)
	case slices.ContainsFunc(o.Constraints, func(c Constraint) bool { return c.Sensor < 0 || c.Sensor >= len(o.Sensors) }):
		return fmt.Errorf("%w: a constraint on a sensor that there is not", ErrOptions)
	}
	return nil
}

// ErrNotNarrower is why a running loop refuses other options.
var ErrNotNarrower = errors.New("a run that has begun takes narrower limits only")
