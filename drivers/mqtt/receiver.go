package mqtt

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/labtuner/tuner/drivers/exec/wire"
	"github.com/labtuner/tuner/drivers/mqtt/link"
)

// pastSessions is how many ended sessions a channel remembers, to ignore what
// still comes from them.
const pastSessions = 16

// receiver is what a served channel knows of its setpoints.
type receiver struct {
	channel *channel

	session string // of the last one accepted; empty before the first
	seq     int64
	past    []string      // sessions that others have followed, the newest last
	delay   delayEstimate // of the session's messages

	// echo is the last one that the device took; its Session is empty before
	// the first.
	echo setpoint
}

// accept reads a setpoint or release and reports whether it is to be written; now
// is the time by the clock that stamped m.
func (in *receiver) accept(m link.Arrived, now time.Time) (setpoint, error) {
	if m.Retained {
		return setpoint{}, errors.New("it is retained: it may have been sent at any time")
	}
	if len(m.Payload) > link.MaxPayload {
		return setpoint{}, fmt.Errorf("it has %d bytes, more than the %d that are read", len(m.Payload), link.MaxPayload)
	}
	if in.channel.plain {
		return in.parsePlain(m)
	}
	s, err := parseSetpoint(m.Payload, m.Topic == in.channel.release)
	if err != nil {
		return setpoint{}, err
	}
	waited, ttl := now.Sub(m.At), time.Duration(s.TTLMS)*time.Millisecond
	switch {
	case waited > ttl:
		return setpoint{}, fmt.Errorf("it waited %v here, longer than its ttl of %v", waited, ttl)
	case slices.Contains(in.past, s.Session):
		return setpoint{}, fmt.Errorf("its session %q has been followed by another", s.Session)
	case s.Session == in.session && s.Seq <= in.seq:
		return setpoint{}, fmt.Errorf("its seq %d is not above %d, the last of its session", s.Seq, in.seq)
	}
	if s.Session != in.session {
		in.delay = delayEstimate{}
	}
	if late := in.delay.excess(m.At, s.SentMS) + waited; late > ttl {
		return setpoint{}, fmt.Errorf("it was %v on its way, longer than its ttl of %v", late, ttl)
	}
	if in.session != "" && s.Session != in.session {
		in.past = append(in.past, in.session)
		in.past = in.past[max(0, len(in.past)-pastSessions):]
	}
	in.session, in.seq = s.Session, s.Seq
	return s, nil
}

// parsePlain reads a setpoint that is a number alone, or the text of a release. Its age
// and order are unknown.
func (in *receiver) parsePlain(m link.Arrived) (setpoint, error) {
	if m.Topic == in.channel.release && string(m.Payload) == in.channel.released {
		return setpoint{Release: true}, nil
	}
	if m.Topic != in.channel.write {
		return setpoint{}, fmt.Errorf("%s is not the release %q", wire.Quote(m.Payload), in.channel.released)
	}
	parse := wire.Number
	if t := in.channel.template; t != nil {
		parse = t.parse
	}
	v, err := parse(string(m.Payload))
	return setpoint{Value: &v}, err
}

// setEcho remembers what the device took, for the echo.
func (in *receiver) setEcho(s setpoint) { in.echo = s }

// checkPaths checks that the paths of one read topic fit in one message.
func checkPaths(channels []*channel) error {
	var problems []error
	for i, a := range channels {
		if within(a.path, a.unitPath) && a.unitPath != nil {
			problems = append(problems, fmt.Errorf("channel %q cannot be served on topic %q: path and unit_path lie within each other", a.Name, a.read))
		}
		for _, b := range channels[i+1:] {
			if a.read != "" && a.read == b.read && within(a.path, b.path) {
				problems = append(problems, fmt.Errorf("channels %q and %q cannot both be served on topic %q: one path lies within the other", a.Name, b.Name, a.read))
			}
		}
	}
	return errors.Join(problems...)
}

// within reports whether one path lies within the other.
func within(a, b path) bool {
	short := min(len(a), len(b))
	return slices.Equal(a[:short], b[:short])
}

// echoKeys are the keys of the echo in a reading.
var echoKeys = [...]string{"session", "seq", "released"}

// compose makes the message of one read topic from the channels' new values;
// nil where there are none. receivers are by channel.
func compose(channels []*channel, values map[string]float64, receivers map[string]*receiver, now time.Time) ([]byte, error) {
	var root any
	some := false
	for _, c := range channels {
		v, there := values[c.Name]
		if !there {
			continue
		}
		root, some = c.path.put(root, c.ToRaw(v)), true
		if len(c.unitPath) > 0 {
			root = c.unitPath.put(root, c.Unit)
		}
		if c.off != nil {
			root = c.off.put(root, c.state(c.ToRaw(v)))
		}
		if c.timePath != nil {
			root = c.timePath.put(root, now.UTC().Format(time.RFC3339Nano))
		}
	}
	if !some {
		return nil, nil
	}
	if members, ok := root.(map[string]any); ok {
		if in := echoing(channels, receivers); in != nil && in.echo.Session != "" {
			members["session"], members["seq"], members["released"] = in.echo.Session, in.echo.Seq, in.echo.Release
		}
	}
	payload, err := json.Marshal(root)
	if err != nil {
		return nil, fmt.Errorf("reading for topic %q: %w", channels[0].read, err)
	}
	return payload, nil
}

// state is what stands where a message says whether the device is off, for a number of its.
func (c *channel) state(raw float64) any {
	switch off := raw == 0; {
	case c.offIs == "false" || c.offIs == "true":
		return off == (c.offIs == "true")
	case off:
		return c.offIs
	}
	return "ON"
}

// echoing gives the receiver that a topic's readings echo: that of its only channel
// that can be set, if no path needs the echo's keys.
func echoing(channels []*channel, receivers map[string]*receiver) *receiver {
	var only *receiver
	for _, c := range channels {
		if len(c.path) > 0 && slices.Contains(echoKeys[:], c.path[0].key) {
			return nil
		}
		if in := receivers[c.Name]; in != nil {
			if only != nil {
				return nil
			}
			only = in
		}
	}
	return only
}
