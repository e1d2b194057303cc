package journal

import (
	"encoding/json"
	"fmt"
)

// Struck says of a step that the model is not to know of who has struck it, and why.
type Struck struct {
	Who string `json:"who,omitempty"`
	Why string `json:"why,omitempty"`
}

// String is both for people.
func (s Struck) String() string {
	if s.Why == "" {
		return s.Who
	}
	return fmt.Sprintf("%s (%q)", s.Who, s.Why)
}

// Struck has, by the step, what the events of kind EventChanged have struck and not taken
// back.
func (r *Reader) Struck() (map[int]Struck, error) {
	out := map[int]Struck{}
	for e, err := range r.Events() {
		if err != nil {
			return nil, err
		}
		if e.Kind != EventChanged {
			continue
		}
		var c struct {
			Struck
			Strike, Unstrike []int
		}
		if err := json.Unmarshal(e.Facts.Changed, &c); err != nil {
			return nil, fmt.Errorf("the recorded change of event %q cannot be read: %w", e.Message, err)
		}
		for _, step := range c.Strike {
			out[step] = c.Struck
		}
		for _, step := range c.Unstrike {
			delete(out, step)
		}
	}
	return out, nil
}
