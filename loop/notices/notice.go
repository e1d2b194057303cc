package notices

import (
	"slices"
	"time"
)

// The kinds of a Notice.
const (
	// Tripped: the safety layer has taken the actuators away (tripped, fallen back, stopped).
	Tripped = "tripped"
	// Held: the run is held, by something else than a person's pause.
	Held = "held"
	// Finished: the run has ended.
	Finished = "finished"
	// NewBest: the recommended setting has a better bound than any before.
	NewBest = "new-best"
)

// Kinds lists all of them, the most urgent first.
func Kinds() []string { return []string{Tripped, Held, Finished, NewBest} }

// Notice is one message, a JSON object of members that do not change their meaning.
type Notice struct {
	// Event is one of those above, Text says it to a person.
	Event string `json:"event"`
	Text  string `json:"text"`
	// Name, Site and Run are the run's, Journal its path.
	Name    string `json:"name"`
	Site    string `json:"site"`
	Run     string `json:"run"`
	Journal string `json:"journal"`
	// State and Step are those of the run then.
	State string    `json:"state"`
	Step  int       `json:"step"`
	At    time.Time `json:"at"`
	// Replaces counts the earlier notices of this kind that were not sent for this one.
	Replaces int `json:"replaces"`
}

// urgency orders notices.
func (n *Notice) urgency() int { return slices.Index(Kinds(), n.Event) }
