package mqtt

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/labtuner/tuner/drivers/exec/wire"
	"github.com/labtuner/tuner/drivers/mqtt/link"
)

// setpoint is the message on a write or release topic.
type setpoint struct {
	Value   *float64 `json:"value,omitempty"`
	Release bool     `json:"release,omitempty"`
	Seq     int64    `json:"seq"`
	TTLMS   int64    `json:"ttl_ms"`
	// ForMS is how long the value holds, in milliseconds, unless another comes; absent:
	// until another comes.
	ForMS   int64  `json:"for_ms,omitempty"`
	Session string `json:"session"`
	// SentMS is when it was sent, in milliseconds since its session began; absent
	// where the sender does not say.
	SentMS *int64 `json:"sent_ms,omitempty"`
	// Dose names the dose that this is; empty for a setpoint.
	Dose string `json:"dose,omitempty"`
}

// sent is a setpoint or release that left.
type sent struct {
	channel *channel
	release bool
	seq     int64
	value   float64 // that the device was told; 0 of a release
}

// extras are what goes with a value: how long it holds (0: until another comes), and the
// name of the dose that it is.
type extras struct {
	lasts time.Duration
	dose  string
}

// send publishes a value of the channel, or a release where it is nil.
func (d *Device) send(ctx context.Context, conn *link.Connection, c *channel, value *float64, with extras) (sent, error) {
	d.seq++
	done := sent{channel: c, release: value == nil, seq: d.seq}
	if value != nil {
		done.value = c.told(*value)
	}
	topic, payload, err := d.compose(c, value, with)
	if err != nil {
		return done, err
	}
	d.mu.Lock()
	d.last[c.Name] = done.seq
	d.mu.Unlock()
	if with.dose == "" {
		d.leaves(done)
	}
	return done, conn.Publish(ctx, topic, payload)
}

// compose makes the message of a setpoint or release.
func (d *Device) compose(c *channel, value *float64, with extras) (topic string, payload []byte, err error) {
	if value == nil {
		topic, payload = c.release, []byte(c.released)
	} else {
		raw := c.ToRaw(*value)
		value = &raw
		topic, payload = c.write, strconv.AppendFloat(nil, raw, 'g', -1, 64)
		if c.template != nil {
			payload = []byte(c.template.render(raw))
		}
	}
	if c.plain {
		return topic, payload, nil
	}
	sent := d.env.Clock.Now().Sub(d.sessionStart).Milliseconds()
	payload, err = json.Marshal(setpoint{Value: value, Release: value == nil, Seq: d.seq, TTLMS: c.ttl.Milliseconds(), ForMS: with.lasts.Milliseconds(),
		Session: d.session, SentMS: &sent, Dose: with.dose})
	return topic, payload, err
}

// maxSeq is the largest whole number that JSON carries exactly.
const maxSeq = 1 << 53

// parseSetpoint reads a message on a write topic, or on a release topic.
func parseSetpoint(payload []byte, release bool) (setpoint, error) {
	object, err := wire.Object(payload)
	if err != nil {
		return setpoint{}, err
	}
	whole := func(key string, least float64) (int64, error) {
		v, ok := object[key].(float64)
		if !ok || v < least || v > maxSeq || v != float64(int64(v)) {
			return 0, fmt.Errorf("%s: %q must be a whole number from %v", wire.Quote(payload), key, least)
		}
		return int64(v), nil
	}
	s := setpoint{}
	if s.Seq, err = whole("seq", 1); err != nil {
		return setpoint{}, err
	}
	if s.TTLMS, err = whole("ttl_ms", 1); err != nil {
		return setpoint{}, err
	}
	if _, there := object["sent_ms"]; there {
		sent, err := whole("sent_ms", 0)
		if err != nil {
			return setpoint{}, err
		}
		s.SentMS = &sent
	}
	if _, there := object["for_ms"]; there {
		if s.ForMS, err = whole("for_ms", 1); err != nil {
			return setpoint{}, err
		}
	}
	var ok bool
	if s.Session, ok = object["session"].(string); !ok || s.Session == "" || len(s.Session) > 64 {
		return setpoint{}, fmt.Errorf(`%s: "session" must be text of 1 to 64 bytes`, wire.Quote(payload))
	}
	if release {
		if object["release"] != true {
			return setpoint{}, fmt.Errorf(`%s: "release" must be true`, wire.Quote(payload))
		}
		s.Release = true
		return s, nil
	}
	value, ok := object["value"].(float64)
	if !ok {
		return setpoint{}, fmt.Errorf(`%s: "value" must be a number`, wire.Quote(payload))
	}
	s.Value = &value
	s.Dose, _ = object["dose"].(string)
	return s, nil
}
