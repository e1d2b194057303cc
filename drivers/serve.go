package drivers

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrKept says that a served device is to be left as it stands.
var ErrKept = errors.New("left as it stands")

// ServeDevice opens a device for a program that plays its instrument over some transport, has run
// answer in its place, and then halts the device, where it can be set, and closes it. That
// takes patience at most and happens however run ended, ctx over or not; but where run gives
// ErrKept, the device is closed as it stands. The error joins what all of them said.
func ServeDevice(ctx context.Context, d Device, patience time.Duration, run func(offered []Channel) error) (err error) {
	if d == nil {
		return errors.New("there is no device to serve")
	}
	offered, err := d.Open(ctx)
	if err != nil {
		return fmt.Errorf("open the served device: %w", errors.Join(err, d.Close()))
	}
	defer func() {
		if errors.Is(err, ErrKept) {
			err = d.Close()
			return
		}
		// The caller's context may be over; going safe must not be.
		halting, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		if actuator, ok := d.(Actuator); ok {
			err = errors.Join(err, actuator.Halt(halting))
		}
		err = errors.Join(err, d.Close())
	}()
	return run(offered)
}

// MissingChannels says what a served device does not have of the channels that its description
// promises; nil where it has all.
func MissingChannels(d Device, offered, promised []Channel) error {
	by := map[string]Channel{}
	for _, o := range offered {
		by[o.Name] = o
	}
	_, canSet := d.(Actuator)
	var problems []error
	for _, c := range promised {
		o, there := by[c.Name]
		switch {
		case !there:
			problems = append(problems, fmt.Errorf("the served device has no channel %q", c.Name))
		case c.Access == ReadWrite && (!canSet || o.Access != ReadWrite):
			problems = append(problems, fmt.Errorf("channel %q is to be written, but the served device can only read it", c.Name))
		case c.Dose != o.Dose:
			problems = append(problems, fmt.Errorf("channel %q has dose = %v, and the served device says %v", c.Name, c.Dose, o.Dose))
		case c.CanRelease && !o.CanRelease:
			problems = append(problems, fmt.Errorf("channel %q is to be released, but the served device cannot release it", c.Name))
		}
	}
	return errors.Join(problems...)
}
