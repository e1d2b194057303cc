package mqtt

import (
	"errors"
	"fmt"

	"github.com/labtuner/tuner/drivers"
)

// checkDose refuses what a channel of doses cannot have, and one without a
// confirmation: that a message has left does not say that it has come.
func (o *ChannelOptions) checkDose() error {
	switch {
	case !o.Dose:
		return nil
	case o.Write == nil:
		return errors.New("has dose = true but no write topic to give it on")
	case o.Confirm == nil:
		return errors.New("has dose = true but no confirm topic; it would be unknown whether a dose was given")
	case o.Safe != nil:
		return fmt.Errorf("has safe = %v, which a halt would give; a dose has no safe value", *o.Safe)
	}
	return nil
}

// delivered is the reading of a dose that was confirmed: the amount, where the device
// says it.
func (d *Device) delivered(s drivers.Setpoints) (drivers.Reading, error) {
	r := drivers.Reading{At: d.env.Clock.Now()}
	for name := range s.Values {
		c := d.byName[name]
		if a := d.acked(c); a.hasDelivered {
			v, err := c.FromRaw(a.delivered)
			if err != nil {
				return r, fmt.Errorf("%w: channel %q: %w", drivers.ErrProtocol, name, err)
			}
			r.Values = map[string]float64{name: v}
		}
	}
	return r, nil
}

// certain reports whether a device that failed has certainly given nothing.
func certain(err error) bool {
	return errors.Is(err, drivers.ErrRefused) || errors.Is(err, drivers.ErrNotSent)
}
