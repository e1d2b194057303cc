package plan

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/labtuner/tuner/loop/journal"
)

// Change is what a person, or a file that was read again, has changed while the run went on. A
// policy's view of a run is a function of the recorded steps and the recorded changes: when one
// takes effect, the policy is rebuilt from both.
type Change struct {
	// From is the first step whose decision goes by it.
	From int `json:"from"`
	// Command is the number of the command that asked for it in the journal, 0: none did; Who
	// asked, and by which way, and Why.
	Command int64  `json:"command,omitempty"`
	Who     string `json:"who,omitempty"`
	Why     string `json:"why,omitempty"`
	// Words say what is changed.
	Words string `json:"words"`
	// Set has values of keys of the file, in TOML, "" for one that is left out; they stand in
	// place of the file's until another change, or until the file itself says otherwise: then
	// Drop has the key.
	Set  map[string]string `json:"set,omitempty"`
	Drop []string          `json:"drop,omitempty"`
	// Strike has steps that the model is not to know of, Unstrike some of those that it is to
	// know of again.
	Strike   []int `json:"strike,omitempty"`
	Unstrike []int `json:"unstrike,omitempty"`
}

// Amended is a change that can be made, and what the run then goes by: options in which
// ranges, frozen variables, costs and stop conditions may differ from the present ones.
type Amended struct {
	Change  Change
	Options Options
}

// Changes are those of a run, in the order in which they were made.
type Changes []Change

// ReadChange reads what an event of kind journal.EventChanged has.
func ReadChange(e journal.Event) (c Change, err error) {
	if err = json.Unmarshal(e.Facts.Changed, &c); err != nil || c.From < 1 {
		err = fmt.Errorf("the recorded change of event %q cannot be read (%v)", e.Message, err)
	}
	return c, err
}

// ChangesIn reads the changes of a run.
func ChangesIn(r *journal.Reader) (all Changes, err error) {
	for e, err := range r.Events() {
		if err != nil {
			return nil, err
		}
		if e.Kind != journal.EventChanged {
			continue
		}
		c, err := ReadChange(e)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// At are the changes that the decision of a step goes by.
func (all Changes) At(step int) Changes {
	n := 0
	for n < len(all) && all[n].From <= step { // a change is never in force before one that was made before it
		n++
	}
	return all[:n]
}

// Settings are the keys of the file that changes have set, with their values.
func (all Changes) Settings() map[string]string {
	out := map[string]string{}
	for _, c := range all {
		for key, value := range c.Set {
			out[key] = value
		}
		for _, key := range c.Drop {
			delete(out, key)
		}
	}
	return out
}

// Struck has, by the step, the change that has struck it.
func (all Changes) Struck() map[int]Change {
	out := map[int]Change{}
	for _, c := range all {
		for _, step := range c.Strike {
			out[step] = c
		}
		for _, step := range c.Unstrike {
			delete(out, step)
		}
	}
	return out
}

// StruckSteps lists the struck steps in their order.
func (all Changes) StruckSteps() []int {
	var out []int
	for step := range all.Struck() {
		out = append(out, step)
	}
	slices.Sort(out)
	return out
}

// By says who has made the change, and why.
func (c Change) By() string {
	text := c.Who
	if c.Why != "" {
		text += fmt.Sprintf(" (%q)", c.Why)
	}
	return text
}

// Facts is the change as its event has it.
func (c Change) Facts() (journal.Facts, error) {
	text, err := json.Marshal(c)
	return journal.Facts{Changed: text}, err
}

// TakeOver brings into present what a change may have changed in next; all else stays.
func (next *Options) TakeOver(present *Options) {
	present.Cost, present.ControlSets, present.Stop, present.Verify = next.Cost, next.ControlSets, next.Stop, next.Verify
	present.Variables = slices.Clone(present.Variables) // who has them reads on
	for i := range present.Variables {
		v, n := &present.Variables[i], &next.Variables[i]
		v.Low, v.High, v.Frozen = n.Low, n.High, n.Frozen
	}
}
