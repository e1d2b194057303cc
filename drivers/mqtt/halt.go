package mqtt

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/mqtt/link"
)

// Halt publishes safe of every channel that declares one, and a release of every
// other channel that has a release topic, then waits for confirmation: a reading
// that came after the safe value was sent and lies within safe_tolerance of it;
// for a release, a reading, or a message on the confirm topic where there is one,
// with the session, the release's seq or a later one, and "released":true.
//
// nil means that every channel that can be set is confirmed. The error names
// those that are not, after ctx or halt_timeout has ended the wait, and those
// for which the file gives nothing to send: over MQTT the device declares no
// safe state of its own. What can be sent is sent in any case, also to a device
// that is away by its status and over a connection that is not trusted. Where there
// is no connection, one is made at once; where one ends, or the broker does not
// answer over it, all is sent again over the next.
func (d *Device) Halt(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, d.options.HaltTimeout)
	defer cancel()
	l, err := d.openLink()
	if err != nil {
		return d.wrap(fmt.Errorf("safe state not confirmed, nothing was sent: %w", err))
	}
	last := errors.New("nothing was sent")
	for {
		conn, err := l.Urgently(ctx, d.options.HaltTimeout)
		if err != nil {
			return d.wrap(fmt.Errorf("safe state not confirmed, %w: %w", last, err))
		}
		err = d.haltOver(ctx, conn)
		if err == nil {
			return nil
		}
		last = err
		if !conn.IsGone() || !link.Sleep(ctx, link.MinBackoff) {
			return d.wrap(fmt.Errorf("safe state not confirmed: %w", err))
		}
	}
}

// haltOver sends what brings every channel to safety over one connection, and waits until
// all is confirmed. The broker's answer to a question shows that the connection is alive;
// where none comes it ends, and with it the wait.
func (d *Device) haltOver(ctx context.Context, conn *link.Connection) error {
	var problems []error
	var waiting []expectation
	for _, c := range d.channels {
		if c.write == "" || c.Dose && c.release == "" { // there is nothing to stop a dose with, and nothing to set
			continue
		}
		if math.IsNaN(c.Safe) && c.release == "" {
			problems = append(problems, fmt.Errorf("channel %q has neither safe nor a release topic in the file; write safe = VALUE in [device.channel.%s]", c.Name, c.Name))
			continue
		}
		e, err := d.sendSafe(ctx, conn, c)
		if err != nil {
			problems = append(problems, fmt.Errorf("channel %q: %w", c.Name, err))
			continue
		}
		waiting = append(waiting, e)
	}
	asking, enough := context.WithCancel(ctx)
	var asked sync.WaitGroup
	asked.Go(func() { _ = conn.AwaitRoundTrip(asking, BrokerWait) }) // confirm says why the connection ended
	err := d.confirm(ctx, conn, waiting)
	enough()
	asked.Wait()
	return errors.Join(append(problems, err)...)
}

// expectation is a safe state that was sent and is to be confirmed.
type expectation struct {
	sent
	after uint64 // the order of the last reading before it was sent
}

// sendSafe publishes a channel's safe value or release.
func (d *Device) sendSafe(ctx context.Context, conn *link.Connection, c *channel) (expectation, error) {
	d.mu.Lock()
	e := expectation{after: d.order}
	d.mu.Unlock()
	value := &c.Safe
	if math.IsNaN(c.Safe) {
		value = nil
	}
	var err error
	e.sent, err = d.send(ctx, conn, c, value, extras{})
	return e, err
}

// confirm waits until every expectation is met.
func (d *Device) confirm(ctx context.Context, conn *link.Connection, waiting []expectation) error {
	for {
		waiting = slices.DeleteFunc(waiting, d.confirmed)
		if len(waiting) == 0 {
			return nil
		}
		var why error
		select {
		case <-d.changed:
			continue
		case <-conn.Gone:
			why = fmt.Errorf("%w: connection lost: %w", drivers.ErrUnavailable, conn.Why())
		case <-ctx.Done():
			why = ctx.Err()
		}
		problems := []error{why}
		for _, e := range waiting {
			problems = append(problems, e.unmet(d.newest(e.channel.Name)))
		}
		return errors.Join(problems...)
	}
}

// newest is the last reading of a channel.
func (d *Device) newest(name string) latest {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.latest[name]
}

// confirmed reports whether the device confirms the expectation. What is plain has no ack:
// a released channel of that kind is confirmed by nothing.
func (d *Device) confirmed(e expectation) bool {
	if e.release {
		a := d.acked(e.channel)
		return a.answers(e.sent, d.session) && a.released && a.refusal == ""
	}
	last := d.newest(e.channel.Name)
	return last.order > e.after &&
		math.Abs(last.value-e.channel.Safe) <= e.channel.Tolerance+drivers.Rounding*(math.Abs(e.channel.Safe)+math.Abs(e.channel.Offset))
}

// unmet says what is missing.
func (e expectation) unmet(last latest) error {
	switch {
	case e.release:
		if e.channel.confirm != "" {
			return fmt.Errorf("channel %q was released, and %q did not confirm it", e.channel.Name, e.channel.confirm)
		}
		return fmt.Errorf("channel %q was released, and no reading on %q echoed it", e.channel.Name, e.channel.read)
	case last.order <= e.after:
		return fmt.Errorf("channel %q was set to its safe value %v, and no reading came on %q since", e.channel.Name, e.channel.Safe, e.channel.read)
	}
	return fmt.Errorf("channel %q was set to its safe value %v and reads %v (safe_tolerance %v)", e.channel.Name, e.channel.Safe, last.value, e.channel.Tolerance)
}
