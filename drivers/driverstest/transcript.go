package driverstest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// Transcript is what was asked of a device and what it said.
type Transcript struct {
	// Actuator and Listener say what the device is besides a drivers.Device, Lapses
	// what it answers as a drivers.SafeCloser.
	Actuator, Listener, Lapses bool
	// Calls are in the order in which they began; Close and readings that the
	// device pushed are recorded where they happened.
	Calls []Call
}

// Op names what a call asks for.
type Op string

// The operations. OpSaid is a reading that a listener spoke on its own.
const (
	OpOpen  Op = "open"
	OpRead  Op = "read"
	OpWrite Op = "write"
	OpHalt  Op = "halt"
	OpClose Op = "close"
	OpSaid  Op = "said"
)

// Call is one call and its answer. Fields that an operation does not have are
// empty.
type Call struct {
	Op       Op
	Channels []string           // asked of OpRead
	Values   map[string]float64 // given to OpWrite
	Release  []string           // given to OpWrite
	Dose     string             // given to OpWrite

	Offered []drivers.Channel  // answer of OpOpen
	Reading map[string]float64 // values of the answer of OpRead, OpWrite, OpSaid
	Err     error              // answer of all but OpSaid
}

// Failure is an error of a stored transcript: the words of the original, and
// which of the errors of package drivers it wraps.
type Failure struct {
	Text  string
	Kinds []error // drivers.ErrUnavailable and so on
}

// Error gives the words of the original.
func (f *Failure) Error() string { return f.Text }

// Unwrap gives Kinds.
func (f *Failure) Unwrap() []error { return f.Kinds }

// kinds are the errors that a stored transcript distinguishes.
var kinds = []struct {
	word string
	err  error
}{
	{"unavailable", drivers.ErrUnavailable},
	{"closed", drivers.ErrClosed},
	{"protocol", drivers.ErrProtocol},
	{"refused", drivers.ErrRefused},
	{"not sent", drivers.ErrNotSent},
	{"late", drivers.ErrLate},
}

// headLine and callLine are the stored form. Limits that are not known are
// absent.
type headLine struct {
	Transcript int  `json:"transcript"` // version of the form
	Actuator   bool `json:"actuator"`
	Listener   bool `json:"listener"`
	Lapses     bool `json:"lapses,omitempty"`
}

type callLine struct {
	Op       Op                 `json:"op"`
	Channels []string           `json:"channels,omitempty"`
	Values   map[string]float64 `json:"values,omitempty"`
	Release  []string           `json:"release,omitempty"`
	Dose     string             `json:"dose,omitempty"`
	Offered  []channelLine      `json:"offered,omitempty"`
	Reading  map[string]float64 `json:"reading,omitempty"`
	Err      *errLine           `json:"error,omitempty"`
}

type channelLine struct {
	Name    string   `json:"name"`
	Unit    string   `json:"unit"`
	Set     bool     `json:"set,omitempty"`
	Release bool     `json:"release,omitempty"`
	Dose    bool     `json:"dose,omitempty"`
	Min     *float64 `json:"min,omitempty"`
	Max     *float64 `json:"max,omitempty"`
	Safe    *float64 `json:"safe,omitempty"`
}

type errLine struct {
	Text  string   `json:"text"`
	Kinds []string `json:"kinds,omitempty"`
}

// version is that of the stored form.
const version = 1

// Store writes the transcript as JSON lines: a head, then one line for each call.
func (t Transcript) Store(w io.Writer) error {
	enc := json.NewEncoder(w)
	if err := enc.Encode(headLine{version, t.Actuator, t.Listener, t.Lapses}); err != nil {
		return fmt.Errorf("transcript: %w", err)
	}
	for i, c := range t.Calls {
		line := callLine{Op: c.Op, Channels: c.Channels, Values: c.Values, Release: c.Release, Dose: c.Dose, Reading: c.Reading}
		for _, o := range c.Offered {
			line.Offered = append(line.Offered, channelLine{Name: o.Name, Unit: o.Unit, Set: o.Access == drivers.ReadWrite,
				Release: o.CanRelease, Dose: o.Dose, Min: known(o.Min), Max: known(o.Max), Safe: known(o.Safe)})
		}
		if c.Err != nil {
			line.Err = &errLine{Text: c.Err.Error()}
			for _, k := range kinds {
				if errors.Is(c.Err, k.err) {
					line.Err.Kinds = append(line.Err.Kinds, k.word)
				}
			}
		}
		if err := enc.Encode(line); err != nil {
			return fmt.Errorf("transcript: call %d: %w", i+1, err)
		}
	}
	return nil
}

// Load reads what Store wrote.
func Load(r io.Reader) (Transcript, error) {
	dec := json.NewDecoder(bufio.NewReader(r))
	dec.DisallowUnknownFields()
	var head headLine
	if err := dec.Decode(&head); err != nil {
		return Transcript{}, fmt.Errorf("transcript: head: %w", err)
	}
	if head.Transcript != version {
		return Transcript{}, fmt.Errorf("transcript: version %d; this program reads %d", head.Transcript, version)
	}
	t := Transcript{Actuator: head.Actuator, Listener: head.Listener, Lapses: head.Lapses}
	for {
		var line callLine
		switch err := dec.Decode(&line); {
		case errors.Is(err, io.EOF):
			return t, nil
		case err != nil:
			return Transcript{}, fmt.Errorf("transcript: call %d: %w", len(t.Calls)+1, err)
		}
		c, err := line.call()
		if err != nil {
			return Transcript{}, fmt.Errorf("transcript: call %d: %w", len(t.Calls)+1, err)
		}
		t.Calls = append(t.Calls, c)
	}
}

// call turns a stored line into a call.
func (l callLine) call() (Call, error) {
	c := Call{Op: l.Op, Channels: l.Channels, Values: l.Values, Release: l.Release, Dose: l.Dose, Reading: l.Reading}
	switch c.Op {
	case OpOpen, OpRead, OpWrite, OpHalt, OpClose, OpSaid:
	default:
		return c, fmt.Errorf("there is no operation %q", c.Op)
	}
	for _, o := range l.Offered {
		ch := drivers.Channel{Name: o.Name, Unit: o.Unit, CanRelease: o.Release, Dose: o.Dose, Min: orNaN(o.Min), Max: orNaN(o.Max), Safe: orNaN(o.Safe)}
		if o.Set {
			ch.Access = drivers.ReadWrite
		}
		c.Offered = append(c.Offered, ch)
	}
	if l.Err == nil {
		return c, nil
	}
	f := &Failure{Text: l.Err.Text}
	for _, word := range l.Err.Kinds {
		known := false
		for _, k := range kinds {
			if k.word == word {
				f.Kinds, known = append(f.Kinds, k.err), true
			}
		}
		if !known {
			return c, fmt.Errorf("there is no kind of error %q", word)
		}
	}
	c.Err = f
	return c, nil
}

func known(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}

func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// readingAt gives the values of an answer as a reading of a time.
func (c Call) readingAt(at time.Time) drivers.Reading {
	return drivers.Reading{Values: c.Reading, At: at}
}
