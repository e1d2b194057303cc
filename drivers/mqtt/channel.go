package mqtt

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// channel is one channel of the file, checked. Its Channel is what Open declares:
// over MQTT a device says nothing of itself, so unit and limits are the file's.
type channel struct {
	drivers.Scaled

	read     string // topics; empty where there is none
	path     path
	unitPath path
	write    string
	ttl      time.Duration
	plain    bool // setpoints are numbers alone
	release  string
	// released is the message of a release where plain.
	released    string
	confirm     string
	confirmWait time.Duration
}

// parseChannels checks the file's channels and gives every problem at once.
func parseChannels(options []ChannelOptions) ([]*channel, error) {
	var channels []*channel
	var problems []error
	names := map[string]bool{}
	for _, o := range options {
		c, err := parseChannel(o)
		if err == nil && names[o.Channel] {
			err = errors.New("is listed twice")
		}
		if err != nil {
			for _, e := range unjoin(err) { // so that each names its channel where they are reported one by one
				problems = append(problems, fmt.Errorf("channel %q: %w", o.Channel, e))
			}
			continue
		}
		names[o.Channel] = true
		channels = append(channels, c)
	}
	if len(options) == 0 {
		problems = append(problems, errors.New("there is no channel; write [device.channel.NAME] with read = { topic = ... }"))
	}
	return channels, errors.Join(append(problems, checkTopics(channels))...)
}

// unjoin takes joined errors apart.
func unjoin(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, unjoin(e)...)
	}
	return all
}

// parseChannel checks one channel.
func parseChannel(o ChannelOptions) (*channel, error) {
	switch {
	case o.Channel == "":
		return nil, errors.New("has no name")
	case o.Read == nil && !o.Dose:
		return nil, errors.New(`has no read; write read = { topic = "..." }, since only a reading tells what was achieved`)
	case o.Write == nil && o.Release != nil:
		return nil, errors.New("has a release topic but no write topic; nothing that is not set can be released")
	case o.Write == nil && o.Confirm != nil:
		return nil, errors.New("has a confirm topic but no write topic; only setpoints and releases are confirmed")
	case o.Write == nil && o.Safe != nil:
		return nil, fmt.Errorf("has safe = %v but no write topic to send it to", *o.Safe)
	}
	nan := math.NaN()
	c := &channel{Scaled: drivers.Scaled{Scale: 1, Channel: drivers.Channel{Name: o.Channel, Unit: o.Unit, Min: nan, Max: nan, Safe: nan, Dose: o.Dose}}}
	if err := errors.Join(o.checkDose(), c.parseRead(o.Read), c.parseWrite(o)); err != nil {
		return nil, err
	}
	return c, o.Apply(&c.Scaled)
}

// parseRead checks where readings come.
func (c *channel) parseRead(o *ReadTopic) error {
	if o == nil {
		return nil
	}
	var pathErr, unitErr error
	c.read = o.Topic
	c.path, pathErr = parsePath(o.Path)
	c.unitPath, unitErr = parsePath(o.UnitPath)
	if err := errors.Join(pathErr, unitErr); err != nil {
		return fmt.Errorf("read: %w", err)
	}
	if o.UnitPath != "" && c.Unit == "" {
		return fmt.Errorf("read: unit_path is %q, but the channel has no unit to compare with", o.UnitPath)
	}
	return checkTopic("read", c.read)
}

// parseWrite checks where setpoints, releases and confirmations go.
func (c *channel) parseWrite(o ChannelOptions) error {
	if o.Write == nil {
		return nil
	}
	c.Access, c.CanRelease = drivers.ReadWrite, o.Release != nil
	c.write, c.ttl, c.plain = o.Write.Topic, o.Write.TTL, o.Write.Format == formatNumber
	if c.ttl == 0 {
		c.ttl = defaultTTL
	}
	problems := []error{checkTopic("write", c.write)}
	bad := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	c.Lasts = o.Write.Lasts
	if c.Lasts && c.plain {
		bad("write: lasts is true and format %q; a number alone cannot say for how long", formatNumber)
	}
	if o.Release != nil {
		c.release, c.released = o.Release.Topic, o.Release.Payload
		problems = append(problems, checkTopic("release", c.release))
		if c.plain != (c.released != "") {
			bad("release: payload is %q and write.format %q; a payload goes with the format number, and only with it", c.released, o.Write.Format)
		}
	}
	if o.Confirm != nil {
		c.confirm, c.confirmWait = o.Confirm.Topic, o.Confirm.Timeout
		problems = append(problems, checkTopic("confirm", c.confirm))
		if c.confirmWait == 0 {
			c.confirmWait = defaultConfirm
		}
		if c.plain {
			bad("confirm: a device that takes numbers alone cannot say which one it took; leave confirm out, the readings tell")
		}
	}
	return errors.Join(problems...)
}
