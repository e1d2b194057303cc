package mqtt

import (
	"context"
	"fmt"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// MQTT 3.1.1 has no expiry: what a broker or a network holds up arrives, however old it is. So
// of a channel that confirms what it has taken, one setpoint is under way at a time. A device
// that is silent gets no second one; one that is heard after the time for its confirmation is
// there, and has lost the first one, or will not confirm it: it gets the next.

// pending is the last message to a channel with a confirm topic that it has not confirmed.
type pending struct {
	session string
	seq     int64
	// at is when it left, due when its confirmation should have come.
	at, due time.Time
}

// leaves notes that something is sent to a channel: before it is, because its confirmation may
// be quick.
func (d *Device) leaves(s sent) {
	if s.channel.confirm == "" {
		return
	}
	now := d.env.Clock.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.underWay[s.channel.Name] = pending{session: d.session, seq: s.seq, at: now, due: now.Add(s.channel.confirmWait)}
}

// holdsBack reports whether a setpoint of c may still be on its way: it was not confirmed, the
// device was not heard since it should have been, and a broker may have it still.
func (d *Device) holdsBack(c *channel) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	u, there := d.underWay[c.Name]
	return there && !d.heard.After(u.due) && d.env.Clock.Now().Sub(u.at) < d.MaxDelay()
}

// awaitEarlier waits until nothing that was sent to the channels of s before is under way, for
// the longest of their timeouts.
func (d *Device) awaitEarlier(ctx context.Context, conn *connection, s drivers.Setpoints) error {
	var limit <-chan time.Time
	for {
		held := d.heldBack(s)
		if held == nil {
			return nil
		}
		if limit == nil {
			limit = time.After(held.confirmWait)
		}
		select {
		case <-d.changed:
		case <-conn.gone:
			return fmt.Errorf("%w: connection lost: %w", drivers.ErrUnavailable, conn.why())
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", drivers.ErrUnavailable, context.Cause(ctx))
		case <-limit:
			if held = d.heldBack(s); held == nil {
				return nil
			}
			return fmt.Errorf("%w: the setpoint of channel %q before this one is not confirmed on %q, and the device has been silent since: it may still be on its way, so no other follows",
				drivers.ErrUnavailable, held.Name, held.confirm)
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
