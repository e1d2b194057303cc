package protocol

import (
	"context"

	"github.com/labtuner/tuner/drivers/serial/port"
)

// Protocol is how one instrument is spoken to over an open line. Its errors tell the
// device what to do next:
//
//	Refused                    the instrument understood and said no
//	Suspicious                 the two sides may be out of step: greet again
//	anything else              the port is dead: connect anew
type Protocol interface {
	// Greet finds together with the instrument, proves that it is the right one and
	// prepares it. It moves nothing.
	Greet(ctx context.Context, l *Line) error
	// Batches splits channels into those that one question answers.
	Batches(channels []*Channel) [][]*Channel
	// Ask gives the values of one batch; a channel that has nothing new is left out.
	Ask(ctx context.Context, l *Line, batch []*Channel) (map[string]float64, error)
	// Set writes one value. The outcome has the value that the instrument
	// then had, where it told.
	Set(ctx context.Context, l *Line, c *Channel, v float64) (Outcome, error)
	// Say sends the command that sets a channel, or releases it, without waiting for what
	// is answered.
	Say(ctx context.Context, l *Line, c *Channel, v float64, release bool) error
	// Check says whether set would send v: what is formatted may round beyond limits.
	Check(c *Channel, v float64) error
	// Release lets go of a channel.
	Release(ctx context.Context, l *Line, c *Channel) error
	// Halt sends what goes before the channels' own safe values.
	Halt(ctx context.Context, l *Line) error
	// Done asks whether the last dose of the channel is over.
	Done(ctx context.Context, l *Line, c *Channel) (bool, error)
	// Instrument is the other side: what speaks as the description says, for a device.
	Instrument(channels []*Channel, dev *Served) (port.Instrument, error)
}

// Outcome is what is known after a write.
type Outcome struct {
	// Readback is the channel's value afterwards, where Told says so.
	Readback float64
	Told     bool
}
