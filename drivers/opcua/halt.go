package opcua

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// confirmEvery is how often a halt asks whether its safe values are there.
const confirmEvery = 100 * time.Millisecond

// Halt writes safe of every channel that declares one, and lets go of every other channel that
// can be released, then asks for the readings until each safe value is there, within
// safe_tolerance. A release is confirmed by the server's answer. nil means that all are
// confirmed. The error names those that are not when ctx or halt_timeout ends the wait, and those for
// which the file gives nothing to write. Where there is no connection one is made at once;
// where one ends, all is written again over the next.
func (d *Device) Halt(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, d.options.HaltTimeout)
	defer cancel()
	if d.env.ReadOnly {
		return d.wrap(errReadOnly)
	}
	last := drivers.ErrNotSent
	for {
		c, err := d.urgent(ctx)
		if err == nil {
			last, err = d.haltOver(ctx, c), nil
			if last == nil {
				return nil
			}
		}
		again := err != nil && errors.Is(err, drivers.ErrUnavailable) || c != nil && c.isGone()
		if !again || ctx.Err() != nil || !pause(ctx, confirmEvery) {
			return d.wrap(fmt.Errorf("safe state not confirmed: %w", errors.Join(last, err)))
		}
	}
}

// haltOver halts over one connection.
func (d *Device) haltOver(ctx context.Context, c *connection) error {
	var problems []error
	var all []one
	var safe []*channel
	for _, ch := range d.channels {
		var some []one
		var err error
		switch {
		case ch.write == nil:
			continue
		case !math.IsNaN(ch.Safe):
			some, err = d.set(ch, ch.Safe, 0)
			safe = append(safe, ch)
		case ch.CanRelease:
			some, err = d.put(ch, nil, ch.release, ch.released)
		default:
			err = fmt.Errorf("channel %q has neither safe nor release in the file; write safe = VALUE in [device.channel.%s]", ch.Name, ch.Name)
		}
		if err != nil {
			problems = append(problems, err)
		}
		all = append(all, some...)
	}
	if len(all) > 0 {
		if err := c.write(ctx, all, true); err != nil {
			return errors.Join(append(problems, err)...)
		}
	}
	return errors.Join(append(problems, d.confirm(ctx, c, safe))...)
}

// confirm asks until every channel reads its safe value.
func (d *Device) confirm(ctx context.Context, c *connection, safe []*channel) error {
	for len(safe) > 0 {
		a, err := c.ask(ctx, valuesOf(safe))
		if err != nil {
			return err
		}
		var waiting []*channel
		var problems []error
		for i, ch := range safe {
			if err := ch.isSafe(a.Results[i].Status>>30 != 0, func() (float64, error) { return number(a.Results[i].Value) }); err != nil {
				waiting, problems = append(waiting, ch), append(problems, err)
			}
		}
		if safe = waiting; len(safe) > 0 && !pause(ctx, confirmEvery) {
			return errors.Join(append(problems, ctx.Err())...)
		}
	}
	return nil
}

// isSafe says what is missing until a channel is known to be at its safe value.
func (c *channel) isSafe(doubtful bool, raw func() (float64, error)) error {
	v, err := raw()
	if err == nil {
		v, err = c.FromRaw(v)
	}
	switch {
	case doubtful && !c.take || err != nil:
		return fmt.Errorf("channel %q was set to its safe value %v, and the server has no good reading of %v", c.Name, c.Safe, c.read)
	case math.Abs(v-c.Safe) > c.Tolerance+drivers.Rounding*(math.Abs(c.Safe)+math.Abs(c.Offset)):
		return fmt.Errorf("channel %q was set to its safe value %v and reads %v (safe_tolerance %v)", c.Name, c.Safe, v, c.Tolerance)
	}
	return nil
}

// pause waits and reports whether it was not interrupted.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
