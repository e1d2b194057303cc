package protocol

import (
	"fmt"
	"math"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// Channel is one channel of the file, checked.
type Channel struct {
	drivers.Channel
	Index     int
	Scale     float64
	Offset    float64
	Tolerance float64 // of Safe
	Readable  bool
	// confirmed says that the instrument answers a write, or a release.
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
	v := c.Scale*raw + c.Offset
	if !Finite(v) {
		return 0, fmt.Errorf("%w: %g times the scale %g is beyond all bounds", ErrMismatch, raw, c.Scale)
	}
	return v, nil
}

// ToRaw turns a value of the channel into the instrument's unit.
func (c *Channel) ToRaw(v float64) float64 { return (v - c.Offset) / c.Scale }

// Accepts says whether a value may be set.
func (c *Channel) Accepts(v float64) error {
	switch {
	case !Finite(v):
		return fmt.Errorf("channel %q cannot be set to %v", c.Name, v)
	case c.Access != drivers.ReadWrite:
		return fmt.Errorf("%w: channel %q is read-only; only one with write can be set", drivers.ErrRefused, c.Name)
	case v < c.Min || v > c.Max: // false where a limit is NaN, not known
		return fmt.Errorf("%w: channel %q cannot be set to %v %s; its limits are %v to %v", drivers.ErrRefused, c.Name, v, c.Unit, c.Min, c.Max)
	}
	return nil
}

// Rounding is the relative error that a value may take from scale, offset and
// single precision.
const Rounding = 1e-6

// NearLimit gives the limit in place of a value that lies beyond it by rounding.
func (c *Channel) NearLimit(v float64) float64 {
	slack := Rounding * (math.Abs(v) + math.Abs(c.Offset))
	switch {
	case v < c.Min && v >= c.Min-slack:
		return c.Min
	case v > c.Max && v <= c.Max+slack:
		return c.Max
	}
	return v
}

// Finite says whether v is a number.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
