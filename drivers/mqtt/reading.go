package mqtt

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/exec/wire"
)

// maxPayload bounds a message that is read, in bytes.
const maxPayload = 64 << 10

// latest is a channel's newest value.
type latest struct {
	value float64
	at    time.Time
	// order counts the messages of the session that gave a value.
	order uint64
}

// echo is what a device says about the last setpoint or release it took.
type echo struct {
	session  string
	seq      float64
	released bool
}

// receive takes one message from a read topic: it remembers the values and
// hands them to the sink as one reading.
func (d *Device) receive(m message) {
	if m.retained {
		d.env.Log.Debug("a retained message is no reading; waiting for the next one", slog.String("topic", m.topic))
		return
	}
	values := map[string]float64{}
	root, err := parsePayload(m.payload)
	for _, c := range d.byTopic[m.topic] {
		v, err := c.valueIn(m.payload, root, err)
		d.complain(c, err)
		if err == nil {
			values[c.name] = v
		}
	}
	if len(values) == 0 {
		return
	}
	d.remember(m, values, echoIn(root))
	if d.sink != nil {
		d.sink(drivers.Reading{Values: values, At: m.at})
	}
}

// parsePayload reads a message as JSON; a channel without path does not need it.
func parsePayload(payload []byte) (any, error) {
	if len(payload) > maxPayload {
		return nil, fmt.Errorf("a message of %d bytes is longer than the %d that are read", len(payload), maxPayload)
	}
	return wire.Value(payload)
}

// valueIn finds the channel's number in a message. root and jsonErr are what
// parsePayload said of it.
func (c *channel) valueIn(payload []byte, root any, jsonErr error) (float64, error) {
	if len(c.path) == 0 {
		if len(payload) > maxPayload {
			return 0, jsonErr
		}
		if text, isText := root.(string); isText {
			return wire.Number(text)
		}
		return wire.Number(string(payload))
	}
	if jsonErr != nil {
		return 0, jsonErr
	}
	v, there := c.path.find(root)
	if !there {
		return 0, fmt.Errorf("%s has nothing at the path", wire.Quote(payload))
	}
	return numberOf(v)
}

// complain logs the first of a channel's bad messages, and its recovery.
func (d *Device) complain(c *channel, err error) {
	switch was := d.bad[c.name]; {
	case err != nil && !was:
		d.env.Log.Warn("a message without a number for the channel is no data", slog.String("channel", c.name), slog.String("topic", c.read), slog.Any("error", err))
	case err == nil && was:
		d.env.Log.Info("readings are good again", slog.String("channel", c.name))
	}
	d.bad[c.name] = err != nil
}

// echoIn reads the echo of a JSON object; zero where there is none.
func echoIn(root any) echo {
	members, ok := root.(map[string]any)
	if !ok {
		return echo{}
	}
	var e echo
	e.session, _ = members["session"].(string)
	e.seq, _ = members["seq"].(float64)
	e.released, _ = members["released"].(bool)
	return e
}

// remember keeps the newest values and wakes a waiting Halt.
func (d *Device) remember(m message, values map[string]float64, e echo) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.order++
	for name, v := range values {
		d.latest[name] = latest{value: v, at: m.at, order: d.order}
		d.echoes[name] = e
	}
	select {
	case d.news <- struct{}{}:
	default:
	}
}
