package mqtt

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/mqtt/link"
)

// MQTT 3.1.1 has no expiry: what a broker or a network holds up arrives, however old it is. So
// of a channel that confirms what it has taken, one setpoint is under way at a time. A device
// that is silent gets no second one; one that is heard after the time for its confirmation is
// there, and has lost the first one, or will not confirm it: it gets the next. Setpoints of a
// template carry nothing that a device could confirm: a reading that gives the value which was
// sent confirms it, and only readings of the channel itself show that the device is there.

// pending is the last message to a channel that confirms, and that it has not confirmed.
type pending struct {
	session string
	seq     int64
	value   float64 // that a reading of a template's channel confirms
	release bool
	// at is when it left, due when its confirmation should have come.
	at, due time.Time
}

// leaves notes that something is sent to a channel: before it is, because its confirmation may
// be quick.
func (d *Device) leaves(s sent) {
	if !s.channel.confirms() {
		return
	}
	now := d.env.Clock.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.underWay[s.channel.Name] = pending{session: d.session, seq: s.seq, value: s.value, release: s.release, at: now, due: now.Add(s.channel.confirmWait)}
}

// holdsBack reports whether a setpoint of c may still be on its way: it was not confirmed, the
// device was not heard since it should have been, and a broker may have it still.
func (d *Device) holdsBack(c *channel) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	u, there := d.underWay[c.Name]
	heard := d.heard
	if c.template != nil {
		heard = d.spoken[c.Name]
	}
	return there && !heard.After(u.due) && d.env.Clock.Now().Sub(u.at) < d.MaxDelay()
}

// awaitEarlier waits until nothing that was sent to the channels of s before is under way, for
// the longest of their timeouts.
func (d *Device) awaitEarlier(ctx context.Context, conn *link.Connection, s drivers.Setpoints) error {
	var limit <-chan time.Time
	var again *time.Ticker
	for {
		held := d.heldBack(s)
		if held == nil {
			return nil
		}
		if limit == nil {
			limit, again = time.After(held.confirmWait), time.NewTicker(askAgain)
			defer again.Stop()
			d.poke()
		}
		select {
		case <-d.changed:
		case <-again.C:
			d.poke()
		case <-conn.Gone:
			return fmt.Errorf("%w: connection lost: %w", drivers.ErrUnavailable, conn.Why())
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", drivers.ErrUnavailable, context.Cause(ctx))
		case <-limit:
			if held = d.heldBack(s); held == nil {
				return nil
			}
			return fmt.Errorf("%w: the setpoint of channel %q before this one is not confirmed on %q, and the device has been silent since: it may still be on its way, so no other follows",
				drivers.ErrUnavailable, held.Name, cmp.Or(held.confirm, held.read))
		}
	}
}

// heldBack is the first channel of s that is held back, nil where none is.
func (d *Device) heldBack(s drivers.Setpoints) *channel {
	for _, c := range d.channels {
		_, set := s.Values[c.Name]
		for _, name := range s.Release {
			set = set || name == c.Name
		}
		if set && d.holdsBack(c) {
			return c
		}
	}
	return nil
}

// askAgain is how often a device that is asked for its readings is asked again while a write
// waits for it.
const askAgain = 500 * time.Millisecond

// confirms reports whether something confirms what was sent to the channel: a topic of its own
// or, of a template, its readings.
func (c *channel) confirms() bool { return c.confirm != "" || c.template != nil }

// confirmByReading takes a live reading of a template's channel in: one that gives what was sent
// confirms it.
func (d *Device) confirmByReading(c *channel, v float64, at time.Time) {
	if c.template == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.spoken[c.Name] = at
	near := c.grid()/2 + c.Tolerance + drivers.Rounding*(math.Abs(v)+math.Abs(c.Offset))
	if u, there := d.underWay[c.Name]; there && !u.release && u.session == d.session && math.Abs(v-u.value) <= near {
		delete(d.underWay, c.Name)
	}
}
