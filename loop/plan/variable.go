package plan

import (
	"math"
	"time"

	"github.com/labtuner/tuner/safety"
)

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
	// MaxAge is how long a value counts as current; MaxSkew how far it
	// may lie from the shot it is used with (0: MaxAge rules alone).
	MaxAge, MaxSkew time.Duration
	// Limits are the safety layer's on this sensor in time: Rate, Stuck, With,
	// Tolerance and AgreeTime; the others follow from the fields above.
	Limits safety.SensorLimits
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
	// Frozen is the value that every step brings the variable to, and keeps it at; nil: it is
	// tuned. A dose is given so in each step that controls it.
	Frozen *float64
	// Resolution is the device's step; 0: continuous.
	Resolution float64
	// Stepped says that only destinations make sense (a list of levels): values on
	// the way are not written.
	Stepped bool
	// Levels, if any, are the only values that may be asked for; Integer allows whole numbers only.
	Levels  []float64
	Integer bool
	// Dose says that the variable is an amount, given once in each step that controls
	// it (0: nothing is sent), and nothing in any other. Its value is what was given:
	// what the device reports, or what was written to it. OnRelease is Hold.
	Dose bool
	// Tolerance and Timeout of the readback; Tolerance 0: the device gives none.
	Tolerance float64
	Timeout   time.Duration
	// MaxAge is how long a measured value counts as current.
	MaxAge    time.Duration
	Settle    time.Duration
	OnRelease ReleaseKind
	// Limits are the safety layer's, of which Low and High above are inside; what the
	// other fields say (tolerance, rest states) is filled in from them.
	Limits                  safety.VariableLimits
	Boot, OnFault, Shutdown RestState
}

// Kept is where a step brings the variable that leaves it alone, if it is kept anywhere.
func (v *Variable) Kept() (x float64, kept bool) {
	switch {
	case !v.Actuated:
	case v.Frozen != nil && !v.Dose:
		return *v.Frozen, true
	case v.OnRelease == Park:
		return v.Limits.Safe, true
	}
	return math.NaN(), false
}

// OnStop is where a person's stop brings the actuator: to its safe value, whatever a fault
// does. A dose has none: what runs is treated as at a fault.
func (v *Variable) OnStop() RestState {
	if v.Dose {
		return v.OnFault
	}
	return RestSafe
}

// MoveTimeout is the time that a device is given to take a setpoint where the
// variable declares none.
const MoveTimeout = 10 * time.Second
