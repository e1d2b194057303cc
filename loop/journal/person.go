package journal

import (
	"encoding/json"
	"strings"
)

// Person is what the record has in place of a policy's reasons where a person has decided a
// step.
type Person struct {
	// Origin is PersonOrigin.
	Origin string `json:"origin"`
	// Command is the number of the command in the journal, Who asked for it.
	Command int64  `json:"command"`
	Who     string `json:"who,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// PersonOrigin is the origin of a step that a person has decided.
const PersonOrigin = "person"

// Text is what Decision.Why has.
func (p Person) Text() (string, error) {
	p.Origin = PersonOrigin
	text, err := json.Marshal(p)
	return string(text), err
}

// Person says which person has decided the step; false where a policy has.
func (d *Decision) Person() (p Person, ok bool) {
	if !strings.Contains(d.Why, `"origin"`) {
		return p, false
	}
	err := json.Unmarshal([]byte(d.Why), &p)
	return p, err == nil && p.Origin == PersonOrigin
}
