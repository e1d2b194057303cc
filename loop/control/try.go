package control

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// What variables do that a try does not name.
const (
	// RestRecommended: they take the recommended setting's values, or stay where they are
	// where it has none.
	RestRecommended = "recommended"
	// RestPresent: they stay where they are.
	RestPresent = "present"
)

const (
	// tryTimesMost and tryShotsMost bound one command.
	tryTimesMost = 1000
	tryShotsMost = 100_000
)

// Try is what CommandTry asks for: a setting of a person's own, to be measured as a step.
type Try struct {
	// Values are what is named, by variable, in its unit.
	Values map[string]float64 `json:"values"`
	// Rest is what the other variables of the control set do; "" is RestRecommended.
	Rest string `json:"rest,omitempty"`
	// Shots is how many shots a step takes; 0: as many as are configured.
	Shots int `json:"shots,omitempty"`
	// Times is in how many steps it is measured; 0: one.
	Times int `json:"times,omitempty"`
}

// argsOf are the arguments of all commands.
type argsOf struct {
	Reason string `json:"reason,omitempty"`
}

// tryArgs are those of CommandTry.
type tryArgs struct {
	argsOf
	Try
}

// ParseTry reads the arguments of a CommandTry, which Check has seen.
func ParseTry(args []byte) (Try, error) {
	var a tryArgs
	if err := decode(args, &a); err != nil {
		return Try{}, err
	}
	t := a.Try
	switch {
	case len(t.Values) == 0:
		return t, fmt.Errorf("values is missing: what is to be tried, as {\"values\": {NAME: NUMBER}}")
	case t.Rest != "" && t.Rest != RestRecommended && t.Rest != RestPresent:
		return t, fmt.Errorf("rest is %q; it is %q or %q", Clip(t.Rest), RestRecommended, RestPresent)
	case t.Shots < 0 || t.Shots > tryShotsMost:
		return t, fmt.Errorf("shots is %d; it is 1 to %d", t.Shots, tryShotsMost)
	case t.Times < 0 || t.Times > tryTimesMost:
		return t, fmt.Errorf("times is %d; it is 1 to %d", t.Times, tryTimesMost)
	}
	t.Times = max(t.Times, 1)
	return t, nil
}

// ReasonOf is why a recorded command was given, "" where it does not say.
func ReasonOf(args []byte) string {
	var a argsOf
	_ = json.Unmarshal(args, &a) // it was read before it was recorded
	return a.Reason
}

// ArgsOf are the arguments of a CommandTry.
func ArgsOf(t Try, reason string) (json.RawMessage, error) {
	return json.Marshal(tryArgs{argsOf{reason}, t})
}

// decode reads one JSON object and refuses members that nobody knows.
func decode(args []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(args))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if _, end := d.Token(); err == nil && end != io.EOF {
		err = fmt.Errorf("more than one value")
	}
	return err
}
