package safety

// Mode is the state of the machine.
type Mode uint8

// The modes. Nothing is driven in Init, Idle and Armed.
const (
	// Init: nothing is known yet.
	Init Mode = iota
	// Idle: disarmed; the positions of the actuators are known.
	Idle
	// Armed: ready; what is driven first is taken over where it is.
	Armed
	// Run: proposals pass, filtered.
	Run
	// Hold: the last acknowledged setpoint stays, and is refreshed.
	Hold
	// Fallback: every actuator goes to its fault state under slew; at the end of a
	// run, to its shutdown state.
	Fallback
	// Tripped: fault states at once; latched.
	Tripped
	// Stopped: as Tripped, by a person, who makes safe: to OnStop; latched.
	Stopped
	modeCount
)

// modeNames in the order of the modes.
var modeNames = [...]string{"INIT", "IDLE", "ARMED", "RUN", "HOLD", "FALLBACK", "TRIPPED", "STOPPED"}

// String is the mode's name.
func (m Mode) String() string { return modeNames[min(int(m), len(modeNames)-1)] }
