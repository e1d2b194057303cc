package safety

import (
	"math"
	"time"
)

// State is what the layer remembers between ticks. The zero State knows nothing
// and is in Init; Boot makes one that remembers latches and doses.
type State struct {
	Mode Mode
	// Since is when the mode was entered.
	Since time.Duration
	// Last is the time of the last Step, meaningful if Ticked.
	Last   time.Duration
	Ticked bool
	// Ending says that the actuators go to their shutdown states, not to their
	// fault states.
	Ending bool
	// Paused says that a person holds the run; Faulted that a fault has held it
	// since FaultedAt.
	Paused, Faulted bool
	FaultedAt       time.Duration
	// Latched causes stay until they are cleared; FirstOut came first.
	Latched, FirstOut Causes
	// Generation counts changes of what must be durable: latches and doses.
	Generation uint64
	Variable   [MaxVariables]VariableState
	Sensor     [MaxSensors]SensorState
	Response   [MaxResponses]ResponseState
	Dose       [MaxDoses]DoseState
	Duty       [MaxDuties]DutyState
	// raised are causes that the pipeline found; they count from the next tick.
	raised Causes
	// inherited are the latches that this process began with.
	inherited Causes
}

// VariableState is what the layer remembers of one variable.
type VariableState struct {
	// Ramp is where the way has come to before quantisation, meaningful if Known.
	Ramp  float64
	Known bool
	// Setpoint is the last one given out, or what the actuator was taken over at;
	// Allowed is the time that slew has gained since then.
	Setpoint float64
	Allowed  time.Duration
	// IssuedAt is when something was last given out, ChangedAt when that was a new
	// value (if Changed).
	IssuedAt, ChangedAt time.Duration
	Changed             bool
	// MovedAt is ChangedAt (if Moved) also of a variable that was let go since: the
	// device's dwell does not begin anew with who drives it.
	MovedAt time.Duration
	Moved   bool
	// Proposal is the last proposal seen, Rejected how many in a row were not finite.
	Proposal int64
	Rejected uint8
	// Confirmed says that the readback has shown the setpoint; Off that it has been
	// away since OffSince. Tries counts how often the setpoint was sent again,
	// Resend asks for it. Overridden says that someone else has moved the actuator.
	Confirmed, Off, Resend, Overridden bool
	OffSince, TriedAt                  time.Duration
	Tries                              uint8
	// LastConfirmed is the last value acknowledged by the device that the readback has shown since.
	LastConfirmed Sample
	// IsAbove says that the variable has been above its exposure's value since
	// AboveSince.
	IsAbove    bool
	AboveSince time.Duration
}

// forget begins anew with a variable that is not driven. What the device has done stays:
// when it was moved last, and since when it is above its exposure's value.
func (v *VariableState) forget() {
	*v = VariableState{Proposal: v.Proposal, Rejected: v.Rejected, LastConfirmed: v.LastConfirmed,
		MovedAt: v.MovedAt, Moved: v.Moved, IsAbove: v.IsAbove, AboveSince: v.AboveSince}
}

// Sample is a value that may be unknown; the zero Sample is.
type Sample struct {
	Value float64
	// At is when the value was taken.
	At    time.Duration
	Known bool
}

// finite makes nothing of a value that is not finite.
func (s Sample) finite() bool { return s.Known && finite(s.Value) }

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

// Saved is the part of a State that outlives the process.
type Saved struct {
	Generation        uint64
	Latched, FirstOut Causes
	Dose              [MaxDoses]DoseState
	// At is the time by the clock that Step was given.
	At time.Duration
}

// Save returns what must be durable.
func (s *State) Save() Saved {
	return Saved{Generation: s.Generation, Latched: s.Latched, FirstOut: s.FirstOut, Dose: s.Dose, At: s.Last}
}

// Boot makes the State of a new process. It is disarmed; what was latched is
// latched still, except that a new process has come out of its shutdown; a dose
// whose outcome was not recorded counts as delivered and must be acknowledged.
func Boot(saved Saved) State {
	s := State{Generation: saved.Generation, Latched: saved.Latched, FirstOut: saved.FirstOut, Dose: saved.Dose}
	s.Latched[RuleShutdown], s.FirstOut[RuleShutdown] = 0, 0
	for i := range s.Dose {
		if s.Dose[i].Open {
			s.Dose[i].Unknown, s.Dose[i].Failed = true, true
			s.Dose[i].Deliver(saved.At)
			s.Latched.Add(RuleUnknownDose, i)
		}
	}
	if s.FirstOut.Empty() {
		s.FirstOut = s.Latched
	}
	s.inherited = s.Latched
	for r := range RuleCount {
		switch {
		case s.Latched[r] == 0:
		case rules[r].Reaction == ReactStop:
			s.Mode = Stopped
		case rules[r].Reaction == ReactTrip && s.Mode != Stopped:
			s.Mode = Tripped
		}
	}
	return s
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
