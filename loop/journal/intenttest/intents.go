// Package intenttest has what tests of several packages share to compare an instrument's
// own record with a journal.
package intenttest

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/labtuner/tuner/loop/journal"
)

// Intents is what a journal has on record as intended, of one run or of all its processes.
// Setpoint and Dose are the rule that every such comparison goes by:
//
//	A setpoint waits for its durable intent, and so does a dose.
//	A safe value never waits, for nothing.
//
// So a process that is killed may have sent its safe value before anything of that was on
// record, and nothing else.
type Intents struct {
	setpoints map[setpoint]bool
	doses     map[string]setpoint
}

// setpoint is a value of a channel.
type setpoint struct {
	channel string
	value   float64
}

// ReadIntents reads the intents of the journal at path; a journal that there is not has
// none.
func ReadIntents(path string) (*Intents, error) {
	in := &Intents{setpoints: map[setpoint]bool{}, doses: map[string]setpoint{}}
	r, err := journal.OpenReader(path)
	if errors.Is(err, fs.ErrNotExist) {
		return in, nil
	}
	if err != nil {
		return nil, err
	}
	return in, errors.Join(in.read(r), r.Close())
}

func (in *Intents) read(r *journal.Reader) error {
	for a, err := range r.AllActions() {
		if err != nil {
			return err
		}
		for channel, v := range a.Values {
			if a.Kind == "dose" {
				in.doses[fmt.Sprintf("%s-%d", r.Run().ID, a.ID)] = setpoint{channel, v}
			} else {
				in.setpoints[setpoint{channel, v}] = true
			}
		}
	}
	return nil
}

// Setpoint returns an error where an instrument received a value of a channel that had to
// wait for its intent, and none is on record. safe is the channel's safe value.
func (in *Intents) Setpoint(channel string, value, safe float64) error {
	if value == safe || in.setpoints[setpoint{channel, value}] {
		return nil
	}
	return fmt.Errorf("%s was told %v, and no intent of that is on record", channel, value)
}

// Dose returns an error where a dose was given and no intent of that name, channel and
// amount is on record.
func (in *Intents) Dose(name, channel string, amount float64) error {
	intended, there := in.doses[name]
	switch want := (setpoint{channel, amount}); {
	case !there:
		return fmt.Errorf("%s was told to give %v as %q, and no intent of that is on record", channel, amount, name)
	case intended != want:
		return fmt.Errorf("%s was told to give %v as %q, and on record is %v of %s", channel, amount, name, intended.value, intended.channel)
	}
	return nil
}
