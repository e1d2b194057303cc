package control

import (
	"encoding/json"

	"github.com/labtuner/tuner/loop/journal"
)

// Preview is what a command would do. Nothing has been done.
type Preview struct {
	// Words say it for people.
	Words string `json:"words"`
	// Moves are the variables that it has driven or let go, none where nothing moves by it.
	Moves []Move `json:"moves"`
	// Args are the arguments that do exactly this, whatever is recommended meanwhile.
	Args json.RawMessage `json:"args"`
}

// Move is where a variable goes.
type Move struct {
	Variable string `json:"variable"`
	Unit     string `json:"unit"`
	// From is where it is, or goes already: null where that is not known.
	From journal.Number `json:"from"`
	// To is where it goes; null where Text alone says what becomes of it.
	To   journal.Number `json:"to"`
	Text string         `json:"text"`
}
