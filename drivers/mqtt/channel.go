package mqtt

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/labtuner/tuner/drivers"
)

// maxTopic bounds a topic, in bytes; the protocol's own bound is 65535.
const maxTopic = 1024

// channel is one channel of the file, checked.
type channel struct {
	name    string
	read    string // topics; empty where there is none
	path    path
	write   string
	ttl     time.Duration
	release string

	safe      float64 // NaN where the file has none
	tolerance float64
}

// declared is what Open says about the channel. Over MQTT a device declares
// neither unit nor limits: Unit is empty, the limits are NaN.
func (c *channel) declared() drivers.Channel {
	d := drivers.Channel{Name: c.name, Min: math.NaN(), Max: math.NaN(), Safe: c.safe}
	if c.write != "" {
		d.Access = drivers.ReadWrite
		d.CanRelease = c.release != ""
	}
	return d
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
			problems = append(problems, fmt.Errorf("channel %q: %w", o.Channel, err))
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

// parseChannel checks one channel.
func parseChannel(o ChannelOptions) (*channel, error) {
	c := &channel{name: o.Channel, safe: math.NaN(), tolerance: o.SafeTolerance}
	if o.Channel == "" {
		return nil, errors.New("has no name")
	}
	if o.Read == nil {
		return nil, errors.New(`has no read; write read = { topic = "..." }, since only a reading tells what was achieved`)
	}
	var err error
	c.read = o.Read.Topic
	if c.path, err = parsePath(o.Read.Path); err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	if o.Write != nil {
		c.write, c.ttl = o.Write.Topic, o.Write.TTL
		if c.ttl == 0 {
			c.ttl = defaultTTL
		}
		if c.ttl < time.Millisecond {
			return nil, fmt.Errorf("write: ttl is %v and must be at least 1ms", c.ttl)
		}
		err = errors.Join(err, checkTopic("write", c.write))
	}
	if o.Release != nil {
		c.release = o.Release.Topic
		if o.Write == nil {
			return nil, errors.New("has a release topic but no write topic; nothing that is not set can be released")
		}
		err = errors.Join(err, checkTopic("release", c.release))
	}
	if o.Safe != nil {
		c.safe = *o.Safe
		switch {
		case o.Write == nil:
			return nil, fmt.Errorf("has safe = %v but no write topic to send it to", c.safe)
		case math.IsNaN(c.safe) || math.IsInf(c.safe, 0):
			return nil, fmt.Errorf("safe is %v and must be finite", c.safe)
		}
	}
	if c.tolerance < 0 || math.IsNaN(c.tolerance) || math.IsInf(c.tolerance, 0) {
		return nil, fmt.Errorf("safe_tolerance is %v and must be finite and not negative", c.tolerance)
	}
	return c, errors.Join(err, checkTopic("read", c.read))
}

// checkTopic checks one topic's own form.
func checkTopic(key, topic string) error {
	switch {
	case topic == "":
		return fmt.Errorf("%s: topic is empty", key)
	case strings.ContainsAny(topic, "+#\x00"):
		return fmt.Errorf("%s: topic %q has a wildcard or a null; name one topic", key, topic)
	case len(topic) > maxTopic || !utf8.ValidString(topic):
		return fmt.Errorf("%s: topic %.40q... must be UTF-8 of at most %d bytes", key, topic, maxTopic)
	}
	return nil
}

// checkTopics checks that no topic has two meanings. Readings may share one:
// then a message carries several channels of one instant.
func checkTopics(channels []*channel) error {
	owner := map[string]string{} // by the topics of setpoints and releases
	var problems []error
	for _, c := range channels {
		for _, topic := range []string{c.write, c.release} {
			if topic == "" {
				continue
			}
			if other, taken := owner[topic]; taken {
				problems = append(problems, fmt.Errorf("topic %q carries setpoints or releases of both %q and %q; give each its own", topic, other, c.name))
			}
			owner[topic] = c.name
		}
	}
	for _, c := range channels {
		if other, taken := owner[c.read]; taken {
			problems = append(problems, fmt.Errorf("channel %q reads from topic %q, where setpoints or releases of %q go; its own setpoint would count as a reading", c.name, c.read, other))
		}
	}
	return errors.Join(problems...)
}
