package serial

import (
	"context"
	"log/slog"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/port"
	"github.com/labtuner/tuner/drivers/serial/protocol"
)

// Plant is the other side of a serial device: any device, speaking as the
// description says on a pseudo-terminal that Port is a link to.
type Plant struct {
	Options  Options
	Channels []ChannelOptions
	// Device is what is served. It must have every channel by its name.
	Device drivers.Device
	Env    drivers.Env
}

// haltTime bounds the last Halt of Serve.
const haltTime = 5 * time.Second

// Serve opens the device, makes the port and answers on it until ctx ends, in
// the words that the driver reads: the same description serves both. It then
// halts and closes the device; its error is what these said, or nil. What an
// expression such as identify.match must match is answered with a text that
// does.
//
// A value that comes in shots is answered with the first shot after the question,
// for which the answer waits up to four fifths of the reply timeout; where none
// comes there is no answer. A channel with read.none answers at once, with it
// where there was no shot since the question before.
func Serve(ctx context.Context, p Plant) error {
	if p.Env.Log == nil {
		p.Env.Log = slog.New(slog.DiscardHandler)
	}
	// The description is checked as a device's.
	described, err := New(p.Options, p.Channels, p.Env)
	if err != nil {
		return err
	}
	err = drivers.ServeDevice(ctx, p.Device, haltTime, func(offered []drivers.Channel) error {
		promised := make([]drivers.Channel, len(described.channels))
		for i, c := range described.channels {
			promised[i] = c.Channel
		}
		if err := drivers.MissingChannels(p.Device, offered, promised); err != nil {
			return err
		}
		in, err := described.talk.Instrument(described.channels, &protocol.Served{Dev: p.Device, Log: described.env.Log})
		if err != nil {
			return err
		}
		if simulated, ok := p.Device.(drivers.Corrupter); ok {
			in = spoilt{in, simulated}
		}
		return port.Serve(ctx, described.opt.Path(), in)
	})
	if err != nil {
		return described.wrap(err)
	}
	return nil
}

// spoilt is an instrument on a line that a simulated fault can spoil.
type spoilt struct {
	port.Instrument
	wire drivers.Corrupter
}

func (s spoilt) Hear(ctx context.Context, text []byte) ([]byte, error) {
	said, err := s.Instrument.Hear(ctx, text)
	if len(said) > 0 {
		said = s.wire.Corrupt(said)
	}
	return said, err
}
