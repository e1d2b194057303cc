package protocol

import (
	"fmt"
	"math"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// Channel is one channel of the file, checked.
type Channel struct {
	drivers.Scaled
	Index    int
	Readable bool
	// WriteConfirmed and ReleaseConfirmed say that the instrument answers them.
	WriteConfirmed, ReleaseConfirmed bool
	// Repeatable says that a write may be sent twice.
	Repeatable                bool
	ReadTimeout, WriteTimeout time.Duration
	// Stands is how long the next value is to stand, 0: nobody said; of channels that
	// last.
	Stands time.Duration
	// Most is the longest time that a dose takes.
	Most time.Duration
}

// overload is where SCPI's stand-ins begin: 9.9e37 is an overload, 9.91e37 not a
// number (SCPI 1999, 7.2.1.5). No quantity is that large.
const overload = 9.9e37

// FromRaw turns what the instrument says into the channel's unit.
func (c *Channel) FromRaw(raw float64) (float64, error) {
	if math.Abs(raw) >= overload {
		return 0, fmt.Errorf("%w: %g stands for an overload or for no number", ErrMismatch, raw)
	}
	v, err := c.Scaled.FromRaw(raw)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrMismatch, err)
	}
	return v, nil
}
