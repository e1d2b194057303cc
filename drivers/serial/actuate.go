package serial

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/port"
	"github.com/labtuner/tuner/drivers/serial/protocol"
)

// Write sets and releases channels one after the other, in the file's order; see
// [drivers.Actuator]. Everything is checked before anything is sent. A command
// whose answer was lost is repeated only where its channel declares it idempotent;
// otherwise the error says that the outcome is unknown. Of a safe write every channel is told
// once before any is told again.
func (d *Device) Write(ctx context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	ctx, leave, err := d.begin(ctx)
	if err != nil {
		return drivers.Reading{}, err
	}
	defer leave()
	release, err := d.checkSetpoints(s)
	if err != nil {
		return drivers.Reading{}, d.wrap(err)
	}
	r := drivers.Reading{Values: map[string]float64{}, At: d.env.Clock.Now()}
	if len(s.Values)+len(s.Release) == 0 {
		return r, nil
	}
	left, err := d.readyFor(ctx, s)
	switch {
	case err != nil && left:
		return drivers.Reading{}, d.wrap(fmt.Errorf("it was said to an instrument that had not answered; whether it was carried out is not known: %w", err))
	case err != nil:
		return drivers.Reading{}, d.wrap(fmt.Errorf("%w: %w", drivers.ErrNotSent, err))
	}
	ctx = protocol.Leaving(ctx, func() error { return s.Late(d.env.Clock.Now()) })
	channels := slices.DeleteFunc(slices.Clone(d.channels), func(c *protocol.Channel) bool {
		_, set := s.Values[c.Name]
		return !set && !release[c.Name]
	})
	if s.Safe && len(channels) > 1 {
		var told bool
		channels, told = d.tellAllOnce(ctx, channels, s, &r)
		left = left || told
	}
	for _, c := range channels {
		err := d.tell(ctx, c, s, true, &r)
		switch {
		case errors.Is(err, errUnsent) && !left:
			return drivers.Reading{}, d.wrap(fmt.Errorf("channel %q: %w: %w", c.Name, drivers.ErrNotSent, err))
		case errors.Is(err, errUnsent):
			return drivers.Reading{}, d.wrap(fmt.Errorf("channel %q: %w; others were sent before", c.Name, err))
		case err != nil:
			return drivers.Reading{}, d.wrap(fmt.Errorf("channel %q: %w", c.Name, err))
		}
		left = true
	}
	return r, nil
}

// tellAllOnce tells each channel its part of a safe write once, so that none waits for the
// repeats of another. It returns those that have not confirmed it, and whether anything left.
func (d *Device) tellAllOnce(ctx context.Context, channels []*protocol.Channel, s drivers.Setpoints, r *drivers.Reading) (again []*protocol.Channel, left bool) {
	for _, c := range channels {
		err := d.tell(ctx, c, s, false, r)
		left = left || !errors.Is(err, errUnsent)
		if err != nil {
			again = append(again, c)
		}
	}
	return again, left
}

// tell tells one channel its part of a write; again says that a command whose
// answer was lost may be repeated.
func (d *Device) tell(ctx context.Context, c *protocol.Channel, s drivers.Setpoints, again bool, r *drivers.Reading) error {
	var out protocol.Outcome
	var err error
	v, set := s.Values[c.Name]
	switch {
	case set && c.Dose:
		out, err = d.dose(ctx, c, v)
	case set:
		out, err = d.set(ctx, c, v, again)
	default:
		err = d.letGo(ctx, c, again)
	}
	if err == nil && out.Told {
		r.Values[c.Name] = out.Readback
	}
	return err
}

// checkSetpoints checks a whole write and gives the set of channels to release.
func (d *Device) checkSetpoints(s drivers.Setpoints) (map[string]bool, error) {
	var problems []error
	for name, v := range s.Values {
		c, err := d.channel(name)
		if err == nil {
			err = c.Accepts(v, "only one with write can be set")
		}
		if err == nil {
			err = s.CheckDose(c.Channel)
		}
		if err == nil {
			c.Stands = s.For[name]
			if err = d.talk.Check(c, v); err != nil {
				err = fmt.Errorf("channel %q: %w", name, err)
			}
		}
		if err != nil {
			problems = append(problems, err)
		}
	}
	release := map[string]bool{}
	for _, name := range s.Release {
		c, err := d.channel(name)
		_, set := s.Values[name]
		switch {
		case err != nil:
			problems = append(problems, err)
		case !c.CanRelease:
			problems = append(problems, fmt.Errorf("%w: channel %q cannot be released; it has no release in the file", drivers.ErrRefused, name))
		case set:
			problems = append(problems, fmt.Errorf("channel %q is set and released in one write", name))
		}
		release[name] = true
	}
	if err := errors.Join(problems...); err != nil {
		return nil, fmt.Errorf("%w: %w", drivers.ErrNotSent, err)
	}
	return release, nil
}

// set writes one value.
func (d *Device) set(ctx context.Context, c *protocol.Channel, v float64, again bool) (out protocol.Outcome, err error) {
	err = d.once(ctx, again && c.Repeatable, func() error {
		out, err = d.talk.Set(ctx, d.link, c, v)
		return err
	})
	return out, err
}

// letGo releases one channel; releasing twice is as good as once.
func (d *Device) letGo(ctx context.Context, c *protocol.Channel, again bool) error {
	return d.once(ctx, again, func() error { return d.talk.Release(ctx, d.link, c) })
}

// errUnsent says that a command has not left. Whether others of the same write have, Write
// knows.
var errUnsent = errors.New("the command was not sent")

// once makes an exchange that changes something, and again only where that does
// no harm. It begins on a connection whose two sides are in step.
func (d *Device) once(ctx context.Context, repeatable bool, send func() error) error {
	for try := 0; ; try++ {
		err := protocol.MayLeave(ctx)
		if err == nil {
			if err = d.ready(ctx); err == nil {
				err = protocol.MayLeave(ctx) // to find together may have taken long
			}
		}
		if err != nil && try == 0 {
			return fmt.Errorf("%w: %w", errUnsent, err)
		} else if err != nil {
			return fmt.Errorf("whether the command was carried out is not known: %w", err)
		}
		err = send()
		if err == nil {
			return nil
		}
		unsettled := !protocol.Refused(err)
		err = d.judge(ctx, err)
		switch {
		case !unsettled:
			return err
		case !repeatable || ctx.Err() != nil || protocol.MayLeave(ctx) != nil || try >= d.opt.Retries:
			return fmt.Errorf("whether the command was carried out is not known: %w", err)
		case d.link == nil:
			return fmt.Errorf("the connection was lost before the command was confirmed: %w", err)
		}
	}
}

// Halt sends the halt commands and then brings every channel that can be set to
// its safe value, or releases it where it has none; see [drivers.Actuator]. It
// goes on after a failure and tells all. A command with an answer is confirmed by
// it; one without is confirmed by a reading within safe_tolerance, awaited for
// halt_timeout. Where there is no connection one is made at once.
func (d *Device) Halt(ctx context.Context) error {
	ctx, leave, err := d.begin(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if d.link == nil {
		if err := d.connect(ctx); err != nil {
			return d.wrap(fmt.Errorf("safe state not confirmed: %w", err))
		}
	}
	var problems []error
	if err := d.once(ctx, true, func() error { return d.talk.Halt(ctx, d.link) }); err != nil {
		problems = append(problems, err)
	}
	for _, c := range d.channels {
		if c.Access != drivers.ReadWrite {
			continue
		}
		if err := d.makeSafe(ctx, c); err != nil {
			problems = append(problems, fmt.Errorf("channel %q: %w", c.Name, err))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return d.wrap(fmt.Errorf("safe state not confirmed: %w", err))
	}
	return nil
}

// makeSafe brings one channel to its safe value. Setting an absolute value twice
// is as good as once, so a lost answer is followed by another try.
func (d *Device) makeSafe(ctx context.Context, c *protocol.Channel) error {
	if c.Dose && !c.CanRelease {
		return nil // there is nothing to stop it with, and nothing to set
	}
	if math.IsNaN(c.Safe) {
		switch {
		case !c.CanRelease:
			return errors.New("there is neither safe nor release to bring it to rest; add one of them")
		case !c.ReleaseConfirmed:
			return errors.Join(d.letGo(ctx, c, true), errors.New("the release has no answer (ack) that would confirm it"))
		}
		return d.letGo(ctx, c, true)
	}
	err := d.once(ctx, true, func() error {
		_, err := d.talk.Set(ctx, d.link, c, c.Safe)
		return err
	})
	if err != nil || c.WriteConfirmed {
		return err
	}
	if !c.Readable {
		return fmt.Errorf("it was set to %v, and has neither ack nor read that would confirm it", c.Safe)
	}
	return d.confirm(ctx, c)
}

// confirmEvery is the time between two readings that might confirm a value.
const confirmEvery = 50 * time.Millisecond

// confirm reads until the channel is at its safe value.
func (d *Device) confirm(ctx context.Context, c *protocol.Channel) error {
	limit := d.env.Clock.Now().Add(d.opt.HaltTimeout)
	for {
		values, err := d.ask(ctx, []*protocol.Channel{c})
		v, there := values[c.Name]
		if there && math.Abs(v-c.Safe) <= c.Tolerance+drivers.Rounding*math.Abs(c.Safe) {
			return nil
		}
		switch {
		case err != nil && (d.link == nil || ctx.Err() != nil):
			return err
		case !d.env.Clock.Now().Before(limit) && there:
			return fmt.Errorf("it was set to %v and says %v after %v; safe_tolerance is %v", c.Safe, v, d.opt.HaltTimeout, c.Tolerance)
		case !d.env.Clock.Now().Before(limit):
			return errors.Join(fmt.Errorf("it was set to %v, and no reading confirmed it within %v", c.Safe, d.opt.HaltTimeout), err)
		}
		if err := port.Pause(ctx, confirmEvery); err != nil {
			return err
		}
	}
}
