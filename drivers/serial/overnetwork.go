package serial

import (
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/port"
)

// build makes the device of a file.
func build(o Options, channels []ChannelOptions, env drivers.Env) (drivers.Device, error) {
	d, err := New(o, channels, env)
	if err != nil || !d.network {
		return d, err
	}
	return overNetwork{d}, nil
}

// overNetwork is a device on a port of the network, where a command may be on its way for longer
// than the call that sent it.
type overNetwork struct{ *Device }

// MaxDelay implements [drivers.DelayedActuator]: what is not confirmed for so long is thrown
// away by this computer.
func (d overNetwork) MaxDelay() time.Duration { return port.Connecting(d.opt.ReplyTimeout) }

// LastLoss implements [drivers.DelayedActuator].
func (d overNetwork) LastLoss() time.Time {
	d.lossMu.Lock()
	defer d.lossMu.Unlock()
	return d.loss
}
