package driverstest

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/labtuner/tuner/drivers"
)

// Recorder holds the transcript of a device that [Record] wraps. It may be used
// from any goroutine.
type Recorder struct {
	mu         sync.Mutex
	transcript Transcript
}

// Transcript gives a copy of what was recorded so far.
func (r *Recorder) Transcript() Transcript {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.transcript
	t.Calls = slices.Clone(t.Calls)
	return t
}

// Record wraps a device. The wrapper is an Actuator or a Listener where dev is
// one, and answers as a SafeCloser as dev does. The values that it records are copies.
func Record(dev drivers.Device) (drivers.Device, *Recorder) {
	r := &Recorder{}
	actuator, canSet := dev.(drivers.Actuator)
	listener, speaks := dev.(drivers.Listener)
	r.transcript.Actuator, r.transcript.Listener = canSet, speaks
	if lapser, ok := dev.(drivers.SafeCloser); ok {
		r.transcript.Lapses = lapser.SafeOnClose()
	}
	parts := parts{device: recorded{dev, r}}
	if canSet {
		parts.actuator = recordedActuator{actuator, r}
	}
	if speaks {
		parts.listener = recordedListener{listener, r}
	}
	return parts.join(), r
}

// parts are what a device is made of; actuator and listener may be nil.
type parts struct {
	device   lasting
	actuator drivers.Actuator
	listener drivers.Listener
}

// lasting is a device that reports whether its outputs outlive it; to say that they
// do is the same as not to be a SafeCloser.
type lasting interface {
	drivers.Device
	drivers.SafeCloser
}

// join makes a device that is an Actuator and a Listener only where it has the
// part for it.
func (p parts) join() drivers.Device {
	switch {
	case p.actuator != nil && p.listener != nil:
		return struct {
			lasting
			drivers.Actuator
			drivers.Listener
		}{p.device, p.actuator, p.listener}
	case p.actuator != nil:
		return struct {
			lasting
			drivers.Actuator
		}{p.device, p.actuator}
	case p.listener != nil:
		return struct {
			lasting
			drivers.Listener
		}{p.device, p.listener}
	}
	return p.device
}

// begin reserves the place of a call in the transcript, for a call that blocks
// must stand before what happens meanwhile.
func (r *Recorder) begin(c Call) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.transcript.Calls = append(r.transcript.Calls, c)
	return len(r.transcript.Calls) - 1
}

// end fills in the answer.
func (r *Recorder) end(i int, offered []drivers.Channel, reading drivers.Reading, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &r.transcript.Calls[i]
	c.Offered, c.Reading, c.Err = slices.Clone(offered), maps.Clone(reading.Values), err
}

type recorded struct {
	drivers.Device
	r *Recorder
}

// SafeOnClose implements drivers.SafeCloser.
func (d recorded) SafeOnClose() bool { return d.r.Transcript().Lapses }

func (d recorded) Open(ctx context.Context) ([]drivers.Channel, error) {
	i := d.r.begin(Call{Op: OpOpen})
	offered, err := d.Device.Open(ctx)
	d.r.end(i, offered, drivers.Reading{}, err)
	return offered, err
}

func (d recorded) Read(ctx context.Context, channels []string) (drivers.Reading, error) {
	i := d.r.begin(Call{Op: OpRead, Channels: slices.Clone(channels)})
	reading, err := d.Device.Read(ctx, channels)
	d.r.end(i, nil, reading, err)
	return reading, err
}

func (d recorded) Close() error {
	i := d.r.begin(Call{Op: OpClose})
	err := d.Device.Close()
	d.r.end(i, nil, drivers.Reading{}, err)
	return err
}

type recordedActuator struct {
	drivers.Actuator
	r *Recorder
}

func (d recordedActuator) Write(ctx context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	i := d.r.begin(Call{Op: OpWrite, Values: maps.Clone(s.Values), Release: slices.Clone(s.Release), Dose: s.Dose})
	reading, err := d.Actuator.Write(ctx, s)
	d.r.end(i, nil, reading, err)
	return reading, err
}

func (d recordedActuator) Halt(ctx context.Context) error {
	i := d.r.begin(Call{Op: OpHalt})
	err := d.Actuator.Halt(ctx)
	d.r.end(i, nil, drivers.Reading{}, err)
	return err
}

type recordedListener struct {
	drivers.Listener
	r *Recorder
}

func (d recordedListener) Listen(sink func(drivers.Reading)) {
	d.Listener.Listen(func(reading drivers.Reading) {
		d.r.begin(Call{Op: OpSaid, Reading: maps.Clone(reading.Values)})
		sink(reading)
	})
}
