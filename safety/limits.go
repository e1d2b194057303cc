package safety

import (
	"errors"
	"time"
)

// A State is a plain value of fixed size, so that Step allocates nothing; these
// bound what it can hold.
const (
	MaxVariables = 256
	MaxSensors   = 32
	MaxLinks     = 16
	MaxResponses = 16
	MaxDoses     = 8
	MaxDuties    = 8
)

// Limits are the limits of a run. They do not change while it lasts. Indices
// point into its own slices; Check refuses what Step could not work with.
type Limits struct {
	// Tick is the nominal period. A measured period counts as at most two ticks,
	// so that a pause never turns into one large step.
	Tick time.Duration
	// HoldMax is the longest hold for a fault before the fallback. By default not shorter: a
	// broker or a serial adapter reconnects within it. Not longer: what is held may be
	// drifting unseen.
	HoldMax time.Duration `toml:"hold_max" default:"30s" bound:"> 0s" ticks:"1" doubt:"> 24h: is longer than a day: for so long everything stays where it is although something is wrong" reload:"smaller" doc:"longest hold before the fallback: what a held instrument may bear"`
	// Comms is the silence of a link that counts as its loss; 0: not watched. By default as
	// long as a hold: losing a link and losing a sensor look the same from here.
	Comms time.Duration `toml:"comms_timeout" default:"30s" bound:"> 0s" ticks:"3: every late answer would be a lost link" doubt:"> 1h: is longer than an hour: for that long a device may be silent before the run is held" reload:"smaller" doc:"silence of a link that counts as its loss"`
	// StaleFalls says that a stale sensor leads to the fallback at once.
	StaleFalls bool
	// DurableWait is the longest that a trip's output waits for its latch to be
	// durable. A safe value waits for nothing, so it is 0; runs that were recorded with
	// another have it in their limits, and derive as they were.
	DurableWait time.Duration

	Variables   []VariableLimits
	Sensors     []SensorLimits
	Links       []LinkLimits
	Interlocks  []Condition
	Permissives []Condition
	Responses   []ResponseLimits
	Doses       []DoseLimits
	Duties      []DutyLimits
	Bypasses    []Bypass
}

// Rest is what an actuator does when it is not tuned any more.
type Rest uint8

// The rest states.
const (
	// RestNone: there is no actuator.
	RestNone Rest = iota
	// RestHold leaves the actuator where it is.
	RestHold
	// RestSafe drives it to its safe value.
	RestSafe
	// RestOff lets go of it.
	RestOff
)

// VariableLimits are the limits of one variable, in the variable's unit.
type VariableLimits struct {
	// Low and High are the hard bounds: no setpoint lies outside. Low < High.
	Low, High float64
	// SlewUp and SlewDown bound the rate of change, in units per second; > 0.
	SlewUp, SlewDown float64
	// Safe is the declared safe value, inside the hard bounds.
	Safe float64
	// Resolution is the device's step; 0: continuous. Setpoints on the way are
	// multiples of it, rounded towards Safe; a destination is written as it is.
	Resolution float64
	// Stepped says that only destinations make sense: the way takes its time, and
	// nothing is written before its end.
	Stepped bool
	// Dwell is the shortest time between two changes. By default one tick: the layer writes
	// at most once in each anyway.
	Dwell time.Duration `toml:"dwell" bound:">= 0s" doubt:"> 24h: is longer than a day between two changes" reload:"larger" doc:"shortest time between two changes, for a device that wears or is slow; 0s: one tick"`
	// Lease is the device's own timeout, 0: none. A setpoint is written again
	// within a third of it.
	Lease time.Duration
	// Tolerance of the readback, 0: there is none. Timeout is how long a readback
	// may be outside of it.
	Tolerance float64
	Timeout   time.Duration
	// Dose says that the variable is no place to be at but an amount to give, once for
	// each number of Proposal.Dose. Low is 0, which gives nothing; amounts are cut to
	// High and down to Resolution; OnFault and Shutdown are RestOff (a dose that runs
	// is stopped) or RestHold. Nothing else above applies.
	Dose bool
	// Above and AboveTime bound the time in a row above a value; 0 s: no bound.
	Above     float64
	AboveTime time.Duration
	// OnFault is where a fault brings the actuator, Shutdown the end of
	// a run. RestNone: it is not an actuator and is never written.
	OnFault, Shutdown Rest
	// OnStop is where a person's stop brings it. RestNone: where a fault does, as in
	// journals of before.
	OnStop Rest `json:",omitempty"`
	// Lasts says that RestHold as a rest state is bounded by Lasting. False in journals of
	// before, which derive as they were.
	Lasts bool `json:",omitempty"`
}

// SensorLimits say what is believed of one sensor.
type SensorLimits struct {
	// Low and High, in the sensor's unit: outside is no data.
	Low, High float64
	// MaxAge is how long a value counts as current.
	MaxAge time.Duration
	// Watched says that silence and values out of range hold the run.
	Watched bool
	// Rate is the fastest believable change, in units per second; 0: any.
	Rate float64 `toml:"rate" zero:"absent" unit:"the sensor's, per s" bound:"> 0" reload:"smaller or new" doc:"fastest believable change: a jump beyond it is a fault of the sensor; absent: any"`
	// Stuck is how many identical readings mean a stuck sensor; 0: not watched.
	Stuck int `toml:"stuck" zero:"absent" unit:"readings" bound:">= 2" reload:"smaller or new" doc:"identical readings that mean a stuck sensor; absent: not watched"`
	// With is the sensor that must agree within Tolerance, or differ for less than
	// AgreeTime; Tolerance 0: none.
	With      int
	Tolerance float64
	AgreeTime time.Duration
}

// LinkLimits describe the connection to one device.
type LinkLimits struct {
	// Watched says that silence counts.
	Watched bool
	// Doses says that a variable with a budget is behind it: there is no waiting
	// for a link that doses.
	Doses bool
}

// Condition is a sensor that must be fresh and inside [Low, High].
type Condition struct {
	Sensor    int
	Low, High float64
}

// ResponseLimits ask that a change shows: after the setpoint has changed by
// Change, what is watched must move by Moves within Within: the same way where Moves
// is positive, the other way where it is negative. Of a variable of doses the change
// is the dose.
type ResponseLimits struct {
	Variable int
	// Sensor is what is watched; negative: the variable's readback.
	Sensor        int
	Change, Moves float64
	Within        time.Duration
}

// DoseLimits bound what is added through one variable, in its unit; 0: no bound.
// A dose is the amount of a variable of doses, and of any other the rise of a
// destination above the last readback.
type DoseLimits struct {
	Variable       int
	PerDose        float64
	Hour, Day, Run float64
	// Reservoir is the amount available until it is refilled.
	Reservoir   float64
	MinInterval time.Duration
}

// DutyLimits bound the part of any window of time that a variable spends above a value:
// Fraction of Window, which is at least 20 ticks.
type DutyLimits struct {
	Variable        int
	Above, Fraction float64
	Window          time.Duration
}

// Bypass sets a rule aside until a time.
type Bypass struct {
	Rule  Rule
	Until time.Duration
}

// ErrLimits is what Check's error wraps.
var ErrLimits = errors.New("safety limits not usable")
