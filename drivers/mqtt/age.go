package mqtt

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/labtuner/tuner/drivers/exec/wire"
	"github.com/labtuner/tuner/drivers/mqtt/link"
)

// clockTolerance is how far the clocks of a device and of this computer may lie apart before it
// counts. Not less: without a network clock a small device is seconds off. Not more: what a
// bridge repeats from its memory is told from news by it.
const clockTolerance = 5 * time.Second

// takenAt is when the channel's value in a message was measured: on its arrival where it has
// just been said, and when the device says where the broker had kept it. A value that
// was said live, and is older than the clocks can differ, is one that was repeated: it counts
// as of the device's time as well.
func (c *channel) takenAt(m link.Arrived, root any) (time.Time, error) {
	if c.timePath == nil {
		return m.At, nil
	}
	said, there := c.timePath.find(root)
	if !there {
		return m.At, fmt.Errorf("%s has nothing at time_path", wire.Quote(m.Payload))
	}
	at, err := timeOf(said)
	if err != nil {
		return m.At, err
	}
	age := m.At.Round(0).Sub(at) // by the wall clocks of both
	switch {
	case age < -clockTolerance:
		return m.At, fmt.Errorf("the device's time is %s, %v ahead of this computer's: how old the value is cannot be known; set the device's clock", at.UTC().Format(time.RFC3339), (-age).Round(time.Second))
	case age < 0, !m.Retained && age <= clockTolerance:
		return m.At, nil
	}
	return m.At.Add(-age), nil
}

// timeOf reads a device's time: ISO 8601 with its zone, or seconds or milliseconds since 1970.
func timeOf(v any) (time.Time, error) {
	switch t := v.(type) {
	case float64:
		if t > millisecondsFrom {
			t /= 1000
		}
		if t < 0 || t > millisecondsFrom {
			return time.Time{}, fmt.Errorf("%g is no time in seconds or milliseconds since 1970", v)
		}
		whole, part := math.Modf(t)
		return time.Unix(int64(whole), int64(part*1e9)), nil
	case string:
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700", "2006-01-02 15:04:05.999999999Z07:00"} {
			if at, err := time.Parse(layout, t); err == nil {
				return at, nil
			}
		}
		if _, err := time.Parse("2006-01-02T15:04:05", t); err == nil {
			return time.Time{}, fmt.Errorf("the time %q has no zone: have the device say one, such as %q", t, t+"+01:00")
		}
		return time.Time{}, fmt.Errorf("%s is no time; ISO 8601 with a zone is one, such as 2026-03-01T12:00:00+01:00, or seconds since 1970", wire.Quote([]byte(t)))
	}
	text, err := json.Marshal(v)
	return time.Time{}, errors.Join(fmt.Errorf("%s is no time", wire.Quote(text)), err)
}

// millisecondsFrom is the number from which a time is in milliseconds: in seconds it is in the
// year 5138, in milliseconds in 1973.
const millisecondsFrom = 1e11
