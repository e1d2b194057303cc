package sim

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// A fault that lasts a number of steps ends when the next step begins. But a
// fault may be what keeps the next step from beginning, so each step counts for
// stepTime at most: longer than the ramp, settling time and shots of a sensible
// step, and then things mend themselves.
const (
	stepTime        = time.Minute
	stepTimeBatches = 30
)

// target is a fault that has been tied to the plant's channels.
type target struct {
	Fault
	// channels are what it strikes, as indices into Plant.channels.
	channels []int
	// device is the one that a lost link cuts off, "" for all.
	device string
}

// running is a fault at work.
type running struct {
	target
	// until is when it ends at the latest; endStep is the step whose beginning ends
	// it, 0 for none.
	until   time.Duration
	endStep int
	// held is what a stuck channel repeats.
	held float64
}

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

// BeginStep tells the plant that step n, counted from 1, begins now: what is
// scheduled for it happens, and what was to last until it ends. Steps that the
// plant is not told of do not exist for it.
func (p *Plant) BeginStep(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.advance()
	p.step = n
	p.switchFaults(p.now)
}

// schedule adds a fault to the waiting ones.
func (p *Plant) schedule(text string) error {
	f, err := ParseFault(text)
	if err != nil {
		return err
	}
	t, err := p.tie(f)
	if err != nil {
		return fmt.Errorf("fault %q: %w", text, err)
	}
	if t.After > 0 && t.After <= p.now {
		return fmt.Errorf("fault %q: the plant has been on for %v already; leave the time out to have it now", text, p.now)
	}
	if t.Step > 0 && t.Step <= p.step {
		return fmt.Errorf("fault %q: step %d has begun already; leave the step out to have it now", text, p.step)
	}
	p.waiting = append(p.waiting, t)
	return nil
}

// tie finds the channels that a fault strikes.
func (p *Plant) tie(f Fault) (target, error) {
	t := target{Fault: f}
	motor := f.Kind == faultSlow || f.Kind == faultWrongSign || f.Kind == faultDead
	if f.Where == "" {
		switch {
		case ofDevices(f.Kind):
			return t, nil
		case f.Kind == faultDropout:
			for c := range p.channels {
				if p.event(c) {
					t.channels = append(t.channels, c)
				}
			}
			return t, nil
		}
	}
	for c := range p.channels {
		if ofDevices(f.Kind) && p.channels[c].device == f.Where {
			t.device = f.Where
			return t, nil
		}
		wanted := p.called(c, f.Where)
		if f.Where == "" {
			wanted = motor || p.channels[c].output == p.objective
		}
		if !wanted || motor && !p.settable(c) {
			continue
		}
		t.channels = append(t.channels, c)
		if f.Where == "" {
			break
		}
	}
	switch {
	case len(t.channels) == 0 && motor:
		return t, fmt.Errorf("it needs a variable that can be set; there are %s", p.names(p.settable))
	case len(t.channels) == 0:
		return t, fmt.Errorf("no channel, sensor or variable is called %q; there are %s", f.Where, p.names(nil))
	case len(t.channels) > 1:
		return t, fmt.Errorf("%d devices have a channel %q; name the sensor or the variable", len(t.channels), f.Where)
	}
	t.device = p.channels[t.channels[0]].device
	return t, nil
}

// ofDevices says whether a kind of fault strikes whole devices.
func ofDevices(kind string) bool {
	return slices.Contains([]string{faultLost, faultNaN, faultGarbage, faultPowerCycle, faultClockJump}, kind)
}

// called says whether channel c, or its sensor or variable, is called name.
func (p *Plant) called(c int, name string) bool {
	channel := p.channels[c]
	return channel.name == name ||
		channel.variable >= 0 && p.opt.Variables[channel.variable].Name == name ||
		channel.output >= 0 && p.outputs[channel.output].Name == name
}

func (p *Plant) settable(c int) bool {
	i := p.channels[c].variable
	return i >= 0 && p.opt.Variables[i].Actuated
}

// names lists the channels that keep holds for, or all.
func (p *Plant) names(keep func(c int) bool) string {
	var names []string
	for c, channel := range p.channels {
		if keep == nil || keep(c) {
			names = append(names, channel.name)
		}
	}
	return strings.Join(names, ", ")
}

// nextSwitch returns the first time in (now, t] at which a fault begins or ends
// by the clock.
func (p *Plant) nextSwitch(t time.Duration) (next time.Duration, ok bool) {
	next = t
	consider := func(at time.Duration) {
		if at > p.now && at <= next {
			next, ok = at, true
		}
	}
	for _, w := range p.waiting {
		if w.Step == 0 {
			consider(w.After)
		}
	}
	for _, r := range p.running {
		consider(r.until)
	}
	return next, ok
}

// switchFaults ends and begins what is due at t, and lets the motors know.
func (p *Plant) switchFaults(t time.Duration) {
	before := len(p.running)
	p.running = slices.DeleteFunc(p.running, func(r *running) bool {
		over := t >= r.until || r.endStep > 0 && p.step >= r.endStep
		if over {
			p.log.Info("simulated fault ends", "fault", r.Fault.String())
		}
		return over
	})
	changed := len(p.running) != before
	p.waiting = slices.DeleteFunc(p.waiting, func(w target) bool {
		due := w.Step == 0 && w.After <= t || w.Step > 0 && w.Step == p.step
		if due {
			p.log.Warn("simulated fault begins", "fault", w.Fault.String())
			p.running = append(p.running, p.begin(w, t))
			changed = true
		}
		return due
	})
	if changed {
		p.tellMotors(t)
	}
}

// begin puts a fault to work at t.
func (p *Plant) begin(w target, t time.Duration) *running {
	r := &running{target: w, until: t + w.For}
	if w.For == 0 {
		longest := max(stepTime, stepTimeBatches*p.batch)
		r.endStep = p.step + w.Steps
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
	if !p.event(c) {
		return p.sound(c, settings, t)
	}
	i := p.channels[c].output
	if p.shot.number > 0 && p.shot.present[i] {
		return p.shot.values[i]
	}
	if p.outputs[i].from != fromSignal {
		return p.outputs[i].value
	}
	signals := make([]float64, p.model.signals())
	p.model.shot(signals, u, t.Hours(), p.shotsBy(t)+1)
	return signals[p.outputs[i].index]
}

// tellMotors redirects the motors whose faults have changed.
func (p *Plant) tellMotors(t time.Duration) {
	for c, channel := range p.channels {
		i := channel.variable
		if i < 0 {
			continue
		}
		k, v := &p.knobs[i], &p.opt.Variables[i]
		slow, reversed, stuck := p.strikes(faultSlow, c), p.strikes(faultWrongSign, c), p.strikes(faultStuck, c)
		dead := p.strikes(faultDead, c)
		if slow == k.slow && reversed == k.wrongSign && stuck == k.stuck && dead == k.dead {
			continue
		}
		motor, optic := p.place(i, t)
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

// strikes says whether a fault of this kind is at work on channel c.
func (p *Plant) strikes(kind string, c int) bool { return p.striking(kind, c) != nil }

func (p *Plant) striking(kind string, c int) *running {
	for _, r := range p.running {
		if r.Kind == kind && slices.Contains(r.channels, c) {
			return r
		}
	}
	return nil
}

// cut says whether a fault that strikes whole devices is at work on one.
func (p *Plant) cut(kind, device string) bool {
	return slices.ContainsFunc(p.running, func(r *running) bool {
		return r.Kind == kind && (r.device == "" || r.device == device)
	})
}

// lost says whether the link to a device is cut.
func (p *Plant) lost(device string) bool {
	return p.cut(faultLost, device) || p.cut(faultPowerCycle, device)
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
	p.restart()
}

// clockJump is by how much a device's clock is ahead after a jump.
const clockJump = time.Hour

// stamp is the time that a device puts on a reading of t.
func (p *Plant) stamp(device string, t time.Duration) time.Time {
	if p.cut(faultClockJump, device) {
		t += clockJump
	}
	return p.epoch.Add(t)
}

// blind says whether channel c has nothing to say.
func (p *Plant) blind(c int) bool { return p.strikes(faultDropout, c) || p.strikes(faultStale, c) }

// outputChannel returns the channel of output i.
func (p *Plant) outputChannel(i int) int { return p.find(p.outputs[i].Device, p.outputs[i].Channel) }

func (p *Plant) outputBlind(i int) bool { return p.blind(p.outputChannel(i)) }

// spikes is the number of values among which one is a spike, and spikeWindow the
// time that counts as one value where values do not come with shots.
const (
	spikes      = 5
	spikeWindow = 100 * time.Millisecond
)

// marred returns what channel c says when its value is value and it is the n-th:
// what it is stuck at, or a spike half a range away, on the side where there is
// room.
func (p *Plant) marred(c int, value float64, n uint64) float64 {
	if r := p.striking(faultStuck, c); r != nil {
		value = r.held
	}
	if !p.strikes(faultSpike, c) || n%spikes != 0 {
		return value
	}
	var low, high float64
	if channel := p.channels[c]; channel.variable >= 0 {
		low, high = p.opt.Variables[channel.variable].Low, p.opt.Variables[channel.variable].High
	} else {
		low, high = p.outputs[channel.output].Low, p.outputs[channel.output].High
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
