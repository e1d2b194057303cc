package mqtt

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/exec/wire"
	"github.com/labtuner/tuner/drivers/mqtt/link"
)

// ack is what a device says about the last setpoint or release that it took, or
// refused. It names the session, so even a retained one cannot be taken for the
// answer to another message.
type ack struct {
	session  string
	seq      float64
	released bool
	refusal  string // why it was not taken; empty where it was
	// delivered is how much of a dose was given, where the device has reported it.
	delivered    float64
	hasDelivered bool
}

// ackIn reads the ack of a JSON object; zero where there is none.
func ackIn(root any) ack {
	members, ok := root.(map[string]any)
	if !ok {
		return ack{}
	}
	var a ack
	a.session, _ = members["session"].(string)
	a.seq, _ = members["seq"].(float64)
	a.released, _ = members["released"].(bool)
	a.refusal, _ = members["error"].(string)
	a.delivered, a.hasDelivered = members["delivered"].(float64)
	return a
}

// takeAck remembers the ack of the last message that was sent to c, of the receiving goroutine.
// What else arrives on the topic, another client's ack or one of an earlier message, replaces
// nothing: it may come before whoever waits has looked.
func (d *Device) takeAck(c *channel, a ack) {
	d.mu.Lock()
	if a.session == d.session && a.seq == float64(d.last[c.Name]) {
		d.acks[c.Name] = a
	}
	if u := d.underWay[c.Name]; a.session == u.session && a.seq == float64(u.seq) {
		delete(d.underWay, c.Name)
	}
	d.mu.Unlock()
	d.wake()
}

// acked is the ack of the last message to a channel, or of one before it that was acked.
func (d *Device) acked(c *channel) ack {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.acks[c.Name]
}

// answers reports whether an ack is about s: this very message, for nothing is sent to a channel
// while it is waited for, and a higher number than any that was sent confirms nothing.
func (a ack) answers(s sent, session string) bool {
	return a.session == session && a.seq == float64(s.seq)
}

// awaitAcks waits until every channel that has a confirm topic has confirmed what
// was sent to it, for the longest of their timeouts.
func (d *Device) awaitAcks(ctx context.Context, conn *link.Connection, all []sent) error {
	waiting := all[:0:0]
	longest := time.Duration(0)
	for _, s := range all {
		if s.channel.confirm != "" {
			waiting = append(waiting, s)
			longest = max(longest, s.channel.confirmWait)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	var refusals []error
	for {
		still := waiting[:0]
		for _, s := range waiting {
			switch a := d.acked(s.channel); {
			case !a.answers(s, d.session):
				still = append(still, s)
			case a.refusal != "":
				refusals = append(refusals, fmt.Errorf("%w: channel %q: %s", drivers.ErrRefused, s.channel.Name, wire.Quote([]byte(a.refusal))))
			case a.released != s.release:
				refusals = append(refusals, fmt.Errorf("%w: channel %q confirms %q with released = %v", drivers.ErrProtocol, s.channel.Name, s.what(), a.released))
			}
		}
		if waiting = still; len(waiting) == 0 {
			return errors.Join(refusals...)
		}
		select {
		case <-d.changed:
		case <-conn.Gone:
			return errors.Join(append(refusals, unconfirmed(waiting, fmt.Errorf("connection lost: %w", conn.Why())))...)
		case <-ctx.Done():
			return errors.Join(append(refusals, unconfirmed(waiting, fmt.Errorf("after %v: %w", longest, ctx.Err())))...)
		}
	}
}

// what says in words what was sent.
func (s sent) what() string {
	if s.release {
		return "release"
	}
	return "setpoint"
}

// unconfirmed names what was sent and not confirmed.
func unconfirmed(waiting []sent, why error) error {
	problems := []error{fmt.Errorf("%w: not confirmed: %w", drivers.ErrUnavailable, why)}
	for _, s := range waiting {
		// Without seq: a receiver that reports the same trouble once must see that it is the same.
		problems = append(problems, fmt.Errorf("the %s of channel %q was sent, and %q does not say that it was taken", s.what(), s.channel.Name, s.channel.confirm))
	}
	return errors.Join(problems...)
}
