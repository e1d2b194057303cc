package safety

import (
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
	s.Latched[RuleShutdown], s.FirstOut[RuleShutdown] = Set{}, Set{}
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
		case !s.Latched.Has(r):
		case rules[r].Reaction == ReactStop:
			s.Mode = Stopped
		case rules[r].Reaction == ReactTrip && s.Mode != Stopped:
			s.Mode = Tripped
		}
	}
	return s
}

// A duty's window is kept in slots: time above the value counts for the whole window and
// at most one slot longer, never shorter.
const (
	dutyParts = 20
	dutySlots = dutyParts + 1
)

// DutyState is the account of one variable's time above a value.
type DutyState struct {
	// Slots hold the time above by slot, the slot of the time Slot last.
	Slots [dutySlots]time.Duration
	Slot  int64
}

// ResponseState is what the layer remembers of one watched response.
type ResponseState struct {
	// Based says that Base is the setpoint at which Seen was watched.
	Based bool
	Base  float64
	Seen  Sample
	// Waiting says that a response is due by Deadline; Rising that it is a rise.
	Waiting, Rising bool
	Deadline        time.Duration
}
