package serial

import (
	"context"
	"errors"

	"github.com/labtuner/tuner/drivers"
)

// talker is a protocol: how one instrument is spoken to over an open line. Its
// errors tell Device what to do next:
//
//	wraps drivers.ErrRefused   the instrument understood and said no
//	is suspicious (below)      the two sides may be out of step: greet again
//	anything else              the port is dead: connect anew
type talker interface {
	// greet finds together with the instrument, proves that it is the right one and
	// prepares it. It moves nothing.
	greet(ctx context.Context, l *line) error
	// batches splits channels into those that one question answers.
	batches(channels []*channel) [][]*channel
	// ask gives the values of one batch; a channel that has nothing new is left out.
	ask(ctx context.Context, l *line, batch []*channel) (map[string]float64, error)
	// set writes one value. known says that the instrument's own answer settled what
	// became of it; readback is the value that it then had, where it told.
	set(ctx context.Context, l *line, c *channel, v float64) (outcome, error)
	// say sends the command that sets a channel, or releases it, without waiting for what
	// is answered.
	say(ctx context.Context, l *line, c *channel, v float64, release bool) error
	// check says whether set would send v: what is formatted may round beyond limits.
	check(c *channel, v float64) error
	// release lets go of a channel.
	release(ctx context.Context, l *line, c *channel) error
	// halt sends what goes before the channels' own safe values.
	halt(ctx context.Context, l *line) error
	// done asks whether the last dose of the channel is over.
	done(ctx context.Context, l *line, c *channel) (bool, error)
	// repeatable says that a write of the channel may be sent twice.
	repeatable(c *channel) bool
}

// outcome is what is known after a write.
type outcome struct {
	// readback is the channel's value afterwards, where told says so.
	readback float64
	told     bool
}

// errAnother stands beside drivers.ErrRefused where an answer came that was not
// expected: of a setpoint that is a no, of a dose it is no more than that.
var errAnother = errors.New("another answer than expected")

// errRestarted says that the instrument told that it has restarted.
var errRestarted = errors.New("the instrument has restarted")

// suspicious says that after this error the next answer could be one to an
// earlier question: nothing may be asked before both sides have found together.
func suspicious(err error) bool {
	for _, kind := range []error{errSilent, errCut, errLong, errMismatch, errNoise, errRestarted, errFrame, errBusy} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// refused says that the instrument understood and said no.
func refused(err error) bool { return errors.Is(err, drivers.ErrRefused) }
