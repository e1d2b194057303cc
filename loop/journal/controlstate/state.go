package controlstate

import (
	"errors"
	"time"

	"github.com/labtuner/tuner/safety"
)

// State is what must survive a crash for the instrument's sake: what is
// latched, and what has been dosed. It is small, changes seldom, and is apart from
// the journal, so that a damaged or a new journal does not lose it.
type State struct {
	// Generation grows with every change; the newer of two copies counts.
	Generation uint64 `json:"generation"`
	// Wall is when it was written. BootID and Uptime say when by a clock that cannot
	// be set: time since the machine's start counts while BootID is the same.
	Wall   time.Time     `json:"wall"`
	BootID string        `json:"boot_id"`
	Uptime time.Duration `json:"uptime_ns"`
	// At is the safety layer's own time then.
	At time.Duration `json:"at_ns"`
	// Mode is where the layer stood, for a reader.
	Mode string `json:"mode"`
	// Latched causes stay until they are reset; FirstOut came first.
	Latched  []Cause `json:"latched"`
	FirstOut []Cause `json:"first_out"`
	// Run names the run whose totals Doses has; "" in files that do not say.
	Run string `json:"run,omitempty"`
	// Doses by variable.
	Doses map[string]safety.DoseState `json:"doses"`
	// Starts are the times, by the safety layer's clock, at which a run began without a
	// person, of the last hour.
	Starts []time.Duration `json:"starts_ns,omitempty"`
	// Commands are those that were answered, nil where none was.
	Commands *CommandMemory `json:"commands,omitempty"`
	// Underway says that a run has made a step and has not come to its end: there is a journal.
	Underway bool `json:"underway,omitempty"`
	// Instrument is what it is about; the zero one in files that do not say.
	Instrument Instrument `json:"instrument,omitzero"`
	// Resets are those by tuner reset that no journal has on record yet, oldest first.
	Resets []Reset `json:"resets,omitempty"`
	// Marks counts the calls of MarkAhead that this state makes superfluous.
	Marks uint64 `json:"-"`
}

// Instrument tells one instrument from others, whatever its run is called: what was latched
// belongs to it, and not to a name.
type Instrument struct {
	// Config is the configuration's path, Name the run's in it.
	Config string `json:"config"`
	Name   string `json:"name"`
	// Devices are the addresses of the devices that are set, each with its driver.
	Devices []string `json:"devices,omitempty"`
}

// Reset is what a person has cleared while no run was there to record it.
type Reset struct {
	Wall time.Time `json:"wall"`
	// By is who it was, Cleared what, in words.
	By      string `json:"by"`
	Cleared string `json:"cleared"`
}

// ResetsMax is how many resets wait for a journal at most: the oldest go first. Not more: a
// file that is written in every dose stays small. Not fewer: they are a person's, one at a time.
const ResetsMax = 16

// Cause names a rule and what it is about.
type Cause struct {
	Rule safety.Rule `json:"rule"`
	Name string      `json:"name"`
	Of   string      `json:"of"`
}

// String is the rule with what it is about.
func (c Cause) String() string {
	if c.Of == "" {
		return c.Name
	}
	return c.Name + " of " + c.Of
}

// ErrLost: both copies of the control state are damaged. What was latched and
// what was dosed is not known.
var ErrLost = errors.New("control state is lost")
