package serial

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// A line carries one exchange at a time, so nothing can overtake the one that is on it: a
// call that is to give way to a safe value (drivers.ErrOvertaken) ends when the exchange
// under way does, which its time-outs bound, and asks nothing more. Waits in which nothing
// is on the line end at once.

// callerKey finds the caller's own context in the one that a call works with.
type callerKey struct{}

// sheltered gives a context that ends as its caller's does, but not where that is overtaken:
// the exchange under way is brought to its end. stop must be called.
func sheltered(caller context.Context) (_ context.Context, cancel context.CancelCauseFunc, stop func() bool) {
	ctx, cancel := context.WithCancelCause(context.WithValue(context.WithoutCancel(caller), callerKey{}, caller))
	return ctx, cancel, context.AfterFunc(caller, func() {
		if cause := context.Cause(caller); !errors.Is(cause, drivers.ErrOvertaken) {
			cancel(cause)
		}
	})
}

// giveWay says that a safe value waits for the line: no further exchange is to begin.
func giveWay(ctx context.Context) error {
	caller, ok := ctx.Value(callerKey{}).(context.Context)
	if !ok || !errors.Is(context.Cause(caller), drivers.ErrOvertaken) {
		return nil
	}
	return fmt.Errorf("given up between two exchanges: %w", drivers.ErrOvertaken)
}

// lateKey finds what says that a write may not leave any more.
type lateKey struct{}

// leaving gives the context of a write, which leaves in time or not at all.
func (d *Device) leaving(ctx context.Context, s drivers.Setpoints) context.Context {
	return context.WithValue(ctx, lateKey{}, func() error { return s.Late(d.env.Clock.Now()) })
}

// mayLeave says why a command that changes something is not to be sent now: a safe value
// waits for the line, or it is too late.
func mayLeave(ctx context.Context) error {
	if err := giveWay(ctx); err != nil {
		return err
	}
	if late, ok := ctx.Value(lateKey{}).(func() error); ok {
		return late()
	}
	return nil
}

// yielding gives a context that ends where a safe value waits, for what may be cut short
// anywhere. done must be called.
func yielding(ctx context.Context) (_ context.Context, done func()) {
	inner, cancel := context.WithCancelCause(ctx)
	caller, ok := ctx.Value(callerKey{}).(context.Context)
	if !ok {
		return inner, func() { cancel(nil) }
	}
	stop := context.AfterFunc(caller, func() { cancel(context.Cause(caller)) })
	return inner, func() {
		stop()
		cancel(nil)
	}
}

// rest pauses where nothing is on the line.
func rest(ctx context.Context, d time.Duration) error {
	ctx, done := yielding(ctx)
	defer done()
	return pause(ctx, d)
}

// readyFor is ready for a write. A safe one does not wait for a next attempt to connect, and
// leaves at once over a line on which the two sides may be out of step; it is then written
// again, and confirmed, when they have found together.
func (d *Device) readyFor(ctx context.Context, s drivers.Setpoints) error {
	switch {
	case !s.Safe:
	case d.link == nil:
		return d.connect(ctx)
	case d.doubt != nil:
		if err := d.sayBlindly(ctx, s); err != nil {
			return d.lose(err)
		}
	}
	return d.ready(ctx)
}

// sayBlindly sends commands without waiting for what is answered.
func (d *Device) sayBlindly(ctx context.Context, s drivers.Setpoints) error {
	release := map[string]bool{}
	for _, name := range s.Release {
		release[name] = true
	}
	for _, c := range d.channels {
		v, set := s.Values[c.Name]
		if !set && !release[c.Name] {
			continue
		}
		c.stands = s.For[c.Name]
		if err := d.talk.say(ctx, d.link, c, v, !set); err != nil {
			return err
		}
	}
	return nil
}
