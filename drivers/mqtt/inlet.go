package mqtt

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// pastSessions is how many ended sessions a channel remembers, to ignore what
// still comes from them.
const pastSessions = 16

// inlet is what a served channel knows of its setpoints.
type inlet struct {
	channel *channel

	session string // of the last one accepted; empty before the first
	seq     int64
	past    []string // sessions that others have followed, the newest last

	// taken is the last one that the device took; its Session is empty before
	// the first.
	taken setpoint
}

// accept reads a setpoint or release and says whether it is to be written; now
// is the time by the clock that stamped m.
func (in *inlet) accept(m message, now time.Time) (setpoint, error) {
	if m.retained {
		return setpoint{}, errors.New("it is retained: it may have been sent at any time")
	}
	if len(m.payload) > maxPayload {
		return setpoint{}, fmt.Errorf("it has %d bytes, more than the %d that are read", len(m.payload), maxPayload)
	}
	s, err := parseSetpoint(m.payload, m.topic == in.channel.release)
	if err != nil {
		return setpoint{}, err
	}
	waited, ttl := now.Sub(m.at), time.Duration(s.TTLMS)*time.Millisecond
	switch {
	case waited > ttl:
		return setpoint{}, fmt.Errorf("it waited %v here, longer than its ttl of %v", waited, ttl)
	case slices.Contains(in.past, s.Session):
		return setpoint{}, fmt.Errorf("its session %q has been followed by another", s.Session)
	case s.Session == in.session && s.Seq <= in.seq:
		return setpoint{}, fmt.Errorf("its seq %d is not above %d, the last of its session", s.Seq, in.seq)
	}
	if in.session != "" && s.Session != in.session {
		in.past = append(in.past, in.session)
		in.past = in.past[max(0, len(in.past)-pastSessions):]
	}
	in.session, in.seq = s.Session, s.Seq
	return s, nil
}

// took remembers what the device took, for the echo.
func (in *inlet) took(s setpoint) { in.taken = s }

// checkPaths checks that the paths of one read topic can stand in one message.
func checkPaths(channels []*channel) error {
	var problems []error
	for i, a := range channels {
		for _, b := range channels[i+1:] {
			short := min(len(a.path), len(b.path))
			if a.read == b.read && slices.Equal(a.path[:short], b.path[:short]) {
				problems = append(problems, fmt.Errorf("channels %q and %q cannot both be served on topic %q: one path lies within the other", a.name, b.name, a.read))
			}
		}
	}
	return errors.Join(problems...)
}

// echoKeys are the keys of the echo in a reading.
var echoKeys = [...]string{"session", "seq", "released"}

// compose makes the message of one read topic from the channels' new values;
// nil where there are none. inlets are by write topic.
func compose(channels []*channel, values map[string]float64, inlets map[string]*inlet) ([]byte, error) {
	var root any
	some := false
	for _, c := range channels {
		if v, there := values[c.name]; there {
			root = c.path.put(root, v)
			some = true
		}
	}
	if !some {
		return nil, nil
	}
	if members, ok := root.(map[string]any); ok {
		if in := echoing(channels, inlets); in != nil && in.taken.Session != "" {
			members["session"], members["seq"], members["released"] = in.taken.Session, in.taken.Seq, in.taken.Release
		}
	}
	payload, err := json.Marshal(root)
	if err != nil {
		return nil, fmt.Errorf("reading for topic %q: %w", channels[0].read, err)
	}
	return payload, nil
}

// echoing gives the inlet that a topic's readings echo: that of its only channel
// that can be set, if no path needs the echo's keys.
func echoing(channels []*channel, inlets map[string]*inlet) *inlet {
	var only *inlet
	for _, c := range channels {
		if len(c.path) > 0 && slices.Contains(echoKeys[:], c.path[0].key) {
			return nil
		}
		if in := inlets[c.write]; c.write != "" && in != nil {
			if only != nil {
				return nil
			}
			only = in
		}
	}
	return only
}
