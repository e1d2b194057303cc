package drivers

import (
	"errors"
	"fmt"
	"math"
)

// ScaleKeys are the keys of a described channel that make a quantity of the numbers which its
// instrument takes and gives, with its limits and its safe value.
type ScaleKeys struct {
	Scale  *float64 `toml:"scale" doc:"value = scale * what the instrument says + offset; absent: 1"`
	Offset float64  `toml:"offset" unit:"the channel's" doc:"added after scale: value = scale * raw + offset"`
	Min    *float64 `toml:"min" unit:"the channel's" doc:"least value that may be set; absent: not known"`
	Max    *float64 `toml:"max" unit:"the channel's" doc:"largest value that may be set; absent: not known"`

	Safe          *float64 `toml:"safe" unit:"the channel's" doc:"what a halt sets; absent: a halt releases the channel, and where it cannot be released does nothing"`
	SafeTolerance float64  `toml:"safe_tolerance" unit:"the channel's" bound:">= 0" doc:"how far a reading may lie from safe and still confirm it"`
}

// Scaled is a channel with the scale of its instrument: value = Scale * raw + Offset.
type Scaled struct {
	Channel
	Scale, Offset float64
	// Tolerance is how far a reading may lie from Safe and still confirm it.
	Tolerance float64
}

// Apply lays the keys over c, whose Scale is 1 and whose limits are NaN.
func (k ScaleKeys) Apply(c *Scaled) error {
	for _, n := range []struct {
		key  string
		from *float64
		to   *float64
	}{{"scale", k.Scale, &c.Scale}, {"offset", &k.Offset, &c.Offset}, {"min", k.Min, &c.Min}, {"max", k.Max, &c.Max},
		{"safe", k.Safe, &c.Safe}, {"safe_tolerance", &k.SafeTolerance, &c.Tolerance}} {
		if n.from == nil {
			continue
		}
		if !Finite(*n.from) {
			return fmt.Errorf("%s is %v and must be finite", n.key, *n.from)
		}
		*n.to = *n.from
	}
	switch {
	case c.Scale == 0:
		return errors.New("scale is 0; then every value would be the same")
	case c.Min >= c.Max:
		return fmt.Errorf("min is %v and max %v; the first must be less", c.Min, c.Max)
	case c.Safe < c.Min || c.Safe > c.Max:
		return fmt.Errorf("safe is %v and must lie within min and max, %v to %v", c.Safe, c.Min, c.Max)
	}
	return nil
}

// FromRaw turns what the instrument says into the channel's unit.
func (c *Scaled) FromRaw(raw float64) (float64, error) {
	v := c.Scale*raw + c.Offset
	if !Finite(v) {
		return 0, fmt.Errorf("%g times the scale %g is beyond all bounds", raw, c.Scale)
	}
	return v, nil
}

// ToRaw turns a value of the channel into the instrument's unit.
func (c *Scaled) ToRaw(v float64) float64 { return (v - c.Offset) / c.Scale }

// Accepts says whether a value may be set; not is why none may be where the channel is
// read-only.
func (c *Scaled) Accepts(v float64, not string) error {
	switch {
	case !Finite(v):
		return fmt.Errorf("channel %q cannot be set to %v", c.Name, v)
	case c.Access != ReadWrite:
		return fmt.Errorf("%w: channel %q is read-only; %s", ErrRefused, c.Name, not)
	case v < c.Min || v > c.Max: // false where a limit is NaN, not known
		return fmt.Errorf("%w: channel %q cannot be set to %v %s; its limits are %v to %v", ErrRefused, c.Name, v, c.Unit, c.Min, c.Max)
	}
	return nil
}

// Rounding is the relative error that a value may take from scale, offset and single
// precision.
const Rounding = 1e-6

// NearLimit gives a limit in place of a value that lies beyond it by rounding.
func (c *Scaled) NearLimit(v, low, high float64) float64 {
	slack := Rounding * (math.Abs(v) + math.Abs(c.Offset))
	switch {
	case v < low && v >= low-slack:
		return low
	case v > high && v <= high+slack:
		return high
	}
	return v
}

// Finite says whether v is a number.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
