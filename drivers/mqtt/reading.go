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

// receive takes one message: it remembers what it says, and hands the values in
// it to the sink as one reading.
func (d *Device) receive(m message) {
	if d.owner.take(m) {
		return
	}
	if d.options.Status != nil && m.topic == d.options.Status.Topic {
		d.takeStatus(m)
	}
	root, err := parsePayload(m.payload)
	if !m.retained {
		d.mu.Lock()
		d.heard = m.at
		d.mu.Unlock()
		d.wake()
	}
	for _, c := range d.byConfirm[m.topic] {
		if a := ackIn(root); a.session != "" {
			d.takeAck(c, a)
		}
	}
	channels := d.byTopic[m.topic]
	if len(channels) == 0 {
		return
	}
	if m.retained {
		d.env.Log.Debug("a retained message is no reading; waiting for the next one", slog.String("topic", m.topic))
		return
	}
	values := map[string]float64{}
	for _, c := range channels {
		v, err := c.valueIn(m.payload, root, err)
		d.logInvalid(c, err)
		if err == nil {
			values[c.Name] = v
		}
		if c.confirm == "" {
			d.takeAck(c, ackIn(root))
		}
	}
	if len(values) == 0 {
		return
	}
	d.remember(m, values)
	if d.sink != nil {
		d.sink(drivers.Reading{Values: values, At: m.at})
	}
}

// parsePayload reads a message as JSON; a channel without path does not need it.
func parsePayload(payload []byte) (any, error) {
	if len(payload) > maxPayload {
		return nil, fmt.Errorf("a message is longer than the %d bytes that are read", maxPayload)
	}
	return wire.Value(payload)
}

// valueIn finds the channel's value in a message. root and jsonErr are what
// parsePayload said of it.
func (c *channel) valueIn(payload []byte, root any, jsonErr error) (float64, error) {
	raw, err := c.numberIn(payload, root, jsonErr)
	if err == nil && len(c.unitPath) > 0 {
		err = c.checkUnit(payload, root, jsonErr)
	}
	if err != nil {
		return 0, err
	}
	return c.FromRaw(raw)
}

// numberIn finds the number as the message has it.
func (c *channel) numberIn(payload []byte, root any, jsonErr error) (float64, error) {
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

// checkUnit compares the unit in the message with the channel's: an instrument
// whose display was switched over speaks of something else.
func (c *channel) checkUnit(payload []byte, root any, jsonErr error) error {
	if jsonErr != nil {
		return jsonErr
	}
	v, _ := c.unitPath.find(root)
	if text, isText := v.(string); !isText || text != c.Unit {
		return fmt.Errorf("%s does not have the unit %q at unit_path", wire.Quote(payload), c.Unit)
	}
	return nil
}

// logInvalid logs the first of a channel's bad messages, and its recovery.
func (d *Device) logInvalid(c *channel, err error) {
	switch was := d.bad[c.Name]; {
	case err != nil && !was:
		d.env.Log.Warn("a message without a number for the channel is no data", slog.String("channel", c.Name), slog.String("topic", c.read), slog.Any("error", err))
	case err == nil && was:
		d.env.Log.Info("readings are good again", slog.String("channel", c.Name))
	}
	d.bad[c.Name] = err != nil
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil {
		delete(d.why, c.Name)
		return
	}
	if d.why == nil {
		d.why = map[string]error{}
	}
	d.why[c.Name] = fmt.Errorf("topic %s: %w", c.read, err)
}

// remember keeps the newest values and wakes who waits for them.
func (d *Device) remember(m message, values map[string]float64) {
	d.mu.Lock()
	d.order++
	d.status.spoke = d.status.spoke || d.status.from == m.from
	for name, v := range values {
		d.latest[name] = latest{value: v, at: m.at, order: d.order}
	}
	d.mu.Unlock()
	d.wake()
}

// wake wakes the caller's goroutine where it waits for news.
func (d *Device) wake() {
	select {
	case d.changed <- struct{}{}:
	default:
	}
}
