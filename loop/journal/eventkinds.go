package journal

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// The kinds of a run's events, where a reader goes by them. Names on disk stay.
const (
	// EventStart keeps the starting setting: with it a policy can be brought to where the
	// run's was.
	EventStart = "start-setting"
	// EventAbandoned: a step ended before its end, and its outcome was not taught to the
	// policy.
	EventAbandoned = "abandoned"
	// EventWaited: how long a run had waited for its resume before its first step, which is
	// no time of the run.
	EventWaited = "waited"
	// EventConfiguration and EventNarrowed: the configuration was changed during the run, in
	// words, and as what a replay goes by.
	EventConfiguration = "configuration"
	EventNarrowed      = "narrowed"
	// EventChanged: a person, or the file that was read again, has changed what decisions go
	// by: which steps count, ranges, frozen variables, costs, risk, stop conditions.
	EventChanged = "changed"
	// EventBetter: the pessimistic bound of what is recommended is the best so far; where the
	// run ends when that does not come for long.
	EventBetter = "better"
	// EventContinued: a run that was finished goes on, because its stop conditions have grown.
	EventContinued = "continued"
	// EventVerify: the comparison with the starting setting at the end.
	EventVerify = "verify"
	// EventConstraint: a step broke a constraint, one event for each such step.
	EventConstraint = "constraint"
	// EventSafety: what the safety layer does.
	EventSafety = "safety"
	// EventPolicy: a decision failed.
	EventPolicy = "policy"
	// EventDeadline: the deadline has cut a decision: the first of a session, and the first that found little.
	EventDeadline = "deadline"
	// EventCommand: a command of a person or a program.
	EventCommand = "command"
	// EventDisk: the disk, or the record on it.
	EventDisk = "disk"
	// EventShutdown: all actuators are at rest, or which are not.
	EventShutdown = "shutdown"
)

// Problems of steps that were ended and did not fail.
const (
	// ProblemInterrupted: the caller ended the run.
	ProblemInterrupted = "interrupted"
	// ProblemUnknown: the process ended in the middle of the step; how far the step came is
	// not known.
	ProblemUnknown = "unknown: the process ended in the middle of the step"
	// ProblemTimeOver: a shadow run's time was over.
	ProblemTimeOver = "the run's time was over"
)

// Facts are what programs read of an event; its message is for people. Each kind has its
// own.
type Facts struct {
	// Start, of EventStart, is the starting setting: one entry per variable, NaN where it is
	// random.
	Start []Number `json:"start,omitempty"`
	// Waited, of EventWaited, is no time of the run.
	Waited time.Duration `json:"waited_ns,omitempty"`
	// Narrowed, of EventNarrowed, is what package plan has of it.
	Narrowed json.RawMessage `json:"narrowed,omitempty"`
	// Changed, of EventChanged, is what package plan has of it.
	Changed json.RawMessage `json:"changed,omitempty"`
	// Better, of EventBetter.
	Better *Mark `json:"better,omitempty"`
	// Ended, of EventContinued, is the result that the run had.
	Ended *Ended `json:"ended,omitempty"`
	// AtRest, of EventShutdown, says that every actuator is.
	AtRest bool `json:"at_rest,omitempty"`
	// Latched, of EventSafety, says that a trip or a stop has been latched.
	Latched bool `json:"latched,omitempty"`
}

// Mark is the best pessimistic bound so far, as it is maximised, after so many steps of the
// search and so much spent on them.
type Mark struct {
	Bound Number `json:"bound"`
	Steps int    `json:"steps"`
	Spent Number `json:"spent"`
}

// olderFacts reads, by kind, the facts of events that were recorded before schema version 3,
// in the sentences of that time.
var olderFacts = map[string]func(Event) Facts{
	EventStart: func(e Event) (f Facts) {
		if json.Unmarshal([]byte(e.Message), &f.Start) != nil {
			f.Start = nil
		}
		return f
	},
	EventWaited: func(e Event) (f Facts) {
		var text string
		if _, err := fmt.Sscanf(e.Message, "waited %s for the resume", &text); err == nil {
			f.Waited, _ = time.ParseDuration(text) // 0 where it is none
		}
		return f
	},
	EventNarrowed: func(e Event) (f Facts) {
		if json.Valid([]byte(e.Message)) {
			f.Narrowed = json.RawMessage(e.Message)
		}
		return f
	},
	EventShutdown: func(e Event) Facts { return Facts{AtRest: e.Message == "actuators are at rest"} },
	EventSafety: func(e Event) Facts {
		mode, _, _ := strings.Cut(e.Message, ":")
		return Facts{Latched: e.Level == "error" && (mode == "tripped" || mode == "stopped")}
	},
}
