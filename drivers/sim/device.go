package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/sim/optimum"
)

// Device returns the view of the plant that the device called name has: the
// channels that variables and sensors have on it. It is a drivers.Actuator too if
// one of them can be set. A name that no variable and no sensor uses gives a
// device without channels. A view is used as drivers.Device says; every call
// returns a new one, with its own memory of what it has read.
func (p *Plant) Device(name string) drivers.Device {
	v := &view{plant: p, name: name, seen: make([]uint64, len(p.layout.channels))}
	for _, c := range p.layout.channels {
		if c.device == name && c.variable >= 0 && p.opt.Variables[c.variable].Actuated {
			return &actuatorView{v}
		}
	}
	return v
}

// view implements drivers.Device.
type view struct {
	plant *Plant
	name  string
	open  atomic.Bool
	// seen holds, by channel, the number of the last shot that was read.
	seen []uint64
	// asked are the channels that Read was asked for last.
	asked []int
	// spoils says that a server puts the answers on a wire, where garbage and NaN
	// belong.
	spoils bool
}

// actuatorView implements drivers.Device and drivers.Actuator.
type actuatorView struct{ *view }

var (
	_ drivers.Device   = (*actuatorView)(nil)
	_ drivers.Actuator = (*actuatorView)(nil)
)

// Open returns the channels, variables before sensors. Every channel that can be
// set can be released.
func (v *view) Open(ctx context.Context) ([]drivers.Channel, error) {
	p := v.plant
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := v.advance(ctx); err != nil {
		return nil, err
	}
	var channels []drivers.Channel
	for _, c := range p.layout.channels {
		if c.device != v.name {
			continue
		}
		out := drivers.Channel{Name: c.name, Unit: c.unit, Min: math.NaN(), Max: math.NaN(), Safe: math.NaN()}
		if c.variable >= 0 {
			x := &p.opt.Variables[c.variable]
			out.Min, out.Max = x.limits()
			if x.Actuated {
				out.Access, out.Safe, out.CanRelease = drivers.ReadWrite, x.safe(), true
				if out.Dose = x.Dose; x.Dose {
					out.Min, out.Safe = 0, math.NaN()
				}
			}
		}
		channels = append(channels, out)
	}
	v.open.Store(true)
	return channels, nil
}

// Close ends the view; the plant goes on.
func (v *view) Close() error {
	v.open.Store(false)
	return nil
}

// advance advances the plant and reports whether the device answers now.
func (v *view) advance(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	v.plant.advance()
	if v.plant.faults.lost(v.name) {
		return fmt.Errorf("device %q does not answer: the link is lost (a simulated fault): %w", v.name, drivers.ErrUnavailable)
	}
	if !v.spoils && v.plant.faults.cut(faultGarbage, v.name) {
		return fmt.Errorf("device %q answers with garbage (a simulated fault): %w", v.name, drivers.ErrUnavailable)
	}
	return nil
}

// advanceOpen is reach for a device that must be open.
func (v *view) advanceOpen(ctx context.Context) error {
	if !v.open.Load() {
		return fmt.Errorf("device %q is not open: %w", v.name, drivers.ErrUnavailable)
	}
	return v.advance(ctx)
}

// Read returns a value for every channel asked for, but for a channel of shots
// only if there was a shot since it was last read, and then everything in the
// answer is of the instant of that shot: its settings too. Otherwise it is of
// now.
func (v *view) Read(ctx context.Context, channels []string) (drivers.Reading, error) {
	p := v.plant
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := v.advanceOpen(ctx); err != nil {
		return drivers.Reading{}, err
	}
	v.asked = sized(v.asked, len(channels))
	asked := v.asked
	fresh := false
	for i, name := range channels {
		c := p.layout.find(v.name, name)
		if c < 0 {
			return drivers.Reading{}, fmt.Errorf("device %q has no channel %q: %w", v.name, name, drivers.ErrRefused)
		}
		asked[i] = c
		fresh = fresh || v.newShot(c)
	}
	at, settings := p.now, p.shot.settings
	if fresh {
		at = p.shot.at
	} else {
		settings, _ = p.settings(at)
	}
	reading := drivers.Reading{Values: make(map[string]float64, len(asked)), At: p.stamp(v.name, at)}
	if !v.spoils && p.faults.cut(faultNaN, v.name) {
		return reading, nil
	}
	for _, c := range asked {
		if p.layout.event(c) && !v.newShot(c) {
			continue
		}
		if value, ok := p.channelValue(c, settings, at); ok {
			reading.Values[p.layout.channels[c].name] = value
		}
	}
	for _, c := range asked {
		v.seen[c] = p.shot.number
	}
	return reading, nil
}

// newShot reports whether channel c is one of shots and has a value that this view has
// not read.
func (v *view) newShot(c int) bool {
	p := v.plant
	return p.layout.event(c) && p.shot.number > v.seen[c] && p.shot.present[p.layout.channels[c].output]
}

// channelValue returns what channel c has to say at the instant at with these settings;
// false if a fault keeps it silent. A channel of shots had its faults at the time
// of the shot.
func (p *Plant) channelValue(c int, settings []float64, at time.Duration) (float64, bool) {
	if p.layout.event(c) {
		return p.shot.values[p.layout.channels[c].output], true
	}
	if p.faults.silent(c) {
		return 0, false
	}
	return p.corrupted(c, p.faultless(c, settings, at), uint64(at/spikeWindow)), true
}

// faultless returns what channel c, which is not one of shots, says without faults.
func (p *Plant) faultless(c int, settings []float64, at time.Duration) float64 {
	if i := p.layout.channels[c].variable; i >= 0 && p.opt.Variables[i].Dose {
		return p.lastDose[i].amount
	} else if i >= 0 {
		return p.readback(i, settings[i], at)
	}
	if s := &p.layout.outputs[p.layout.channels[c].output]; s.from != optimum.Reservoir {
		return s.value
	}
	return p.reservoir(p.layout.channels[c].unit, at)
}

// Write sets and releases channels and returns their readback. It is refused as a
// whole if any part of it is wrong. Asking for what is already so changes
// nothing: it starts no batch and no motion.
func (a *actuatorView) Write(ctx context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	p := a.plant
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := a.advanceOpen(ctx); err != nil {
		return drivers.Reading{}, err
	}
	if err := s.Late(p.clock.Now()); err != nil {
		return drivers.Reading{}, fmt.Errorf("%w: %w", drivers.ErrNotSent, err)
	}
	values := make(map[int]float64, len(s.Values))
	var problems []error
	for name, value := range s.Values {
		i, err := a.settable(name)
		if err == nil {
			err = p.accepts(i, value)
		}
		if err == nil && slices.Contains(s.Release, name) {
			err = fmt.Errorf("channel %q is both set and released: %w", name, drivers.ErrRefused)
		}
		if err != nil {
			problems = append(problems, err)
			continue
		}
		values[i] = value
	}
	var release []int
	for _, name := range s.Release {
		i, err := a.settable(name)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		release = append(release, i)
	}
	if err := errors.Join(problems...); err != nil {
		return drivers.Reading{}, err
	}
	p.command(p.doseAll(values, s.Dose), release)
	return a.written(values, release), nil
}

// settable returns the variable that the channel called name sets.
func (a *actuatorView) settable(name string) (int, error) {
	c := a.plant.layout.find(a.name, name)
	if c < 0 {
		return 0, fmt.Errorf("device %q has no channel %q: %w", a.name, name, drivers.ErrRefused)
	}
	i := a.plant.layout.channels[c].variable
	if i < 0 || !a.plant.opt.Variables[i].Actuated {
		return 0, fmt.Errorf("channel %q of device %q cannot be set: %w", name, a.name, drivers.ErrRefused)
	}
	return i, nil
}

// accepts reports whether variable i can be set to value.
func (p *Plant) accepts(i int, value float64) error {
	v := &p.opt.Variables[i]
	low, high := v.limits()
	if v.Dose {
		low = 0
	}
	if !(value >= low && value <= high) { // NaN too
		return fmt.Errorf("channel %q was asked for %v %s; it takes %v to %v: %w",
			v.Channel, value, v.Unit, low, high, drivers.ErrRefused)
	}
	return nil
}

// command carries out a write that was found right. All knobs turn at once.
func (p *Plant) command(values map[int]float64, release []int) {
	changed, targets := false, []int{}
	for i := range p.knobs {
		k, v := &p.knobs[i], &p.opt.Variables[i]
		motor, optic := p.position(i, p.now)
		if value, set := values[i]; set && (k.released || v.nearest(value) != k.setpoint) {
			k.setpoint, k.released = v.nearest(value), false
			k.redirect(p.now, motor, optic, v.High-v.Low)
			changed = true
			if p.dosed(i) {
				targets = append(targets, i)
			}
		}
		if slices.Contains(release, i) && !k.released {
			// A released knob whose environment does nothing stays where it is.
			k.released = true
			k.redirect(p.now, motor, optic, v.High-v.Low)
			changed = true
		}
	}
	if p.tank != nil {
		p.doseTargets(targets)
	}
	if changed {
		p.cadence.restart(p.now)
	}
}

// written returns the readback of what a write named.
func (a *actuatorView) written(values map[int]float64, release []int) drivers.Reading {
	p := a.plant
	settings, _ := p.settings(p.now)
	reading := drivers.Reading{Values: map[string]float64{}, At: p.stamp(a.name, p.now)}
	for c, channel := range p.layout.channels {
		i := channel.variable
		if channel.device != a.name || i < 0 {
			continue
		}
		if _, set := values[i]; !set && !slices.Contains(release, i) {
			continue
		}
		if value, ok := p.channelValue(c, settings, p.now); ok {
			reading.Values[channel.name] = value
		}
	}
	return reading
}

// Halt sends every channel of the device that can be set to its safe value.
func (a *actuatorView) Halt(ctx context.Context) error {
	p := a.plant
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := a.advanceOpen(ctx); err != nil {
		return err
	}
	values := map[int]float64{}
	for _, c := range p.layout.channels {
		if c.device == a.name && c.variable >= 0 && p.opt.Variables[c.variable].Actuated && !p.opt.Variables[c.variable].Dose {
			values[c.variable] = p.opt.Variables[c.variable].safe()
		}
	}
	p.command(values, nil)
	return nil
}
