package mqtt

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/exec/wire"
	"github.com/labtuner/tuner/drivers/mqtt/link"
)

// latest is a channel's newest value.
type latest struct {
	value float64
	at    time.Time
	// order counts the messages of the session that gave a value.
	order uint64
}

// receive takes one message: it remembers what it says, and hands the values in
// it to the sink as one reading. A channel that takes nothing of it says why.
func (d *Device) receive(m link.Arrived) {
	if d.owner.take(m) {
		return
	}
	d.takeStatus(m)
	root, err := parsePayload(m.Payload)
	if !m.Retained {
		d.mu.Lock()
		d.heard = m.At
		d.mu.Unlock()
		d.wake()
	}
	for _, c := range d.byConfirm[m.Topic] {
		if a := ackIn(root); a.session != "" {
			d.takeAck(c, a)
		}
	}
	channels := d.byTopic[m.Topic]
	if len(channels) == 0 {
		return
	}
	r := drivers.Reading{Values: map[string]float64{}, At: m.At}
	for _, c := range channels {
		v, at, err := d.valueIn(c, m, root, err)
		if news := d.noteRefusal(c, err); news != nil {
			if r.Missing == nil {
				r.Missing = map[string]error{}
			}
			r.Missing[c.Name] = news
		}
		if err == nil {
			r.Values[c.Name] = v
			if at.Before(r.At) {
				r.At = at
			}
		}
		if err == nil && !m.Retained {
			d.confirmByReading(c, v, m.At)
		}
		if c.confirm == "" && !m.Retained {
			d.takeAck(c, ackIn(root))
		}
	}
	if len(r.Values) > 0 {
		d.remember(m, r)
	}
	if d.sink != nil && len(r.Values)+len(r.Missing) > 0 {
		d.sink(r)
	}
}

// errRetained is why a value that the broker has kept is not taken.
var errRetained = errors.New("the message is one that the broker has kept (retained), and may be of any age: the value counts with the next message; read.accept_retained takes it where the device says its time")

// valueIn finds the channel's value in a message, and when it was measured; the error says why
// it is not taken.
func (d *Device) valueIn(c *channel, m link.Arrived, root any, jsonErr error) (float64, time.Time, error) {
	if m.Retained && !c.retained {
		return 0, m.At, errRetained
	}
	v, err := c.valueIn(m.Payload, root, jsonErr)
	if err != nil {
		return 0, m.At, err
	}
	at, err := c.takenAt(m, root)
	if err == nil && m.Retained && !at.After(d.newest(c.Name).at) {
		err = errors.New("the message is one that the broker has kept (retained), and was taken before")
	}
	return v, at, err
}

// parsePayload reads a message as JSON; a channel without path does not need it.
func parsePayload(payload []byte) (any, error) {
	if len(payload) > link.MaxPayload {
		return nil, fmt.Errorf("a message is longer than the %d bytes that are read", link.MaxPayload)
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
		if len(payload) > link.MaxPayload {
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
	if isOff, err := c.isOff(payload, root); isOff || err != nil {
		return 0, err
	}
	v, there := c.path.find(root)
	if !there {
		return 0, fmt.Errorf("%s has nothing at the path %q", wire.Quote(payload), c.path)
	}
	return numberOf(v)
}

// isOff reports whether a message says that the device is off. One that says nothing of it is no
// reading: its number may be what the device goes to when it is switched on.
func (c *channel) isOff(payload []byte, root any) (bool, error) {
	if c.off == nil {
		return false, nil
	}
	v, there := c.off.find(root)
	if !there {
		return false, fmt.Errorf("%s has nothing at off.path", wire.Quote(payload))
	}
	return textOf(v) == c.offIs, nil
}

// textOf is a JSON value as text: a string without its quotes.
func textOf(v any) string {
	if text, is := v.(string); is {
		return text
	}
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
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

// refusal is why nothing of a channel's last message was taken.
type refusal struct {
	kind string // what it begins with; another message may say it otherwise
	err  error
}

// kindOf tells reasons apart without what the messages held.
func kindOf(err error) string {
	if errors.Is(err, wire.ErrNotJSON) {
		return "not JSON"
	}
	text := err.Error()
	for _, kind := range []string{"retained", "has nothing at the path", "at time_path", "at off.path", "time", "unit", "is not a", "bytes"} {
		if strings.Contains(text, kind) {
			return kind
		}
	}
	return text
}

// noteRefusal notes why a channel takes nothing of its last message; nil: it was taken. What is
// new is logged, told in the run, once for each kind, and returned.
func (d *Device) noteRefusal(c *channel, err error) error {
	d.mu.Lock()
	before, was := d.refused[c.Name]
	if err == nil {
		delete(d.refused, c.Name)
		d.mu.Unlock()
		if was {
			d.env.Log.Info("readings are good again", slog.String("channel", c.Name))
		}
		return nil
	}
	now := refusal{kind: kindOf(err), err: fmt.Errorf("topic %s: %w", c.read, err)}
	d.refused[c.Name] = now
	d.mu.Unlock()
	if was && before.kind == now.kind {
		return nil
	}
	if !was && errors.Is(err, errRetained) {
		d.env.Log.Debug("a retained message is no reading; waiting for the next one", slog.String("topic", c.read))
	} else if !was {
		d.env.Log.Warn("a message without a number for the channel is no data", slog.String("channel", c.Name), slog.Any("error", now.err))
	}
	if key := c.Name + " " + now.kind; d.notify != nil && !d.refusedOnce[key] && !errors.Is(err, errRetained) { // which is usual where a run begins
		d.refusedOnce[key] = true
		d.notify(fmt.Sprintf("channel %q takes nothing of a message: %v", c.Name, now.err))
	}
	return now.err
}

// remember keeps the newest values and wakes who waits for them. What the broker has kept shows
// nothing of a device that is there, nor of what has been written since.
func (d *Device) remember(m link.Arrived, r drivers.Reading) {
	d.mu.Lock()
	if !m.Retained {
		d.order++
		for topic, s := range d.status {
			s.spoke = s.spoke || s.from == m.From
			d.status[topic] = s
		}
	}
	for name, v := range r.Values {
		now := latest{value: v, at: r.At, order: d.order}
		if m.Retained {
			now.order = d.latest[name].order
		}
		d.latest[name] = now
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
