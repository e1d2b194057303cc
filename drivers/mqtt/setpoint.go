package mqtt

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/labtuner/tuner/drivers/exec/wire"
)

// setpoint is the message on a write or release topic.
type setpoint struct {
	Value   *float64 `json:"value,omitempty"`
	Release bool     `json:"release,omitempty"`
	Seq     int64    `json:"seq"`
	TTLMS   int64    `json:"ttl_ms"`
	Session string   `json:"session"`
}

// send publishes a value, or a release where it is nil.
func (d *Device) send(ctx context.Context, conn *connection, c *channel, value *float64) error {
	d.seq++
	s := setpoint{Value: value, Release: value == nil, Seq: d.seq, TTLMS: c.ttl.Milliseconds(), Session: d.session}
	payload, err := json.Marshal(s)
	if err != nil {
		return err
	}
	topic := c.write
	if s.Release {
		topic = c.release
	}
	return conn.publish(ctx, topic, payload)
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
	return s, nil
}
