package opcua

import (
	"errors"
	"fmt"
	"math"
	"regexp"

	"github.com/gopcua/opcua/ua"

	"github.com/labtuner/tuner/drivers"
)

// channel is one channel of the file, checked. What the server says of its nodes is laid over
// Scaled when the device is opened, see Device.describe.
type channel struct {
	drivers.Scaled

	read  *ua.NodeID
	stamp string
	take  bool // values of uncertain quality are data

	write, lease, release *ua.NodeID // nil where there is none
	released              float64
	hold                  *float64
}

// nodeForm is how a node id is written (OPC UA, part 6, 5.3.1.10).
var nodeForm = regexp.MustCompile(`^(ns=\d+;)?[isgb]=.`)

// parseChannels checks the file's channels and gives every problem at once.
func parseChannels(options []ChannelOptions) ([]*channel, error) {
	var channels []*channel
	var problems []error
	names, writes := map[string]bool{}, map[string]string{}
	for _, o := range options {
		c, err := parseChannel(o)
		switch {
		case err != nil:
		case names[o.Channel]:
			err = errors.New("is listed twice")
		case c.write != nil && writes[c.write.String()] != "":
			err = fmt.Errorf("writes to %v, as channel %q does; two channels would set one actuator", c.write, writes[c.write.String()])
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("channel %q: %w", o.Channel, err))
			continue
		}
		names[o.Channel] = true
		if c.write != nil {
			writes[c.write.String()] = o.Channel
		}
		channels = append(channels, c)
	}
	if len(options) == 0 {
		problems = append(problems, errors.New(`there is no channel; write [device.channel.NAME] with read = { node = "ns=2;s=..." }`))
	}
	return channels, errors.Join(problems...)
}

// parseChannel checks one channel.
func parseChannel(o ChannelOptions) (*channel, error) {
	switch {
	case o.Channel == "":
		return nil, errors.New("has no name")
	case o.Read == nil:
		return nil, errors.New(`has no read; write read = { node = "ns=2;s=..." }, since only a reading tells what was achieved`)
	case o.Write == nil && o.Release != nil:
		return nil, errors.New("has release but no write; nothing that is not set can be released")
	case o.Write == nil && o.Safe != nil:
		return nil, fmt.Errorf("has safe = %v but no write to send it to", *o.Safe)
	}
	nan := math.NaN()
	c := &channel{Scaled: drivers.Scaled{Scale: 1, Channel: drivers.Channel{Name: o.Channel, Unit: o.Unit, Min: nan, Max: nan, Safe: nan}},
		stamp: o.Read.Stamp, take: o.Read.Uncertain == uncertainTake}
	if c.stamp == "" {
		c.stamp = stampSource
		if o.Write != nil {
			c.stamp = stampRead
		}
	}
	var problems []error
	node := func(key, text string) *ua.NodeID {
		id, err := ua.ParseNodeID(text)
		if err != nil || !nodeForm.MatchString(text) { // the library takes any text for a name of namespace 0
			problems = append(problems, fmt.Errorf("%s is %q and no node id; write it as in ns=2;s=Laser.Energy or ns=2;i=1001", key, text))
			return nil
		}
		return id
	}
	c.read = node("read.node", o.Read.Node)
	if o.Write != nil {
		c.Access, c.write = drivers.ReadWrite, c.read
		if o.Write.Node != "" {
			c.write = node("write.node", o.Write.Node)
		}
		if o.Write.Lease != "" {
			c.lease, c.Lasts = node("write.lease", o.Write.Lease), true
		}
	}
	if o.Release != nil {
		c.CanRelease, c.release, c.released, c.hold = true, node("release.node", o.Release.Node), o.Release.Value, o.Release.Hold
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return c, o.Apply(&c.Scaled)
}
