package serial

import (
	"context"

	"github.com/labtuner/tuner/drivers"
)

// readyFor is ready for a write. A safe one does not wait for a next attempt to connect, and
// leaves at once over a line on which the two sides may be out of step; it is then written
// again, and confirmed, when they have found together. left says that something may have left.
func (d *Device) readyFor(ctx context.Context, s drivers.Setpoints) (left bool, err error) {
	switch {
	case !s.Safe:
	case d.link == nil:
		return false, d.connect(ctx)
	case d.doubt != nil:
		if err := d.sayBlindly(ctx, s); err != nil {
			return true, d.lose(err)
		}
		left = true
	}
	return left, d.ready(ctx)
}

// sayBlindly sends commands without waiting for what is answered.
func (d *Device) sayBlindly(ctx context.Context, s drivers.Setpoints) error {
	release := map[string]bool{}
	for _, name := range s.Release {
		release[name] = true
	}
	for _, c := range d.channels {
		v, set := s.Values[c.Name]
		if !set && !release[c.Name] {
			continue
		}
		if err := d.talk.Say(ctx, d.link, c, v, !set); err != nil {
			return err
		}
	}
	return nil
}
