package sim

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/labtuner/tuner/drivers/sim/optimum"
)

// A fault that lasts a number of steps ends when the next step begins. But a
// fault may be what keeps the next step from beginning, so each step counts for
// stepTime at most: longer than the ramp, settling time and shots of a sensible
// step, and then things mend themselves.
const (
	stepTime        = time.Minute
	stepTimeBatches = 30
)

// Inject makes a fault happen, or schedules it; see ParseFault.
func (p *Plant) Inject(text string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.advance()
	if err := p.schedule(text); err != nil {
		return err
	}
	p.switchFaults(p.now)
	return nil
}

// BeginStep begins step n of the run, counted from 1: what is
// scheduled for it happens, and what was to last until it ends. Steps that the
// plant does not begin do not exist for it.
func (p *Plant) BeginStep(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.advance()
	p.faults.step = n
	p.switchFaults(p.now)
}

// schedule adds a fault to the waiting ones.
func (p *Plant) schedule(text string) error {
	f, err := parseFault(text)
	if err != nil {
		return err
	}
	t, err := p.layout.targetOf(f)
	if err != nil {
		return fmt.Errorf("fault %q: %w", text, err)
	}
	if t.After > 0 && t.After <= p.now {
		return fmt.Errorf("fault %q: the plant has been on for %v already; leave the time out to have it now", text, p.now)
	}
	if t.Step > 0 && t.Step <= p.faults.step {
		return fmt.Errorf("fault %q: step %d has begun already; leave the step out to have it now", text, p.faults.step)
	}
	p.faults.waiting = append(p.faults.waiting, t)
	return nil
}

// ofDevices reports whether a kind of fault strikes whole devices.
func ofDevices(kind string) bool {
	return slices.Contains([]string{faultLost, faultNaN, faultGarbage, faultPowerCycle, faultClockJump}, kind)
}

// switchFaults ends and begins what is due at t, and lets the motors know.
func (p *Plant) switchFaults(t time.Duration) {
	before := len(p.faults.running)
	p.faults.running = slices.DeleteFunc(p.faults.running, func(r *running) bool {
		over := t >= r.until || r.endStep > 0 && p.faults.step >= r.endStep
		if over {
			p.log.Info("simulated fault ends", "fault", r.Fault.String())
		}
		return over
	})
	changed := len(p.faults.running) != before
	p.faults.waiting = slices.DeleteFunc(p.faults.waiting, func(w target) bool {
		due := w.Step == 0 && w.After <= t || w.Step > 0 && w.Step == p.faults.step
		if due {
			p.log.Warn("simulated fault begins", "fault", w.Fault.String())
			p.faults.running = append(p.faults.running, p.begin(w, t))
			changed = true
		}
		return due
	})
	if changed {
		p.redirectFaulty(t)
	}
}

// begin puts a fault to work at t.
func (p *Plant) begin(w target, t time.Duration) *running {
	r := &running{target: w, until: t + w.For}
	if w.For == 0 {
		longest := max(stepTime, stepTimeBatches*p.cadence.batch)
		r.endStep = p.faults.step + w.Steps
		r.until = math.MaxInt64
		if int64(w.Steps) < (math.MaxInt64-int64(t))/int64(longest) {
			r.until = t + time.Duration(w.Steps)*longest
		}
	}
	if w.Kind == faultPowerCycle {
		p.powerCycle(w.device, t)
	}
	if w.Kind == faultStuck {
		r.held = p.last(w.channels[0], t)
	}
	return r
}

// last returns the last value of channel c before t; of a channel of shots that
// has none yet, what it would say of one at t.
func (p *Plant) last(c int, t time.Duration) float64 {
	settings, u := p.settings(t)
	if !p.layout.event(c) {
		return p.faultless(c, settings, t)
	}
	i := p.layout.channels[c].output
	if p.shot.number > 0 && p.shot.present[i] {
		return p.shot.values[i]
	}
	if p.layout.outputs[i].from != optimum.Signal {
		return p.layout.outputs[i].value
	}
	signals := make([]float64, p.model.signals())
	p.model.shot(signals, u, t.Hours(), p.cadence.by(t)+1)
	return signals[p.layout.outputs[i].index]
}

// redirectFaulty redirects the motors whose faults have changed.
func (p *Plant) redirectFaulty(t time.Duration) {
	for c, channel := range p.layout.channels {
		i := channel.variable
		if i < 0 {
			continue
		}
		k, v := &p.knobs[i], &p.opt.Variables[i]
		slow, reversed, stuck := p.faults.active(faultSlow, c), p.faults.active(faultWrongSign, c), p.faults.active(faultStuck, c)
		dead := p.faults.active(faultDead, c)
		if slow == k.slow && reversed == k.wrongSign && stuck == k.stuck && dead == k.dead {
			continue
		}
		motor, optic := p.position(i, t)
		if dead && !k.dead {
			k.effect = optic
		}
		k.dead = dead
		if reversed && !k.wrongSign {
			k.mirror = motor
		}
		k.slow, k.wrongSign, k.stuck = slow, reversed, stuck
		k.redirect(t, motor, optic, v.High-v.Low)
	}
}

// powerCycle puts the actuators of a device ("": of all) where they are when the
// plant is switched on.
func (p *Plant) powerCycle(device string, t time.Duration) {
	for i := range p.knobs {
		v, k := &p.opt.Variables[i], &p.knobs[i]
		if !v.Actuated || device != "" && v.Device != device {
			continue
		}
		value, released := v.boot()
		k.setpoint, k.released = value, released
		k.redirect(t, value, value, v.High-v.Low)
	}
	p.cadence.restart(p.now)
}

// clockJump is by how much a device's clock is ahead after a jump.
const clockJump = time.Hour

// stamp is the time that a device puts on a reading of t.
func (p *Plant) stamp(device string, t time.Duration) time.Time {
	if p.faults.cut(faultClockJump, device) {
		t += clockJump
	}
	return p.epoch.Add(t)
}

func (p *Plant) outputBlind(i int) bool { return p.faults.silent(p.layout.outputChannel(i)) }

// spikes is the number of values among which one is a spike, and spikeWindow the
// time that counts as one value where values do not come with shots.
const (
	spikes      = 5
	spikeWindow = 100 * time.Millisecond
)

// corrupted returns what channel c says when its value is value and it is the n-th:
// what it is stuck at, or a spike half a range away, on the side where there is
// room.
func (p *Plant) corrupted(c int, value float64, n uint64) float64 {
	if r := p.faults.activeFault(faultStuck, c); r != nil {
		value = r.held
	}
	if !p.faults.active(faultSpike, c) || n%spikes != 0 {
		return value
	}
	var low, high float64
	if channel := p.layout.channels[c]; channel.variable >= 0 {
		low, high = p.opt.Variables[channel.variable].Low, p.opt.Variables[channel.variable].High
	} else {
		low, high = p.layout.outputs[channel.output].Low, p.layout.outputs[channel.output].High
	}
	jump := (high - low) / 2
	if math.IsInf(jump, 0) || !(jump > 0) {
		jump = 10 * (1 + math.Abs(value))
	}
	if value+jump > high {
		return value - jump
	}
	return value + jump
}
