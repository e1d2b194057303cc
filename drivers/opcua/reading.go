package opcua

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/gopcua/opcua/ua"

	"github.com/labtuner/tuner/drivers"
)

// latest is the last value of a channel, or why it has none.
type latest struct {
	value float64
	at    time.Time
	why   error // not nil: the last word was no data
	known bool
	stamp time.Time // of the last word, where one makes it a measurement
}

// word turns what the server says of a channel into a value and when it was taken, by our clock.
// fresh is false where it is the same measurement as before. theirs is the server's clock when it
// said so, ours is when that came.
func (c *channel) word(v *ua.DataValue, before, theirs, ours time.Time, tolerance time.Duration) (value float64, at, stamp time.Time, fresh bool, err error) {
	at, fresh = ours, true
	switch c.stamp {
	case stampSource:
		stamp = v.SourceTimestamp
	case stampServer:
		stamp = v.ServerTimestamp
	}
	if c.stamp != stampRead && !stamp.IsZero() {
		// An older one comes late, unless the clock was set back behind what was heard.
		fresh = stamp.After(before) || !stamp.Equal(before) && !theirs.IsZero() && theirs.Before(before.Add(-tolerance))
	}
	switch {
	case isGood(v.Status), isUncertain(v.Status) && c.take:
	case isUncertain(v.Status):
		return 0, at, stamp, fresh, fmt.Errorf("its quality is uncertain: %w; uncertain = \"take\" takes it", v.Status)
	default:
		return 0, at, stamp, fresh, fmt.Errorf("its quality is bad: %w", v.Status)
	}
	if c.stamp != stampRead {
		if stamp.IsZero() {
			return 0, at, stamp, fresh, fmt.Errorf("it has no %s timestamp; stamp = \"read\" asks for it and counts its answer", c.stamp)
		}
		age := theirs.Sub(stamp)
		if theirs.IsZero() {
			age = 0 // the server does not tell its clock: as of when it came
		}
		if age < -tolerance {
			return 0, at, stamp, fresh, fmt.Errorf("its %s timestamp is %v ahead of the server's clock; see clock_tolerance", c.stamp, -age.Round(time.Millisecond))
		}
		at = ours.Add(-max(0, age))
	}
	if value, err = number(v.Value); err != nil {
		return 0, at, stamp, fresh, err
	}
	value, err = c.FromRaw(value)
	return value, at, stamp, fresh, err
}

// hear takes in values of a connection, and hands those on that are new: what was taken at one instant is
// one reading. A connection that was replaced says nothing any more: what it still brings was taken before
// what the next one has told, and would pass for new at a server whose clock was set back.
func (d *Device) hear(c *connection, channels []*channel, values []heard, theirs, ours time.Time) {
	var readings []drivers.Reading
	d.mu.Lock()
	if d.conn != c {
		d.mu.Unlock()
		return
	}
	for _, h := range values {
		c := channels[h.index]
		l := d.latest[c.Name]
		value, at, stamp, fresh, err := c.word(h.value, l.stamp, theirs, ours, d.options.ClockTolerance)
		switch {
		case err != nil:
			if l.why == nil || l.why.Error() != err.Error() {
				d.env.Log.Warn("no data", slog.String("channel", c.Name), slog.Any("node", c.read), slog.Any("error", err))
			}
			l.why, l.known = err, false
		case fresh:
			if l.why != nil {
				d.env.Log.Info("data again", slog.String("channel", c.Name))
			}
			l = latest{value: value, at: at, known: true, stamp: stamp}
			i := slices.IndexFunc(readings, func(r drivers.Reading) bool { return r.At.Equal(at) })
			if i < 0 {
				i = len(readings)
				readings = append(readings, drivers.Reading{At: at, Values: map[string]float64{}})
			}
			readings[i].Values[c.Name] = value
		}
		d.latest[c.Name] = l
	}
	d.mu.Unlock()
	if d.sink == nil {
		return
	}
	d.saying.Lock()
	defer d.saying.Unlock()
	for _, r := range readings {
		d.sink(r)
	}
}

// poll asks for what is read by asking, and sees that the server answers, until the connection
// ends.
func (d *Device) poll(c *connection, channels []*channel, asked []int) {
	every := time.NewTicker(d.options.Poll)
	defer every.Stop()
	for {
		if err := d.askAll(c, channels, asked); err != nil && !errors.Is(err, drivers.ErrRefused) {
			return // the connection has ended
		}
		select {
		case <-every.C:
		case <-d.askNow:
		case <-c.gone:
			return
		}
	}
}

// askAll asks once.
func (d *Device) askAll(c *connection, channels []*channel, asked []int) error {
	var of []*channel
	for _, i := range asked {
		of = append(of, channels[i])
	}
	a, err := c.ask(c.ctx, append(valuesOf(of), serverState()))
	if err != nil {
		return err
	}
	now := d.env.Clock.Now()
	var values []heard
	for k, i := range asked {
		if a.Results[k] != nil {
			values = append(values, heard{i, a.Results[k]})
		}
	}
	d.hear(c, channels, values, a.ResponseHeader.Timestamp, now)
	return nil
}

// serverState is a node that every server has.
func serverState() *ua.ReadValueID {
	return &ua.ReadValueID{NodeID: ua.NewNumericNodeID(0, 2259), AttributeID: ua.AttributeIDValue} // Server_ServerStatus_State
}
