package serial

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/modbus"
	"github.com/labtuner/tuner/drivers/serial/protocol"
	"github.com/labtuner/tuner/drivers/serial/text"
)

// ChannelOptions are the keys of a [device.channel.X] of a serial device.
type ChannelOptions struct {
	// Channel is X: the name that tuner uses.
	Channel string `toml:"-"`

	Read    *Read          `toml:"read" doc:"how to ask for the value"`
	Write   *Write         `toml:"write" doc:"how to set the value; absent: the channel is read-only"`
	Release *text.Exchange `toml:"release" doc:"the command that lets go of the channel; absent: it cannot be released"`

	Dose bool `toml:"dose" doc:"a write adds an amount, once: it is never repeated, and a halt stops it by release"`

	Unit string `toml:"unit" doc:"the unit of the value; absent: whatever the configuration says"`
	drivers.ScaleKeys
}

// Read is how to ask for a value: out and in for lines, register for Modbus.
type Read struct {
	text.ReadKeys
	Timeout time.Duration `toml:"timeout" bound:">= 0s, <= 1h" doc:"longest wait for this answer, in place of reply_timeout"`

	Register *modbus.Register `toml:"register" doc:"modbus: where the value stands"`
}

// Write is how to set a value.
type Write struct {
	text.WriteKeys
	Idempotent bool          `toml:"idempotent" doc:"sending the command twice is as good as once, so that it may be repeated where its answer was lost"`
	Timeout    time.Duration `toml:"timeout" bound:">= 0s, <= 1h" doc:"longest wait for this answer, in place of reply_timeout"`

	Register *modbus.Register `toml:"register" doc:"modbus: where the value goes"`
}

// parseChannels checks what all protocols have in common, and gives every
// problem at once.
func parseChannels(options []ChannelOptions, timeout time.Duration) ([]*protocol.Channel, error) {
	var channels []*protocol.Channel
	var problems []error
	seen := map[string]bool{}
	for i, o := range options {
		c, err := parseChannel(o, timeout)
		if err == nil && seen[o.Channel] {
			err = errors.New("is listed twice")
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("channel %q: %w", o.Channel, err))
			continue
		}
		seen[o.Channel] = true
		c.Index = i
		channels = append(channels, c)
	}
	if len(options) == 0 {
		problems = append(problems, errors.New("there is no channel; write [device.channel.NAME] with read = { ... }, or name a profile that has some"))
	}
	return channels, errors.Join(problems...)
}

func parseChannel(o ChannelOptions, timeout time.Duration) (*protocol.Channel, error) {
	nan := math.NaN()
	c := &protocol.Channel{ReadTimeout: timeout, WriteTimeout: timeout, Scaled: drivers.Scaled{Scale: 1,
		Channel: drivers.Channel{Name: o.Channel, Unit: o.Unit, Min: nan, Max: nan, Safe: nan, Dose: o.Dose}}}
	if err := o.checkDose(); err != nil {
		return nil, err
	}
	c.Readable, c.Most = o.Read != nil, doseMost
	if o.Read != nil {
		c.ReadTimeout = cmp.Or(o.Read.Timeout, timeout)
	}
	if o.Write != nil && o.Write.Done != nil && o.Write.Done.Timeout > 0 {
		c.Most = o.Write.Done.Timeout
	}
	switch {
	case o.Channel == "":
		return nil, errors.New("has no name")
	case o.Read == nil && o.Write == nil:
		return nil, errors.New("has neither read nor write")
	case o.Write == nil && o.Release != nil:
		return nil, errors.New("has release but no write; nothing that is not set can be released")
	case o.Write == nil && o.Safe != nil:
		return nil, fmt.Errorf("has safe = %v but no write to set it with", *o.Safe)
	}
	if o.Write != nil {
		c.Access, c.CanRelease = drivers.ReadWrite, o.Release != nil
		c.WriteTimeout, c.Repeatable = cmp.Or(o.Write.Timeout, timeout), o.Write.Idempotent
	}
	return c, o.Apply(&c.Scaled)
}

// channelLines gives what each channel says in lines.
func channelLines(options []ChannelOptions) (all []text.Lines, err error) {
	var problems []error
	for _, o := range options {
		w := text.Lines{Release: o.Release}
		if o.Read != nil {
			w.Read = &o.Read.ReadKeys
		}
		if o.Write != nil {
			w.Write = &o.Write.WriteKeys
		}
		if o.Read != nil && o.Read.Register != nil {
			problems = append(problems, fmt.Errorf(`channel %q: read.register is for protocol = "modbus"; write out and in`, o.Channel))
		}
		if o.Write != nil && o.Write.Register != nil {
			problems = append(problems, fmt.Errorf(`channel %q: write.register is for protocol = "modbus"; write out`, o.Channel))
		}
		all = append(all, w)
	}
	return all, errors.Join(problems...)
}

// placesOf gives the registers of each channel.
func placesOf(options []ChannelOptions) (all []modbus.Places, err error) {
	var problems []error
	for _, o := range options {
		var p modbus.Places
		if o.Read != nil {
			p.Read = o.Read.Register
		}
		if o.Write != nil {
			p.Write = o.Write.Register
			if o.Write.Verify != nil {
				p.Verify = &o.Write.Verify.Tolerance
			}
		}
		if err := o.lacksRegisters(); err != nil {
			problems = append(problems, fmt.Errorf("channel %q: %w", o.Channel, err))
		}
		all = append(all, p)
	}
	return all, errors.Join(problems...)
}

// lacksRegisters refuses a channel that modbus cannot have.
func (o *ChannelOptions) lacksRegisters() error {
	switch {
	case o.Read != nil && o.Read.Register == nil:
		return errors.New("read has no register, which modbus needs: read = { register = { function = 3, address = 0, type = \"int16\" } }")
	case o.Read != nil && (o.Read.Out != "" || o.Read.In != "" || o.Read.None != ""):
		return errors.New("read has out, in or none, which describe lines of text; modbus has register alone")
	case o.Write != nil && o.Write.Register == nil:
		return errors.New("write has no register, which modbus needs")
	case o.Write != nil && o.Write.WriteKeys != text.WriteKeys{Verify: o.Write.Verify}:
		return errors.New("write has out, ack, lasts or done, which describe lines of text; modbus has register and verify = { tolerance }")
	case o.Write != nil && o.Write.Verify != nil && (o.Write.Verify.Out != "" || o.Write.Verify.In != ""):
		return errors.New("write.verify has out or in, which describe lines of text; modbus reads back what was written: verify = { tolerance = 0.1 }")
	case o.Release != nil:
		return errors.New("has release, which describes a line of text; a modbus channel cannot be released")
	}
	return nil
}
