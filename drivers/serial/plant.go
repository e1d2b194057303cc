package serial

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/labtuner/tuner/drivers"
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

// instrument answers what comes over the line.
type instrument interface {
	// hear takes bytes as they come and returns what is to be said.
	hear(ctx context.Context, data []byte) ([]byte, error)
	// reset forgets what was heard of an unfinished command.
	reset()
}

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
	err = drivers.Play(ctx, p.Device, haltTime, func(offered []drivers.Channel) error {
		promised := make([]drivers.Channel, len(described.channels))
		for i, c := range described.channels {
			promised[i] = c.Channel
		}
		if err := drivers.Lacking(p.Device, offered, promised); err != nil {
			return err
		}
		in, err := described.instrument(p.Device)
		if err != nil {
			return err
		}
		if simulated, ok := p.Device.(drivers.Spoiler); ok {
			in = spoilt{in, simulated}
		}
		return serveOn(ctx, described.opt.Path(), in)
	})
	if err != nil {
		return described.wrap(err)
	}
	return nil
}

// instrument makes the protocol's other side.
func (d *Device) instrument(dev drivers.Device) (instrument, error) {
	served := &served{dev: dev, log: d.env.Log}
	switch t := d.talk.(type) {
	case *lines:
		return newSpeaker(t, d.channels, served)
	case *modbus:
		return &server{talk: t, channels: d.channels, dev: served}, nil
	}
	return nil, fmt.Errorf("protocol %q cannot be served", d.opt.Protocol)
}

// spoilt is an instrument on a line that a simulated fault can spoil.
type spoilt struct {
	instrument
	wire drivers.Spoiler
}

func (s spoilt) hear(ctx context.Context, text []byte) ([]byte, error) {
	said, err := s.instrument.hear(ctx, text)
	if len(said) > 0 {
		said = s.wire.Spoil(said)
	}
	return said, err
}

// serveOn makes the port and lets the instrument answer on it until ctx ends.
func serveOn(ctx context.Context, path string, in instrument) (err error) {
	p, err := openPTY()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.unlink(path), p.Close()) }()
	if err := p.link(path); err != nil {
		return err
	}
	// A deadline in the past ends a Read that waits.
	stop := context.AfterFunc(ctx, func() { p.master.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	buf := make([]byte, 4096)
	for {
		n, gone, err := p.read(ctx, buf)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case gone:
			in.reset()
			continue
		}
		said, err := in.hear(ctx, buf[:n])
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		if err := p.say(said); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// sayLimit bounds how long an answer waits for somebody who does not read.
const sayLimit = 2 * time.Second

// say writes an answer; one that nobody takes is lost, as on a real line.
func (p *pty) say(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	if err := p.master.SetWriteDeadline(time.Now().Add(sayLimit)); err != nil {
		return err
	}
	_, err := p.master.Write(text)
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, unix.EIO) {
		return nil
	}
	return err
}

// served is the device behind an instrument.
type served struct {
	dev drivers.Device
	log *slog.Logger
	// doses counts those that were told, which have no names on this line.
	doses int
}

// shotEvery is how often a served device is asked for a shot that is awaited.
const shotEvery = 2 * time.Millisecond

// now reads channels once. A device that cannot be reached says nothing.
func (s *served) now(ctx context.Context, names []string) (map[string]float64, error) {
	r, err := s.dev.Read(ctx, names)
	if err != nil {
		if ctx.Err() == nil {
			s.log.Warn("the served device failed to read", slog.Any("error", err))
		}
		return nil, err
	}
	return r.Values, nil
}

// after reads channels at an instant after the call: what comes in shots is
// awaited for limit. Without an answer it returns nil.
func (s *served) after(ctx context.Context, names []string, limit time.Duration) map[string]float64 {
	if _, err := s.now(ctx, names); err != nil { // what was measured before the question
		return nil
	}
	for deadline := time.Now().Add(limit); ; {
		values, err := s.now(ctx, names)
		if err != nil {
			return nil
		}
		if len(values) == len(names) {
			return values
		}
		if time.Now().After(deadline) || pause(ctx, shotEvery) != nil {
			return nil
		}
	}
}

// write sets or releases one channel.
func (s *served) write(ctx context.Context, set drivers.Setpoints) error {
	a, ok := s.dev.(drivers.Actuator)
	if !ok {
		return fmt.Errorf("%w: the served device can only be read", drivers.ErrRefused)
	}
	_, err := a.Write(ctx, set)
	if err != nil && ctx.Err() == nil {
		s.log.Warn("the served device failed to write", slog.Any("error", err))
	}
	return err
}

// set sets one channel.
func (s *served) set(ctx context.Context, c *channel, v float64) error {
	set := drivers.Setpoints{Values: map[string]float64{c.Name: v}}
	if c.Dose {
		s.doses++
		set.Dose = fmt.Sprintf("line-%d", s.doses)
	}
	return s.write(ctx, set)
}

// halt brings the device to its safe state.
func (s *served) halt(ctx context.Context) error {
	a, ok := s.dev.(drivers.Actuator)
	if !ok {
		return nil
	}
	return a.Halt(ctx)
}
