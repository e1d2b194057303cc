package thiscomputer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// Device is this computer as an instrument. It is a [drivers.Actuator]; none of
// its channels can be released.
type Device struct {
	env drivers.Env

	mu         sync.Mutex // guards open and cancel, which Close shares with the caller
	open       bool
	cancel     context.CancelFunc // of the running job
	compressor compressor
	knobs      setting
}

var _ drivers.Actuator = (*Device)(nil)

// safeSetting is where Halt brings the knobs: flate's own default effort, one worker.
var safeSetting = setting{level: 6, block: 64, workers: 1}

// knob is one channel that can be set.
type knob struct {
	channel drivers.Channel
	of      func(*setting) *int
}

// knobs lists what can be set, in the device's order.
func knobs() []knob {
	rw := func(name, unit string, lo, hi, safe int) drivers.Channel {
		return drivers.Channel{Name: name, Unit: unit, Access: drivers.ReadWrite, Min: float64(lo), Max: float64(hi), Safe: float64(safe)}
	}
	return []knob{
		{rw("level", "1", 1, 9, safeSetting.level), func(s *setting) *int { return &s.level }},
		{rw("block", "KiB", 4, 1024, safeSetting.block), func(s *setting) *int { return &s.block }},
		{rw("workers", "1", 1, 8, safeSetting.workers), func(s *setting) *int { return &s.workers }},
	}
}

// The measured channels.
const (
	throughput = "throughput"
	ratio      = "ratio"
)

// New makes the device. Nothing is allocated before Open.
func New(env drivers.Env) drivers.Device { return &Device{env: env} }

// Open makes the text, which takes about 0.1 s and 4 MiB, and sets the knobs to
// their safe values.
func (d *Device) Open(ctx context.Context) ([]drivers.Channel, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("thiscomputer: %w", err)
	}
	if d.env.Clock == nil {
		return nil, errors.New("thiscomputer: the environment has no clock")
	}
	d.compressor, d.knobs = compressor{text: corpus(corpusSize)}, safeSetting
	d.mu.Lock()
	d.open = true
	d.mu.Unlock()
	var channels []drivers.Channel
	for _, k := range knobs() {
		channels = append(channels, k.channel)
	}
	nan := math.NaN()
	return append(channels,
		drivers.Channel{Name: throughput, Unit: "MB/s", Min: nan, Max: nan, Safe: nan},
		drivers.Channel{Name: ratio, Unit: "1", Min: nan, Max: nan, Safe: nan}), nil
}

// begin gives the context of one call, which Close ends.
func (d *Device) begin(ctx context.Context) (context.Context, context.CancelFunc, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.open {
		return nil, nil, errors.New("thiscomputer: not open; open the device first")
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, fmt.Errorf("thiscomputer: %w", err)
	}
	ctx, d.cancel = context.WithCancel(ctx)
	return ctx, d.cancel, nil
}

// Read gives the knobs as they are set and, where throughput or ratio is asked
// for, runs one job; see the package. At is the job's end.
func (d *Device) Read(ctx context.Context, channels []string) (drivers.Reading, error) {
	ctx, cancel, err := d.begin(ctx)
	if err != nil {
		return drivers.Reading{}, err
	}
	defer cancel()
	values := make(map[string]float64, len(channels))
	measure := false
	list := knobs()
	for _, name := range channels {
		if name == throughput || name == ratio {
			measure = true
			continue
		}
		i := slices.IndexFunc(list, func(k knob) bool { return k.channel.Name == name })
		if i < 0 {
			return drivers.Reading{}, fmt.Errorf("thiscomputer: there is no channel %q", name)
		}
		values[name] = float64(*list[i].of(&d.knobs))
	}
	if !measure {
		return drivers.Reading{Values: values, At: d.env.Clock.Now()}, nil
	}
	if err := d.compressor.prepare(d.knobs); err != nil {
		return drivers.Reading{}, fmt.Errorf("thiscomputer: %w", err)
	}
	began := d.env.Clock.Now()
	size, err := d.compressor.run(ctx, d.knobs)
	ended := d.env.Clock.Now()
	if err != nil {
		return drivers.Reading{}, fmt.Errorf("thiscomputer: job: %w", err)
	}
	took := ended.Sub(began)
	if took < time.Microsecond {
		return drivers.Reading{}, fmt.Errorf("thiscomputer: the clock says that the job took %v; it stands still", took)
	}
	measured := map[string]float64{
		throughput: jobSize / 1e6 / took.Seconds(),
		ratio:      jobSize / float64(size),
	}
	for _, name := range channels {
		if v, is := measured[name]; is {
			values[name] = v
		}
	}
	return drivers.Reading{Values: values, At: ended}, nil
}

// Write sets knobs, each rounded to the next whole number, and returns all of
// the written ones as they now are. A value outside a knob's limits is refused,
// and then none is set.
func (d *Device) Write(ctx context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	_, cancel, err := d.begin(ctx)
	if err != nil {
		return drivers.Reading{}, err
	}
	defer cancel()
	if len(s.Release) > 0 {
		return drivers.Reading{}, fmt.Errorf("thiscomputer: %w: channel %q cannot be released", drivers.ErrRefused, s.Release[0])
	}
	if err := s.Late(d.env.Clock.Now()); err != nil {
		return drivers.Reading{}, fmt.Errorf("thiscomputer: %w: %w", drivers.ErrNotSent, err)
	}
	wanted, readback := d.knobs, map[string]float64{}
	list := knobs()
	for name, v := range s.Values {
		i := slices.IndexFunc(list, func(k knob) bool { return k.channel.Name == name })
		switch {
		case name == throughput || name == ratio:
			return drivers.Reading{}, fmt.Errorf("thiscomputer: %w: channel %q is measured and cannot be set", drivers.ErrRefused, name)
		case i < 0:
			return drivers.Reading{}, fmt.Errorf("thiscomputer: there is no channel %q", name)
		}
		c := list[i].channel
		if !(v >= c.Min && v <= c.Max) { // so written, NaN is refused too
			return drivers.Reading{}, fmt.Errorf("thiscomputer: %w: %s cannot be set to %v %s; its limits are %v to %v", drivers.ErrRefused, name, v, c.Unit, c.Min, c.Max)
		}
		*list[i].of(&wanted) = int(math.Round(v))
		readback[name] = math.Round(v)
	}
	d.knobs = wanted
	return drivers.Reading{Values: readback, At: d.env.Clock.Now()}, nil
}

// Halt sets the knobs to their safe values; no job runs between calls.
func (d *Device) Halt(ctx context.Context) error {
	_, cancel, err := d.begin(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	d.knobs = safeSetting
	return nil
}

// Close ends a running job after its current blocks. The text stays with the
// device until the next Open replaces it.
func (d *Device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open = false
	if d.cancel != nil {
		d.cancel()
	}
	return nil
}
