package export

import (
	"encoding/json"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
)

// The lines of a whole export, beside [control.Step]; a dump has them, too. Each
// has its type. Numbers are in the units that the run line gives; null is no data.

// RunLine describes a run.
type RunLine struct {
	Type string `json:"type"` // run
	control.Run
	Schema int `json:"schema"`
}

// UnfinishedLine stands where the result would, in the export of a run that has
// none yet.
type UnfinishedLine struct {
	// Type is "unfinished".
	Type string `json:"type"`
	// Steps counts the step lines before this one; OpenStep is the step that has no
	// outcome yet, null if there is none.
	Steps    int  `json:"steps"`
	OpenStep *int `json:"open_step"`
	// Message says so in words.
	Message string `json:"message"`
}

// When is when something was: the session, seconds of its monotonic clock, and the wall clock's
// time, left out where that was not known.
type When struct {
	Session int     `json:"session,omitempty"`
	Mono    float64 `json:"mono_s"`
	Time    string  `json:"time,omitempty"`
}

func newWhen(session int, at journal.Stamp) When {
	l := When{Session: session, Mono: at.Mono.Seconds()}
	if !at.Wall.IsZero() {
		l.Time = at.Wall.UTC().Format(time.RFC3339Nano)
	}
	return l
}

// DecisionLine is what a [control.Step] leaves out of a decision.
type DecisionLine struct {
	Type    string          `json:"type"` // decision
	N       int             `json:"n"`
	Initial bool            `json:"initial"`
	Work    int             `json:"work"`
	Cut     bool            `json:"cut"`
	Shots   int             `json:"shots,omitempty"` // that the policy asked for
	Why     json.RawMessage `json:"why"`
	Reasons []ReasonLine    `json:"reasons"`
	When
}

// ReasonLine says what a safety rule did to a variable.
type ReasonLine struct {
	Variable string         `json:"variable"`
	Rule     string         `json:"rule"`
	From     journal.Number `json:"from"`
	To       journal.Number `json:"to"`
}

// ActionLine is what was done to the instrument, or was meant to be, and what became of it.
type ActionLine struct {
	Type    string                    `json:"type"` // action
	ID      int64                     `json:"id"`
	N       int                       `json:"n"`
	Device  string                    `json:"device"`
	Kind    string                    `json:"kind"`
	Values  map[string]journal.Number `json:"values,omitempty"`
	Release []string                  `json:"release,omitempty"`
	States  []ActionStateLine         `json:"states"`
	When
}

// ActionStateLine is what became known of an action.
type ActionStateLine struct {
	State    string                    `json:"state"`
	Readback map[string]journal.Number `json:"readback,omitempty"`
	Message  string                    `json:"message,omitempty"`
	When
}

// SessionLine is one process of the run.
type SessionLine struct {
	Type    string `json:"type"` // session
	PID     int    `json:"pid"`
	Version string `json:"version"`
	BootID  string `json:"boot_id"`
	// Decisions is the version of what decided.
	Decisions int `json:"decisions"`
	When
}

// EventLine is a line of the run's story.
type EventLine struct {
	Type    string `json:"type"` // event
	Level   string `json:"level"`
	Kind    string `json:"kind"`
	N       int    `json:"n"`
	Message string `json:"message"`
	// Facts are what programs read of it.
	Facts journal.Facts `json:"facts,omitzero"`
	When
}

// NewRunLine makes the line of a journal's run.
func NewRunLine(r *journal.Reader) RunLine {
	return RunLine{Type: "run", Run: control.RunOf(r.Run()), Schema: r.Version()}
}

// NewSessionLine makes the line of a session.
func NewSessionLine(s journal.Session) SessionLine {
	return SessionLine{"session", s.PID, s.Version, s.BootID, s.Decisions, newWhen(s.Number, s.Start)}
}

// NewDecisionLine makes the line of a step's decision.
func NewDecisionLine(s journal.Step) DecisionLine {
	d := &s.Decision
	line := DecisionLine{Type: "decision", N: d.Step, Initial: d.Initial, Work: d.Work, Cut: d.Cut, Shots: d.Shots, Why: json.RawMessage(d.Why),
		Reasons: []ReasonLine{}, When: newWhen(s.Session, d.At)}
	if !json.Valid(line.Why) {
		line.Why = json.RawMessage("null")
	}
	for _, r := range d.Reasons {
		line.Reasons = append(line.Reasons, ReasonLine{r.Variable, r.Rule, journal.Number(r.From), journal.Number(r.To)})
	}
	return line
}

// NewEventLine makes the line of an event.
func NewEventLine(e journal.Event) EventLine {
	return EventLine{"event", e.Level, e.Kind, e.Step, e.Message, e.Facts, newWhen(0, e.At)}
}

// NewActionLine makes the line of an action.
func NewActionLine(x journal.ActionRecord) ActionLine {
	line := ActionLine{Type: "action", ID: x.ID, N: x.Step, Device: x.Device, Kind: x.Kind, Values: numbers(x.Values), Release: x.Release,
		States: []ActionStateLine{}, When: newWhen(0, x.At)}
	for _, s := range x.Resolutions {
		line.States = append(line.States, ActionStateLine{string(s.State), numbers(s.Readback), s.Message, newWhen(0, s.At)})
	}
	return line
}

// numbers gives values as JSON can hold them.
func numbers(values map[string]float64) map[string]journal.Number {
	out := make(map[string]journal.Number, len(values))
	for name, v := range values {
		out[name] = journal.Number(v)
	}
	return out
}
