package control

import (
	"fmt"
	"slices"
)

// Edit is what the commands ask for that change what decisions go by while a run goes on. Each
// command takes its own members.
type Edit struct {
	// Steps are struck, or count again.
	Steps []int `json:"steps,omitempty"`
	// Saturated names a sensor: all steps are struck in which a shot has it at an end of the
	// range that is believed.
	Saturated string `json:"saturated,omitempty"`
	// Ranges are the new ends of variables' ranges, in their units.
	Ranges map[string][2]float64 `json:"ranges,omitempty"`
	// Values are where variables are frozen, in their units; Variables are freed.
	Values    map[string]float64 `json:"values,omitempty"`
	Variables []string           `json:"variables,omitempty"`
	// Set has keys of the file with new values, in TOML; "": the key is left out.
	Set map[string]string `json:"set,omitempty"`
}

// editArgs are those of a command that has an Edit.
type editArgs struct {
	argsOf
	Edit
}

// edits says, by the command, what of an Edit it takes, in words.
var edits = map[string]struct {
	takes string
	has   func(e *Edit) (this, other bool)
}{
	CommandStrike: {`{"steps": [N, ...]} or {"saturated": SENSOR}`, func(e *Edit) (bool, bool) {
		return len(e.Steps) > 0 != (e.Saturated != ""), len(e.Ranges)+len(e.Values)+len(e.Variables)+len(e.Set) > 0
	}},
	CommandUnstrike: {`{"steps": [N, ...]}`, func(e *Edit) (bool, bool) {
		return len(e.Steps) > 0, e.Saturated != "" || len(e.Ranges)+len(e.Values)+len(e.Variables)+len(e.Set) > 0
	}},
	CommandNarrow: {`{"ranges": {NAME: [LOW, HIGH]}}`, takesRanges},
	CommandWiden:  {`{"ranges": {NAME: [LOW, HIGH]}}`, takesRanges},
	CommandFreeze: {`{"values": {NAME: NUMBER}}`, func(e *Edit) (bool, bool) {
		return len(e.Values) > 0, e.Saturated != "" || len(e.Steps)+len(e.Ranges)+len(e.Variables)+len(e.Set) > 0
	}},
	CommandFree: {`{"variables": [NAME, ...]}`, func(e *Edit) (bool, bool) {
		return len(e.Variables) > 0, e.Saturated != "" || len(e.Steps)+len(e.Ranges)+len(e.Values)+len(e.Set) > 0
	}},
	CommandChange: {`{"set": {KEY: VALUE}}, each value as text in TOML`, func(e *Edit) (bool, bool) {
		return len(e.Set) > 0, e.Saturated != "" || len(e.Steps)+len(e.Ranges)+len(e.Values)+len(e.Variables) > 0
	}},
}

func takesRanges(e *Edit) (bool, bool) {
	return len(e.Ranges) > 0, e.Saturated != "" || len(e.Steps)+len(e.Values)+len(e.Variables)+len(e.Set) > 0
}

// IsEdit says that a command changes what decisions go by.
func IsEdit(command string) bool { _, ok := edits[command]; return ok }

// editMost bounds what one command names.
const editMost = 10_000

// ParseEdit reads the arguments of a command that changes what decisions go by.
func ParseEdit(command string, args []byte) (Edit, error) {
	var a editArgs
	if err := decode(args, &a); err != nil {
		return Edit{}, err
	}
	e := &a.Edit
	this, other := edits[command].has(e)
	switch n := len(e.Steps) + len(e.Ranges) + len(e.Values) + len(e.Variables) + len(e.Set); {
	case !this || other:
		return *e, fmt.Errorf("they are not what it takes")
	case n > editMost:
		return *e, fmt.Errorf("%d things at once; at most %d", n, editMost)
	}
	slices.Sort(e.Steps)
	for i, step := range e.Steps {
		switch {
		case step < 1:
			return *e, fmt.Errorf("step %d: steps count from 1", step)
		case i > 0 && step == e.Steps[i-1]:
			return *e, fmt.Errorf("step %d is named twice", step)
		}
	}
	for name, r := range e.Ranges {
		if !(r[0] < r[1]) {
			return *e, fmt.Errorf("the range of %s is to be [LOW, HIGH], and is [%g, %g]", Clip(name), r[0], r[1])
		}
	}
	return *e, nil
}

// checkEdit refuses a change that says nothing that its command takes.
func (o *Order) checkEdit() (Response, bool) {
	args := o.Args
	if len(args) == 0 {
		args = []byte("{}")
	}
	if _, err := ParseEdit(o.Command, args); err != nil {
		return o.badArgs(err, edits[o.Command].takes+`, and "reason": TEXT`)
	}
	var a editArgs
	_ = decode(args, &a) // it was read above
	return o.takeReason(a.Reason)
}
