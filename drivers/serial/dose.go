package serial

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/protocol"
)

// A dose is sent once, whatever becomes of its answer: neither a lost answer nor a new
// connection sends it again. Questions about it may be repeated.

const (
	// doseMost is Done.Timeout where the file has none.
	doseMost = 10 * time.Minute
	// doseEvery is how often an instrument is asked whether a dose is over.
	doseEvery = 250 * time.Millisecond
)

// checkDose refuses what a channel of doses cannot have.
func (o *ChannelOptions) checkDose() error {
	done := o.Write != nil && o.Write.Done != nil
	switch {
	case !o.Dose && done:
		return errors.New("write has done, which reports a dose; write dose = true")
	case !o.Dose:
		return nil
	case o.Write == nil:
		return errors.New("has dose = true but no write to give it with")
	case o.Safe != nil:
		return fmt.Errorf("has safe = %v, which a halt would give; a dose has no safe value", *o.Safe)
	case o.Write.Idempotent:
		return errors.New("write is idempotent and a dose: giving twice is giving twice as much")
	case o.Write.Verify != nil:
		return errors.New("write has verify, which compares settings; of a dose, done says when it is over, and read how much it was")
	}
	return nil
}

// dose gives an amount and waits until it has been given.
func (d *Device) dose(ctx context.Context, c *protocol.Channel, amount float64) (protocol.Outcome, error) {
	err := d.once(ctx, false, func() error {
		_, err := d.talk.Set(ctx, d.link, c, amount)
		return err
	})
	if errors.Is(err, protocol.ErrAnother) {
		return protocol.Outcome{}, fmt.Errorf("%w: whether the dose was given is not known: %s", drivers.ErrUnavailable, err.Error())
	}
	if err != nil {
		return protocol.Outcome{}, err
	}
	if err := d.over(ctx, c); err != nil {
		return protocol.Outcome{}, fmt.Errorf("the dose was begun, and whether it was all given is not known: %w", err)
	}
	if !c.Readable {
		return protocol.Outcome{}, nil
	}
	values, err := d.ask(ctx, []*protocol.Channel{c})
	given, told := values[c.Name]
	if err != nil {
		d.env.Log.Warn("the device did not say how much was given; the requested amount is taken", slog.String("channel", c.Name), slog.Any("error", err))
	}
	return protocol.Outcome{Readback: given, Told: told}, nil
}

// over waits until a dose is.
func (d *Device) over(ctx context.Context, c *protocol.Channel) error {
	limit := d.env.Clock.Now().Add(c.Most)
	for bad := 0; ; {
		over, err := false, d.ready(ctx)
		if err == nil {
			if over, err = d.talk.Done(ctx, d.link, c); err != nil {
				err = d.judge(ctx, err)
			}
		}
		switch {
		case over:
			return nil
		case err == nil:
			bad = 0
		case d.link == nil || ctx.Err() != nil || errors.Is(err, protocol.ErrRestarted) || bad >= d.opt.Retries:
			return err
		default:
			bad++
		}
		if !d.env.Clock.Now().Before(limit) {
			return fmt.Errorf("%w: it is still running after %v", drivers.ErrUnavailable, c.Most)
		}
		if err := protocol.Rest(ctx, doseEvery); err != nil {
			return err
		}
	}
}
