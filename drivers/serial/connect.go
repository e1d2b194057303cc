package serial

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/port"
	"github.com/labtuner/tuner/drivers/serial/protocol"
)

// backoff spaces attempts to connect: least after the first failure, then twice
// as long each time, up to most.
type backoff struct {
	least, most time.Duration
	wait        time.Duration // the last wait; 0: nothing has failed
	next        time.Time     // when the next attempt may be made
	why         error
}

func (b *backoff) failed(now time.Time, why error) {
	b.wait = min(max(2*b.wait, b.least), b.most)
	b.next, b.why = now.Add(b.wait), why
}

func (b *backoff) succeeded() { b.wait, b.why = 0, nil }

// left is the time until the next attempt may be made.
func (b *backoff) left(now time.Time) time.Duration {
	if b.why == nil {
		return 0
	}
	return max(0, b.next.Sub(now))
}

// ready sees to it that there is a connection whose two sides are in step. While
// attempts are spaced it fails at once.
func (d *Device) ready(ctx context.Context) error {
	if d.link == nil {
		if wait := d.retry.left(d.env.Clock.Now()); wait > 0 {
			return fmt.Errorf("%w: not connected, next attempt in %v: %w", drivers.ErrUnavailable, wait.Round(time.Millisecond), d.retry.why)
		}
		return d.connect(ctx)
	}
	if d.network && d.doubt == nil {
		// An instrument may end a connection on which nothing happens. Nothing has been sent
		// since, so that nothing is lost with it.
		if _, err := d.link.Port.Waiting(); err != nil {
			return d.anew(ctx, err)
		}
	}
	switch {
	case d.doubt == nil:
		return nil
	case d.network && protocol.Unanswered(d.doubt):
		return d.anew(ctx, d.doubt)
	}
	ctx, done := protocol.Yielding(ctx)
	defer done()
	return d.greet(ctx)
}

// anew makes a connection over the network in place of the one that there is, which may be dead
// without a sign. What is still on its way over the old one ends with it, so that no late answer
// is taken for another.
func (d *Device) anew(ctx context.Context, why error) error {
	d.env.Log.Info("the connection is opened again", slog.Any("error", why))
	if err := d.drop(); err != nil {
		d.env.Log.Warn("the connection did not end well", slog.Any("error", err))
	}
	return d.connect(ctx)
}

// connect opens the port and greets the instrument, now. Over the network a greeting that is not
// answered is said again over another connection; but not to what talks without end, which takes
// seconds to find out.
func (d *Device) connect(ctx context.Context) error {
	ctx = protocol.Whole(ctx) // a safe value needs the connection, whole
	for try := 0; ; try++ {
		err := d.connectOnce(ctx)
		if err == nil || !d.network || !protocol.Unanswered(err) || errors.Is(err, protocol.ErrNoise) || try >= d.opt.Retries || ctx.Err() != nil {
			return err
		}
	}
}

func (d *Device) connectOnce(ctx context.Context) error {
	raw, err := d.opt.Open(ctx, d.opt.Spec(d.opt.Path(), d.opt.ReplyTimeout, d.opt.ReadTimeout))
	if err != nil {
		d.retry.failed(d.env.Clock.Now(), err)
		if errors.Is(err, drivers.ErrUnavailable) {
			return err
		}
		return fmt.Errorf("%w: %w", drivers.ErrUnavailable, err)
	}
	again := d.retry.why != nil
	d.link = &protocol.Line{Port: port.New(raw), Timing: d.opt.Timing, Log: d.env.Log, Most: d.opt.MaxLine}
	if d.network {
		d.link.Spoken, d.link.Owed, d.link.Renewable = d.before.spoken, d.before.owed, true
	}
	if err := port.Pause(ctx, d.opt.OpenDelay); err != nil {
		return errors.Join(err, d.drop())
	}
	if err := d.greet(ctx); err != nil {
		return err
	}
	if again {
		d.env.Log.Info("connected again")
	}
	return nil
}

// greet greets the instrument; where that fails the connection is dropped, so
// that nothing is ever written to an instrument that was not recognised.
func (d *Device) greet(ctx context.Context) error {
	err := d.talk.Greet(ctx, d.link)
	if err == nil {
		d.doubt = nil
		d.retry.succeeded()
		return nil
	}
	if errors.Is(context.Cause(ctx), drivers.ErrPreempted) {
		return fmt.Errorf("%w: while greeting: %w", drivers.ErrPreempted, err) // they are out of step still
	}
	if ctx.Err() != nil {
		return errors.Join(fmt.Errorf("%w: while greeting: %w", context.Cause(ctx), err), d.drop())
	}
	if closeErr := d.drop(); closeErr != nil {
		d.env.Log.Error("the port could not be closed", slog.Any("error", closeErr))
	}
	d.retry.failed(d.env.Clock.Now(), err)
	return fmt.Errorf("%w: %w", drivers.ErrUnavailable, err)
}
