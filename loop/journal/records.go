package journal

import (
	"time"

	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/store"
)

// Stamp is when something happened, by two clocks.
type Stamp struct {
	// Mono is the time since the process began its run, by the monotonic clock.
	Mono time.Duration
	// Wall is the wall clock's time; it may jump.
	Wall time.Time
}

// stampOf is that of a row.
func stampOf(c *store.Cells) Stamp {
	return Stamp{Mono: c.Duration("mono_ns"), Wall: c.Wall("wall_ns")}
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
	// Decisions is the version of what decides, which Session has for each session.
	Decisions int
	Start     Stamp
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

// variableNames are those of the variables in order.
func (r Run) variableNames() []string {
	names := make([]string, len(r.Variables))
	for i, v := range r.Variables {
		names[i] = v.Name
	}
	return names
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
	// Step counts from 1 without gaps; ControlSet is an index of Run.ControlSets.
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
	// Shots is how many shots the policy asked for; 0: as many as are configured.
	Shots int
	// Compared, where its Comparison is not 0, says that the step re-measures one of
	// two settings; the policy decided nothing and learns nothing of it.
	Compared Compared
	At       Stamp
}

// Action is one thing that is about to be done to the instrument.
type Action struct {
	// Step is 0 outside any step.
	Step   int
	Device string
	// Kind is "move" (towards the step's setpoints), "dose" (one amount of one channel), "release", "halt" or
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
	// Quality has one word per sensor, empty where the value is good, else why
	// there is none, such as "stale" or "range". It may be nil: then a NaN is
	// recorded as "missing".
	Quality []string
	At      Stamp
}

// Outcome closes a step.
type Outcome struct {
	Step int
	// X is the setting as achieved or measured, mean over the shots.
	X []float64
	// Mean is the statistic of the shots that the objective asks for, in the user's
	// sense, and StandardError how sure it is. Variance is the unbiased one of single
	// shots, whatever the statistic. Variance and StandardError are NaN at one shot,
	// all three for a step without data.
	Mean, Variance, StandardError float64
	Shots                         int
	Cost, Spent                   float64
	Valid                         bool
	// Problem says in words why a step is not valid.
	Problem string
	At      Stamp
}

// Event is a line of the run's story.
type Event struct {
	// Level is "info", "warn" or "error".
	Level string
	// Kind is one word, such as "start", "fault", "shutdown"; Message is for people.
	Kind    string
	Message string
	// Facts are what programs read of it.
	Facts Facts
	// Step is 0 outside any step.
	Step int
	At   Stamp
	// Session is the number of the session that recorded it; a writer assigns it.
	Session int
}

// Session is one process that has written, or writes, a journal. The monotonic
// clock of every Stamp restarts with it.
type Session struct {
	// Number counts from 1; a writer assigns it.
	Number int
	// PID is the process id; 0 in Options means the calling process.
	PID int
	// Version of tuner, and BootID of the machine, empty where it is unknown.
	Version, BootID string
	// Decisions is the version of what decides: the same observations give the same
	// decisions where it is the same. Older files have none, and were written by version 1.
	Decisions int
	Start     Stamp
}

// holder is how the session signs the lock.
func (s Session) holder() disk.Holder { return disk.Holder{PID: s.PID, Since: s.Start.Wall} }

// Step is a decision with its outcome, as a journal holds them.
type Step struct {
	Decision Decision
	// Outcome of a step that is not Concluded yet has no data: NaN for every
	// number but Spent, which is that of the step before.
	Outcome   Outcome
	Concluded bool
	// Session is the number of the session that decided.
	Session int
}

// Resolution is what became known of an action at one instant.
type Resolution struct {
	State ActionState
	// Readback by channel, in the channel's unit; NaN where none was had.
	Readback map[string]float64
	Message  string
	At       Stamp
}

// ActionRecord is an action with what became of it, oldest first. An action
// without a resolution may or may not have reached the instrument.
type ActionRecord struct {
	ID int64
	Action
	Resolutions []Resolution
}

// Result is the end of a run.
type Result struct {
	// Reason says why the run ended; Document is the result as one line of JSON.
	Reason   string
	Document []byte
	At       Stamp
}

// Status says how far a run has come.
type Status struct {
	// Steps counts decisions, Concluded those with an outcome: at most one less. Compared
	// counts those among Steps that re-measure a setting.
	Steps, Concluded int
	Compared         int
	Sessions         int
	// Finished is true once the run has a result; Reason then says why it ended.
	Finished bool
	Reason   string
}
