package journal

import "time"

// Stamp is when something happened, by two clocks.
type Stamp struct {
	// Mono is the time since the process began its run, by the monotonic clock.
	Mono time.Duration
	// Wall is the wall clock's time; it may jump.
	Wall time.Time
}

// Column names one scalar of a run, with its unit.
type Column struct {
	Name, Unit string
}

// Setting is one key of the effective configuration.
type Setting struct {
	// Key is the dotted key, Value its value as TOML would write it, Origin
	// "FILE:LINE" or "default".
	Key, Value, Origin string
}

// ControlSet is a control set as the run knows it.
type ControlSet struct {
	Variables []string
	Cost      float64
}

// Run describes a run: written once, when the journal is made.
type Run struct {
	// ID is unique to the run.
	ID         string
	Name, Site string
	// Mode is "simulate", "shadow" or "run".
	Mode    string
	Policy  string
	Version string
	Seed    uint64
	// BootID names the boot of the machine, empty where it is unknown.
	BootID string
	Start  Stamp
	// ConfigFile is the name the configuration was given by; ConfigText its bytes.
	ConfigFile string
	ConfigText []byte
	Effective  []Setting
	// Objective names the objective and its unit; Minimize says its sense.
	Objective   Column
	Minimize    bool
	CostUnit    string
	Variables   []Column
	Sensors     []Column
	ControlSets []ControlSet
}

// Reason says what one safety rule did to one variable of a proposal.
type Reason struct {
	Variable string
	// Rule is the rule's name.
	Rule     string
	From, To float64
}

// Decision is a proposal with what the safety layer made of its destination.
// Vectors have one entry per variable; NaN where the variable is random.
type Decision struct {
	Step       int
	ControlSet int
	Initial    bool
	Requested  []float64
	Applied    []float64
	Reasons    []Reason
	// Work counts the decision's work units; Cut says that it was stopped early.
	Work int
	Cut  bool
	Took time.Duration
	// Why is the policy's explanation as a JSON document.
	Why string
	At  Stamp
}

// Action is one thing that is about to be done to the instrument.
type Action struct {
	Step   int
	Device string
	// Kind is "move" (towards the step's setpoints), "release", "halt" or
	// "shutdown".
	Kind string
	// Values by channel, in the channel's unit; Release names the channels let go.
	Values  map[string]float64
	Release []string
	At      Stamp
}

// ActionState is what became of an action.
type ActionState string

// The states of an action. An action without an outcome is unknown.
const (
	Sent      ActionState = "sent"
	Confirmed ActionState = "confirmed"
	Failed    ActionState = "failed"
	Unknown   ActionState = "unknown"
)

// Shot is one value of the objective with the sensors and variables of the same
// instant.
type Shot struct {
	Step, Index int
	// Objective is in the user's sense and unit.
	Objective float64
	// X has one entry per variable, as measured; Sensors one per sensor, NaN where
	// there was no data.
	X, Sensors []float64
	At         Stamp
}

// Outcome closes a step.
type Outcome struct {
	Step int
	// X is the setting as achieved or measured, mean over the shots.
	X []float64
	// Mean and Variance of the objective in the user's sense; Variance is NaN at
	// one shot, both are NaN for a step without data.
	Mean, Variance float64
	Shots          int
	Cost, Spent    float64
	Valid          bool
	// Problem says in words why a step is not valid.
	Problem string
	At      Stamp
}

// Event is a line of the run's story.
type Event struct {
	// Level is "info", "warn" or "error".
	Level string
	// Kind is one word, such as "start", "fault", "shutdown".
	Kind    string
	Message string
	Step    int
	At      Stamp
}
