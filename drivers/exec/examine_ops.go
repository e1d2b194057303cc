package exec

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/labtuner/tuner/drivers"
)

const (
	// examinedReads is how many readings the latency is measured over.
	examinedReads = 20
	// noSuchChannel is a name that no child offers.
	noSuchChannel = "no-such-channel"
	// latencyShare of reply_timeout is what a reading may take without a word.
	latencyShare = 0.5
)

// conversation examines a child in one life; it reports whether there is a child
// to go on with.
func (x *examiner) conversation(moving bool) bool {
	start := time.Now()
	d, channels, err := x.begin()
	if err != nil {
		x.fails("hello", "the child speaks first; drivers/exec/README.md shows the protocol on one page", err)
		return false
	}
	c := d.child
	x.passed("hello", "%d channels, %v after the start", len(channels), time.Since(start).Round(time.Millisecond))
	x.passed("unknown operation", "refused with %q, and an unknown key did no harm", CodeUnknownOp)
	whole := x.readings(d, channels) &&
		x.refusals(d, c, channels) &&
		x.safeTwice(d, channels) &&
		x.writes(d, channels, moving) &&
		x.bye(d)
	if !whole { // the fault has dismissed the child
		return d.Close() == nil
	}
	x.ends("end of input", c)
	return d.Close() == nil
}

// bye says the last word, holding nothing: a child knows it, or refuses it as it does what it does
// not know.
func (x *examiner) bye(d *Device) bool {
	err := d.Keep(x.ctx, nil)
	var refused *RefusedError
	switch {
	case err == nil && !d.holds.Load():
		x.warning("bye", `say "holds":true in the hello, so that a run ends at the setting that it found`, "taken, and the hello does not say that outputs can be held")
	case err == nil:
		x.passed("bye", "taken: an output whose shutdown is \"hold\" stays as it is when tuner has ended")
	case errors.As(err, &refused) && refused.Code == CodeUnknownOp && !d.holds.Load():
		x.passed("bye", "refused with %q: every output goes safe when tuner has ended, also where shutdown is \"hold\"", CodeUnknownOp)
	case errors.As(err, &refused):
		x.warning("bye", `a child that says "holds":true keeps what a bye names; one that cannot leaves it out, and refuses the operation with the code "unknown_op"`, "%v", err)
	default:
		x.fails("bye", "answer operations that are not known with the code \"unknown_op\"", err)
		return false
	}
	return true
}

// readings reads each channel by itself, then all together, and times it.
func (x *examiner) readings(d *Device, channels []drivers.Channel) bool {
	var all, silent []string
	for _, c := range channels {
		all = append(all, c.Name)
		r, err := d.Read(x.ctx, []string{c.Name})
		var refused *RefusedError
		switch {
		case errors.As(err, &refused):
			x.warning("read "+c.Name, "answer without the value where there is nothing new", "%v", err)
			continue
		case err != nil:
			x.fails("read "+c.Name, "", err)
			return false
		}
		v, there := r.Values[c.Name]
		if !there {
			silent = append(silent, c.Name)
			continue
		}
		if v < c.Min || v > c.Max {
			x.warning("read "+c.Name, "", "%v %s lies outside the channel's own limits, %v to %v", v, c.Unit, c.Min, c.Max)
			continue
		}
		x.passed("read "+c.Name, "%v %s", v, c.Unit)
	}
	for _, name := range silent {
		x.warning("read "+name, "right where nothing new was measured; a sensor that never has a value gives no data", "nothing new")
	}
	return x.latency(d, all)
}

// latency reads all channels some times.
func (x *examiner) latency(d *Device, all []string) bool {
	took := make([]time.Duration, 0, examinedReads)
	for range examinedReads {
		start := time.Now()
		_, err := d.Read(x.ctx, all)
		var refused *RefusedError
		if err != nil && !errors.As(err, &refused) {
			x.fails("read all at once", "", err)
			return false
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	median, longest := took[examinedReads/2], took[examinedReads-1]
	text := fmt.Sprintf("%d times: median %v, longest %v; reply_timeout is %v",
		examinedReads, median.Round(time.Microsecond), longest.Round(time.Microsecond), x.options.ReplyTimeout)
	if float64(longest) > latencyShare*float64(x.options.ReplyTimeout) {
		x.warning("read all at once", "give the device a longer reply_timeout: an answer after it ends the child", "%s", text)
		return true
	}
	x.passed("read all at once", "%s", text)
	return true
}

// refusals asks for what must be refused.
func (x *examiner) refusals(d *Device, c *child, channels []drivers.Channel) bool {
	if !x.refuses(d, c, "read of an unknown channel", request{Op: opRead, Channels: []string{noSuchChannel}}) {
		return false
	}
	i := slices.IndexFunc(channels, func(c drivers.Channel) bool { return c.Access == drivers.ReadOnly })
	if i < 0 {
		x.skipped("write to a channel that is only read", "every channel can be written")
		return true
	}
	return x.refuses(d, c, "write to a channel that is only read",
		request{Op: opWrite, Values: map[string]float64{channels[i].Name: 0}})
}

func (x *examiner) refuses(d *Device, c *child, name string, req request) bool {
	_, _, err := d.call(x.ctx, c, req)
	var refused *RefusedError
	switch {
	case errors.As(err, &refused):
		x.passed(name, "refused with %q", refused.Code)
	case err != nil:
		x.fails(name, "", err)
		return false
	default:
		x.fails(name, `answer {"ok":false,"error":{"code":"...","message":"..."}}`, errors.New("the child said ok"))
	}
	return true
}

// safeTwice sends "safe" two times and looks at what it did.
func (x *examiner) safeTwice(d *Device, channels []drivers.Channel) bool {
	for _, name := range []string{"safe", "safe again"} {
		if err := d.Halt(x.ctx); err != nil {
			x.fails(name, "safe can be called at any time, as often as it takes, and says ok only once the outputs are safe", err)
			return errors.Is(err, drivers.ErrRefused)
		}
		x.passed(name, "confirmed")
	}
	for _, c := range channels {
		if c.Access != drivers.ReadWrite || math.IsNaN(c.Safe) {
			continue
		}
		r, err := d.Read(x.ctx, []string{c.Name})
		v, there := r.Values[c.Name]
		name := c.Name + " after safe"
		switch {
		case err != nil:
			x.fails(name, "", err)
			return false
		case !there:
			x.skipped(name, "the child has no value of it")
		case math.Abs(v-c.Safe) > safeTolerance(c):
			x.warning(name, "say ok to safe only once the output is there", "%v %s, where the hello promises %v %s", v, c.Unit, c.Safe, c.Unit)
		default:
			x.passed(name, "%v %s", v, c.Unit)
		}
	}
	return true
}

// safeTolerance is how far a readback may lie from the safe value: a hundredth of the
// range, since readbacks are measured.
func safeTolerance(c drivers.Channel) float64 {
	if span := c.Max - c.Min; span > 0 && !math.IsInf(span, 0) {
		return span / 100
	}
	return 1e-6 * (1 + math.Abs(c.Safe))
}

// writes sets every channel to its safe value and lets go of what can be.
func (x *examiner) writes(d *Device, channels []drivers.Channel, moving bool) bool {
	if !moving {
		x.skipped("write", "--write writes each channel's safe value and releases it")
		return true
	}
	for _, c := range channels {
		if c.Access != drivers.ReadWrite {
			continue
		}
		if c.Dose {
			x.skipped("write "+c.Name, "it would give a dose")
		} else if math.IsNaN(c.Safe) {
			x.skipped("write "+c.Name, "the hello gives no safe value that could be written")
		} else if !x.write(d, "write "+c.Name, drivers.Setpoints{Values: map[string]float64{c.Name: c.Safe}}) {
			return false
		}
		if c.CanRelease && !x.write(d, "release "+c.Name, drivers.Setpoints{Release: []string{c.Name}}) {
			return false
		}
	}
	return x.safeTwice(d, channels)
}

func (x *examiner) write(d *Device, name string, s drivers.Setpoints) bool {
	r, err := d.Write(x.ctx, s)
	if err != nil {
		x.fails(name, `a channel that cannot be released says "release":false`, err)
		return errors.Is(err, drivers.ErrRefused)
	}
	for channel, v := range s.Values {
		if got, there := r.Values[channel]; !there {
			x.warning(name, "answer with what the device really did: tuner learns from it", "done, without a readback")
		} else {
			x.passed(name, "set to %v, readback %v", v, got)
		}
	}
	if len(s.Values) == 0 {
		x.passed(name, "done")
	}
	return true
}
