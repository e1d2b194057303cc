package serial

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// ChannelOptions are the keys of a [device.channel.X] of a serial device.
type ChannelOptions struct {
	// Channel is X: the name that tuner uses.
	Channel string `toml:"-"`

	Read    *Read     `toml:"read" doc:"how to ask for the value"`
	Write   *Write    `toml:"write" doc:"how to set the value; absent: the channel is read-only"`
	Release *Exchange `toml:"release" doc:"the command that lets go of the channel; absent: it cannot be released"`

	Dose bool `toml:"dose" doc:"a write adds an amount, once: it is never repeated, and a halt stops it by release"`

	Unit   string   `toml:"unit" doc:"the unit of the value; absent: whatever the configuration says"`
	Scale  *float64 `toml:"scale" doc:"value = scale * what the instrument says + offset; absent: 1"`
	Offset float64  `toml:"offset" unit:"the channel's" doc:"see scale"`
	Min    *float64 `toml:"min" unit:"the channel's" doc:"least value that the instrument takes"`
	Max    *float64 `toml:"max" unit:"the channel's" doc:"largest value that the instrument takes"`

	Safe          *float64 `toml:"safe" unit:"the channel's" doc:"what a halt sets; absent: a halt releases the channel"`
	SafeTolerance float64  `toml:"safe_tolerance" unit:"the channel's" bound:">= 0" doc:"how far a reading may lie from safe and still confirm it"`
}

// Read is how to ask for a value: out and in for lines, register and type for
// Modbus.
type Read struct {
	Out     string        `toml:"out" doc:"the question"`
	In      string        `toml:"in" doc:"the form of the answer, such as R1=%f; all of it must match"`
	None    string        `toml:"none" doc:"the answer that says that there is nothing new"`
	Running bool          `toml:"running" doc:"the answer only says whether the channel is at work: 0 is the value 0, anything else stands for what was acknowledged last"`
	Timeout time.Duration `toml:"timeout" bound:">= 0s, <= 1h" doc:"in place of reply_timeout"`

	Register *Register `toml:"register" doc:"modbus: where the value stands"`
}

// Write is how to set a value.
type Write struct {
	Out        string        `toml:"out" doc:"the command, with one conversion for the value, such as M 1 %.3f"`
	Ack        string        `toml:"ack" doc:"regular expression of the answer; absent: there is no answer"`
	Lasts      string        `toml:"lasts" enum:"ms,s,min" doc:"the command also says how long the value stands, in this unit, as a second conversion with a star: DC,%.2f,%*.3f; it is the variable's lease; absent: until it is changed"`
	Verify     *Verify       `toml:"verify" doc:"a question whose answer must agree with what was set"`
	Idempotent bool          `toml:"idempotent" doc:"sending the command twice is as good as once, so that it may be repeated where its answer was lost"`
	Done       *Done         `toml:"done" doc:"of a dose: what to ask until it is over; absent: it is over when it is acknowledged"`
	Timeout    time.Duration `toml:"timeout" bound:">= 0s, <= 1h" doc:"in place of reply_timeout"`

	Register *Register `toml:"register" doc:"modbus: where the value goes"`
}

// Done is a question that tells when a dose is over. What was given is then read.
type Done struct {
	Out     string        `toml:"out" required:"true" doc:"the question"`
	In      string        `toml:"in" required:"true" doc:"the form of the answer; 0: the dose is over"`
	Timeout time.Duration `toml:"timeout" bound:">= 0s, <= 24h" doc:"longest time that a dose takes; 0s: 10m"`
}

// Verify is a question that checks a write.
type Verify struct {
	Out       string  `toml:"out" required:"true" doc:"the question"`
	In        string  `toml:"in" required:"true" doc:"the form of the answer"`
	Tolerance float64 `toml:"tolerance" required:"true" unit:"the channel's" bound:">= 0" doc:"how far the answer may lie from what was set"`
}

// channel is one channel of the file, checked.
type channel struct {
	drivers.Channel
	index     int
	scale     float64
	offset    float64
	tolerance float64 // of Safe
	readable  bool
	// confirmed says that the instrument answers a write, or a release.
	writeConfirmed, releaseConfirmed bool
	bad                              bool // the last reading gave no value
	// stands is how long the next value is to stand, 0: nobody said; of channels that
	// last.
	stands time.Duration
	// most is the longest time that a dose takes.
	most time.Duration
}

// overload is where SCPI's stand-ins begin: 9.9e37 is an overload, 9.91e37 not a
// number (SCPI 1999, 7.2.1.5). No quantity is that large.
const overload = 9.9e37

// fromRaw turns what the instrument says into the channel's unit.
func (c *channel) fromRaw(raw float64) (float64, error) {
	if math.Abs(raw) >= overload {
		return 0, fmt.Errorf("%w: %g stands for an overload or for no number", errMismatch, raw)
	}
	v := c.scale*raw + c.offset
	if !finite(v) {
		return 0, fmt.Errorf("%w: %g times the scale %g is beyond all bounds", errMismatch, raw, c.scale)
	}
	return v, nil
}

// toRaw turns a value of the channel into the instrument's unit.
func (c *channel) toRaw(v float64) float64 { return (v - c.offset) / c.scale }

// accepts says whether a value may be set.
func (c *channel) accepts(v float64) error {
	switch {
	case !finite(v):
		return fmt.Errorf("channel %q cannot be set to %v", c.Name, v)
	case c.Access != drivers.ReadWrite:
		return fmt.Errorf("%w: channel %q is read-only; only one with write can be set", drivers.ErrRefused, c.Name)
	case v < c.Min || v > c.Max: // false where a limit is NaN, not known
		return fmt.Errorf("%w: channel %q cannot be set to %v %s; its limits are %v to %v", drivers.ErrRefused, c.Name, v, c.Unit, c.Min, c.Max)
	}
	return nil
}

// rounding is the relative error that a value may take from scale, offset and
// single precision.
const rounding = 1e-6

// nearLimit gives the limit in place of a value that lies beyond it by rounding.
func (c *channel) nearLimit(v float64) float64 {
	slack := rounding * (math.Abs(v) + math.Abs(c.offset))
	switch {
	case v < c.Min && v >= c.Min-slack:
		return c.Min
	case v > c.Max && v <= c.Max+slack:
		return c.Max
	}
	return v
}

// parseChannels checks what all protocols have in common, and gives every
// problem at once.
func parseChannels(options []ChannelOptions) ([]*channel, error) {
	var channels []*channel
	var problems []error
	seen := map[string]bool{}
	for i, o := range options {
		c, err := parseChannel(o)
		if err == nil && seen[o.Channel] {
			err = errors.New("is listed twice")
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("channel %q: %w", o.Channel, err))
			continue
		}
		seen[o.Channel] = true
		c.index = i
		channels = append(channels, c)
	}
	if len(options) == 0 {
		problems = append(problems, errors.New("there is no channel; write [device.channel.NAME] with read = { ... }, or name a profile that has some"))
	}
	return channels, errors.Join(problems...)
}

func parseChannel(o ChannelOptions) (*channel, error) {
	nan := math.NaN()
	c := &channel{scale: 1, offset: o.Offset, tolerance: o.SafeTolerance,
		Channel: drivers.Channel{Name: o.Channel, Unit: o.Unit, Min: nan, Max: nan, Safe: nan, Dose: o.Dose}}
	if err := o.checkDose(); err != nil {
		return nil, err
	}
	c.readable, c.most = o.Read != nil, doseMost
	if o.Write != nil && o.Write.Done != nil && o.Write.Done.Timeout > 0 {
		c.most = o.Write.Done.Timeout
	}
	switch {
	case o.Channel == "":
		return nil, errors.New("has no name")
	case o.Read == nil && o.Write == nil:
		return nil, errors.New("has neither read nor write")
	case o.Write == nil && o.Release != nil:
		return nil, errors.New("has release but no write; nothing that is not set can be released")
	case o.Write == nil && o.Safe != nil:
		return nil, fmt.Errorf("has safe = %v but no write to set it with", *o.Safe)
	}
	if o.Write != nil {
		c.Access, c.CanRelease = drivers.ReadWrite, o.Release != nil
	}
	for _, n := range []struct {
		key  string
		from *float64
		to   *float64
	}{{"scale", o.Scale, &c.scale}, {"min", o.Min, &c.Min}, {"max", o.Max, &c.Max}, {"safe", o.Safe, &c.Safe},
		{"offset", &o.Offset, &c.offset}, {"safe_tolerance", &o.SafeTolerance, &c.tolerance}} {
		if n.from == nil {
			continue
		}
		if !finite(*n.from) {
			return nil, fmt.Errorf("%s is %v and must be finite", n.key, *n.from)
		}
		*n.to = *n.from
	}
	switch {
	case c.scale == 0:
		return nil, errors.New("scale is 0; then every value would be the same")
	case c.tolerance < 0:
		return nil, fmt.Errorf("safe_tolerance is %v and must not be negative", c.tolerance)
	case c.Min >= c.Max:
		return nil, fmt.Errorf("min is %v and max %v; the first must be less", c.Min, c.Max)
	case c.Safe < c.Min || c.Safe > c.Max:
		return nil, fmt.Errorf("safe is %v and must lie within min and max, %v to %v", c.Safe, c.Min, c.Max)
	}
	return c, nil
}
