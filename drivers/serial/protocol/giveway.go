package protocol

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/port"
)

// A line carries one exchange at a time, so nothing can overtake the one that is on it: a
// call that is to give way to a safe value (drivers.ErrPreempted) ends when the exchange
// under way does, which its time-outs bound, and asks nothing more. Waits in which nothing
// is on the line end at once.

// callerKey finds the caller's own context in the one that a call works with.
type callerKey struct{}

// Sheltered gives a context that ends as its caller's does, but not where that is overtaken:
// the exchange under way is brought to its end. stop must be called.
func Sheltered(caller context.Context) (_ context.Context, cancel context.CancelCauseFunc, stop func() bool) {
	ctx, cancel := context.WithCancelCause(context.WithValue(context.WithoutCancel(caller), callerKey{}, caller))
	return ctx, cancel, context.AfterFunc(caller, func() {
		if cause := context.Cause(caller); !errors.Is(cause, drivers.ErrPreempted) {
			cancel(cause)
		}
	})
}

// GiveWay says that a safe value waits for the line: no further exchange is to begin.
func GiveWay(ctx context.Context) error {
	caller, ok := ctx.Value(callerKey{}).(context.Context)
	if !ok || !errors.Is(context.Cause(caller), drivers.ErrPreempted) {
		return nil
	}
	return fmt.Errorf("given up between two exchanges: %w", drivers.ErrPreempted)
}

// lateKey finds what says that a write may not leave any more.
type lateKey struct{}

// Leaving gives the context of a write, which leaves in time or not at all: late says why it
// may not any more.
func Leaving(ctx context.Context, late func() error) context.Context {
	return context.WithValue(ctx, lateKey{}, late)
}

// Whole gives a context in which nothing gives way.
func Whole(ctx context.Context) context.Context { return context.WithValue(ctx, callerKey{}, nil) }

// MayLeave says why a command that changes something is not to be sent now: a safe value
// waits for the line, or it is too late.
func MayLeave(ctx context.Context) error {
	if err := GiveWay(ctx); err != nil {
		return err
	}
	if late, ok := ctx.Value(lateKey{}).(func() error); ok {
		return late()
	}
	return nil
}

// Yielding gives a context that ends where a safe value waits, for what may be cut short
// anywhere. done must be called.
func Yielding(ctx context.Context) (_ context.Context, done func()) {
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

// Rest pauses where nothing is on the line.
func Rest(ctx context.Context, d time.Duration) error {
	ctx, done := Yielding(ctx)
	defer done()
	return port.Pause(ctx, d)
}
