package safety

import (
	"math"
	"time"
)

// Command is what a person, or the program for one, asks for.
type Command uint8

// The commands.
const (
	CommandNone Command = iota
	// CommandArm makes ready; CommandStart begins.
	CommandArm
	CommandStart
	// CommandPause holds; CommandResume goes on and acknowledges.
	CommandPause
	CommandResume
	// CommandReset clears latches.
	CommandReset
	// CommandEnd brings the actuators to their shutdown states under slew.
	CommandEnd
	// CommandFail brings them to their fault states under slew.
	CommandFail
	// CommandHurry writes the rest of that way at once.
	CommandHurry
	// CommandStop stops at once, from any mode.
	CommandStop
	commandCount
)

// VariableInput is what is known of one variable in this tick.
type VariableInput struct {
	// Readback is the last value read. Written is the last setpoint that the device
	// has acknowledged and not let go of since.
	Readback, Written Sample
	// CanWrite says that a setpoint can go out in this tick.
	CanWrite bool
	// CanMakeSafe says that a rest state can: what keeps a setpoint back (a call under
	// way, a connection that is not trusted, an actuator that has not been read) does not
	// keep a safe value back. It is looked at in Fallback (to let go), Tripped and Stopped.
	CanMakeSafe bool
	// Lost says that the outcome of a write is unknown since the last tick.
	Lost bool
	// Released says that the device has let go.
	Released bool
	// Silent says that the device is not heard of: what its readback does not show is
	// not held against the actuator.
	Silent bool
	// Dose says what became of the dose that Step gave out, and Delivered how much
	// that was: what the device reported, or what was written to it.
	Dose      DoseOutcome
	Delivered float64
}

// Inputs are this tick's measurements. Sensors come in by Take, reading by reading.
type Inputs struct {
	Command Command
	// Ready says that the self test has passed and every actuator has been read.
	Ready bool
	// Faults are causes that were found outside of this package.
	Faults Causes
	// Durable is the newest Generation that is known to be durable.
	Durable  uint64
	Variable [MaxVariables]VariableInput
	// Heard is when each link was last heard of.
	Heard [MaxLinks]Sample
}

// Undurable is the Durable of a run that keeps nothing: everything counts as
// durable at once.
const Undurable = math.MaxUint64

// Proposal is what is wanted of each variable.
type Proposal struct {
	// ID identifies a proposal.
	ID int64
	// Drive reports whether the variable is to be driven at all. One that is not is
	// forgotten: it is taken over from where it is when it is driven again.
	Drive [MaxVariables]bool
	// Release asks the device to let go; it is looked at where Drive is false.
	Release [MaxVariables]bool
	// Destination is where it is to go; of a variable of doses, the amount.
	Destination [MaxVariables]float64
	// Dose numbers the dose that is wanted of a variable of doses; 0: none. A number
	// is dealt with once, and none that is not above the last one.
	Dose [MaxVariables]int64
}

// Output is what Step decided.
type Output struct {
	Mode Mode
	// Active are the causes that hold now; latched ones are in the State. Refused is
	// what kept a command from being followed. Bypassed are the rules set aside.
	Active, Refused Causes
	Bypassed        Reasons
	// Write reports whether there is a setpoint to write, Release whether the device is
	// to let go; the others are untouched.
	Write, Release [MaxVariables]bool
	// Setpoint is what to write now.
	Setpoint [MaxVariables]float64
	// Destination is the destination after clamping.
	Destination [MaxVariables]float64
	// Arrived says that the destination is what the device has acknowledged; of a
	// variable of doses, that the dose was given. Failed says that it was not, or that
	// is unknown, and that nothing more is sent for its number.
	Arrived, Failed [MaxVariables]bool
	Reasons         [MaxVariables]Reasons
}

// DoseOutcome is what became of a dose that was given out.
type DoseOutcome uint8

// The outcomes.
const (
	// DosePending: it is on its way.
	DosePending DoseOutcome = iota
	// DoseGiven: the device has acknowledged it.
	DoseGiven
	// DoseNotGiven: it is certain that nothing of it has reached the instrument.
	DoseNotGiven
	// DoseUnknown: it is not known.
	DoseUnknown
)

// Sample is a value that may be unknown; the zero Sample is.
type Sample struct {
	Value float64
	// At is when the value was taken.
	At    time.Duration
	Known bool
}

// finite makes nothing of a value that is not finite.
func (s Sample) finite() bool { return s.Known && finite(s.Value) }

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func clamp(x, low, high float64) float64 {
	if x < low {
		return low
	}
	if x > high {
		return high
	}
	return x
}

func within(a, b, tolerance float64) bool { return a >= b-tolerance && a <= b+tolerance }
