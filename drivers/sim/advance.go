package sim

import "github.com/labtuner/tuner/drivers/sim/optimum"

import (
	"math"
	"time"
)

// advance brings the plant up to the clock's present time: faults begin and end
// at their times, and the latest shot is captured. The caller holds mu.
//
// Nothing else happens by itself. Settings are closed forms of the time since the
// last change, and a change first advances the plant to its own instant, so every
// shot sees the settings of its own time however late it is looked at.
func (p *Plant) advance() {
	t := max(p.clock.Now().Sub(p.epoch), p.now)
	for p.renews {
		end := p.cadence.at(p.cadence.by(p.now) + 1)
		if end > t {
			break
		}
		p.advanceTo(end)
		p.tank.renew(end)
	}
	p.advanceTo(t)
}

// advanceTo brings the plant up to t, through which no batch ends that renews it.
func (p *Plant) advanceTo(t time.Duration) {
	for {
		next, ok := p.faults.next(p.now, t)
		if !ok {
			break
		}
		p.collectShots(next)
		p.now = next
		if p.tank != nil {
			p.tank.advance(next)
		}
		p.switchFaults(next)
	}
	p.collectShots(t)
	p.now = t
	if p.tank != nil {
		p.tank.advance(t)
	}
}

// position returns where knob i's motor and optic are at t, in the variable's unit.
func (p *Plant) position(i int, t time.Duration) (motor, optic float64) {
	v, k := &p.opt.Variables[i], &p.knobs[i]
	if p.dosed(i) {
		value := p.concentration(i, t)
		return value, value
	}
	if d := p.released[i]; k.released && d.kind != Held && !k.stuck {
		u := p.quantile(i, d)(p.uniform(streamDraw+uint64(i), p.cadence.draw(t)))
		motor = v.Low + u*(v.High-v.Low)
		optic = motor
	} else {
		motor, optic = k.at(t), k.opticPosition(t)
	}
	if k.dead {
		optic = k.effect
	}
	if v.stepped() {
		motor, optic = v.nearest(motor), v.nearest(optic)
	}
	return motor, optic
}

// quantile is that of a released variable's distribution on the cube: one that is uniform is so on the plant's axis.
func (p *Plant) quantile(i int, d dist) func(q float64) float64 {
	if p.laser != nil && d.kind == Uniform {
		return func(q float64) float64 { return p.laser.onKnob(i, d.quantile(q)) }
	}
	return d.quantile
}

// settings returns every variable's value at t, as its own sensor would say
// without noise, and the coordinates at which the plant works. Both hold until the next call.
func (p *Plant) settings(t time.Duration) (values, u []float64) {
	p.values, p.u = sized(p.values, len(p.knobs)), sized(p.u, len(p.knobs))
	values, u = p.values, p.u
	for i := range p.opt.Variables {
		v := &p.opt.Variables[i]
		var optic float64
		values[i], optic = p.position(i, t)
		u[i] = (optic - v.Low) / (v.High - v.Low)
	}
	if p.table != nil {
		copy(values, p.table.snap(u))
	}
	return values, u
}

// sized is a zeroed list of n values, in the memory of one that is not needed any more.
func sized[T any](old []T, n int) []T {
	if cap(old) < n {
		return make([]T, n)
	}
	old = old[:n]
	clear(old)
	return old
}

// collectShots looks at the shots after the last one captured, up to t, and keeps the
// latest that has a value. No setting changes course between those two times.
func (p *Plant) collectShots(t time.Duration) {
	last := p.cadence.by(t)
	defer func() { p.cadence.captured = last }()
	blind := true
	for i := range p.layout.outputs {
		blind = blind && (!p.layout.outputs[i].event || p.outputBlind(i))
	}
	if blind {
		return
	}
	for n := last; n > p.cadence.captured; n-- {
		if p.laser == nil || p.laser.hasLight(n) {
			p.record(n)
			return
		}
	}
}

// record makes shot n the latest.
func (p *Plant) record(n uint64) {
	at := p.cadence.at(n)
	settings, u := p.settings(at)
	p.signals = sized(p.signals, p.model.signals())
	p.model.shot(p.signals, u, at.Hours(), n)
	outputs := len(p.layout.outputs)
	s := &p.shot
	s.number, s.at, s.settings = n, at, append(s.settings[:0], settings...)
	s.values, s.present = sized(s.values, outputs), sized(s.present, outputs)
	for i := range p.layout.outputs {
		o := &p.layout.outputs[i]
		if !o.event || p.outputBlind(i) {
			continue
		}
		value := o.value
		if o.from == optimum.Signal {
			value = p.signals[o.index]
		}
		s.values[i], s.present[i] = p.corrupted(p.layout.outputChannel(i), value, n), true
	}
	if p.tank != nil {
		p.shot.tank = *p.tank
	}
}

// readback returns what a variable's own sensor says at t when its value is
// value: with noise and in steps of its resolution. A sensor without a resolution
// has a noise of 1e-4 of the range, of a logarithmic scale of the value, any other a quarter of its step.
func (p *Plant) readback(i int, value float64, t time.Duration) float64 {
	v := &p.opt.Variables[i]
	if p.table != nil || v.stepped() {
		return value
	}
	const share, unstepped = 0.25, 1e-4
	sd := share * v.Resolution
	if v.Resolution == 0 {
		sd = unstepped * (v.High - v.Low)
		if v.Log {
			sd = unstepped * math.Abs(value)
		}
	}
	z := p.normal(streamReadback+uint64(i), uint64(t))
	return v.nearest(value + sd*min(max(z, -4), 4))
}
