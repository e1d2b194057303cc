package mqtt

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/labtuner/tuner/drivers"
)

// Halt publishes safe of every channel that declares one, and a release of every
// other channel that has a release topic, then waits for confirmation: a reading
// that came after the safe value was sent and lies within safe_tolerance of it;
// for a release, a reading that echoes the session, the release's seq or a later
// one, and "released":true.
//
// nil means that every channel that can be set is confirmed. The error names
// those that are not, after ctx or halt_timeout has ended the wait, and those
// for which the file gives nothing to send: over MQTT the device declares no
// safe state of its own. What can be sent is sent in any case.
func (d *Device) Halt(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, d.options.HaltTimeout)
	defer cancel()
	conn, err := d.connection()
	if err != nil {
		return d.wrap(fmt.Errorf("safe state not confirmed, nothing was sent: %w", err))
	}
	var problems []error
	var waiting []expectation
	for _, c := range d.channels {
		if c.write == "" {
			continue
		}
		if math.IsNaN(c.safe) && c.release == "" {
			problems = append(problems, fmt.Errorf("channel %q has neither safe nor a release topic in the file; write safe = VALUE in [device.channel.%s]", c.name, c.name))
			continue
		}
		e, err := d.sendSafe(ctx, conn, c)
		if err != nil {
			problems = append(problems, fmt.Errorf("channel %q: %w", c.name, err))
			continue
		}
		waiting = append(waiting, e)
	}
	if err := errors.Join(append(problems, d.confirm(ctx, conn, waiting))...); err != nil {
		return d.wrap(fmt.Errorf("safe state not confirmed: %w", err))
	}
	return nil
}

// expectation is a safe state that was sent and is to be confirmed.
type expectation struct {
	channel *channel
	release bool
	seq     int64  // of the message sent
	after   uint64 // the order of the last reading before it was sent
}

// sendSafe publishes a channel's safe value or release.
func (d *Device) sendSafe(ctx context.Context, conn *connection, c *channel) (expectation, error) {
	d.mu.Lock()
	e := expectation{channel: c, release: math.IsNaN(c.safe), after: d.order}
	d.mu.Unlock()
	var value *float64
	if !e.release {
		value = &c.safe
	}
	err := d.send(ctx, conn, c, value)
	e.seq = d.seq
	return e, err
}

// confirm waits until every expectation is met.
func (d *Device) confirm(ctx context.Context, conn *connection, waiting []expectation) error {
	for {
		waiting = slices.DeleteFunc(waiting, d.met)
		if len(waiting) == 0 {
			return nil
		}
		var why error
		select {
		case <-d.news:
			continue
		case <-conn.gone:
			why = fmt.Errorf("%w: connection lost: %w", drivers.ErrUnavailable, conn.why())
		case <-ctx.Done():
			why = ctx.Err()
		}
		problems := []error{why}
		for _, e := range waiting {
			problems = append(problems, e.unmet(d.newest(e.channel.name)))
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

// met says whether a reading confirms the expectation.
func (d *Device) met(e expectation) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	last := d.latest[e.channel.name]
	if last.order <= e.after {
		return false
	}
	if e.release {
		said := d.echoes[e.channel.name]
		return said.session == d.session && said.seq >= float64(e.seq) && said.released
	}
	return math.Abs(last.value-e.channel.safe) <= e.channel.tolerance+roundOff*math.Abs(e.channel.safe)
}

// roundOff is the relative error that a number may take from being printed with
// single precision.
const roundOff = 1e-6

// unmet says what is missing.
func (e expectation) unmet(last latest) error {
	switch {
	case e.release:
		return fmt.Errorf("channel %q was released, and no reading on %q echoed it", e.channel.name, e.channel.read)
	case last.order <= e.after:
		return fmt.Errorf("channel %q was set to its safe value %v, and no reading came on %q since", e.channel.name, e.channel.safe, e.channel.read)
	}
	return fmt.Errorf("channel %q was set to its safe value %v and reads %v (safe_tolerance %v)", e.channel.name, e.channel.safe, last.value, e.channel.tolerance)
}
