package loop

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/replay"
	"github.com/labtuner/tuner/safety"
)

// openAll connects the devices. Nothing moves before all of them are open and
// have what the options need.
func (l *Loop) openAll() {
	l.enter(opening)
	waiting := len(l.links)
	for _, k := range l.links {
		l.openLink(k, func(err error) {
			waiting--
			switch {
			case err != nil:
				l.fail(fmt.Errorf("%w: open device %q: %w", ErrInstrument, k.name, err))
			case l.phase == opening && waiting == 0:
				l.opened()
			}
		})
	}
}

// opened compares the devices with the options.
func (l *Loop) opened() {
	for d := range l.links {
		if err := l.checkDevice(d); err != nil {
			l.fail(fmt.Errorf("%w: %w", ErrInstrument, err))
			return
		}
	}
	l.letDosesEnd(&l.limits)
	l.listChannels()
	l.enter(booting)
}

// checkDevice refuses a device that does not have what the options need of it.
func (l *Loop) checkDevice(d int) error {
	for i := range l.opt.Sensors {
		s := &l.opt.Sensors[i]
		if s.Channel.Device != d {
			continue
		}
		if err := l.checkChannel(s.Channel, s.Unit, false); err != nil {
			return fmt.Errorf("sensor %q: %w", s.Name, err)
		}
	}
	for i := range l.opt.Variables {
		v := &l.opt.Variables[i]
		if v.Channel.Device != d {
			continue
		}
		err := l.checkChannel(v.Channel, v.Unit, v.Actuated)
		if err == nil {
			l.board.believe(i, l.links[d].channels[v.Channel.Name])
		}
		if err == nil && v.Actuated {
			err = l.checkLimits(v)
		}
		if err != nil {
			return fmt.Errorf("variable %q: %w", v.Name, err)
		}
	}
	return nil
}

// checkChannel refuses a channel that the device does not have, has in another
// unit, or cannot set.
func (l *Loop) checkChannel(c plan.Channel, unit string, set bool) error {
	if c.Device < 0 {
		return nil
	}
	k := l.links[c.Device]
	ch, ok := k.channels[c.Name]
	switch {
	case !ok:
		names := slices.Sorted(maps.Keys(k.channels))
		return fmt.Errorf("device %q has no channel %q; it has %s", k.name, c.Name, strings.Join(names, ", "))
	case ch.Unit != "" && unit != "" && ch.Unit != unit:
		return fmt.Errorf("channel %q of device %q is in %q, the configuration says %q", c.Name, k.name, ch.Unit, unit)
	case set && (ch.Access != drivers.ReadWrite || k.act == nil):
		return fmt.Errorf("channel %q of device %q cannot be set", c.Name, k.name)
	}
	return nil
}

// checkLimits refuses limits that the device's own do not contain, and a release
// of what cannot be released.
func (l *Loop) checkLimits(v *plan.Variable) error {
	k := l.links[v.Channel.Device]
	ch := k.channels[v.Channel.Name]
	switch {
	case v.Dose && !ch.Dose:
		return fmt.Errorf(`channel %q of device %q takes setpoints, not doses: a write to it may be repeated; where it adds an amount, its description must say so`, v.Channel.Name, k.name)
	case !v.Dose && ch.Dose:
		return fmt.Errorf(`channel %q of device %q adds an amount with every write: write kind = "dose"`, v.Channel.Name, k.name)
	case v.Dose && v.High > ch.Max:
		return fmt.Errorf("a dose of %g %s is more than device %q accepts, %g", v.High, v.Unit, k.name, ch.Max)
	case v.Dose:
		return nil
	}
	if v.Low < ch.Min || v.High > ch.Max {
		return fmt.Errorf("range [%g, %g] %s reaches beyond what device %q accepts, [%g, %g]",
			v.Low, v.High, v.Unit, k.name, ch.Min, ch.Max)
	}
	if v.Limits.Safe < ch.Min || v.Limits.Safe > ch.Max {
		return fmt.Errorf("safe value %g %s lies outside what device %q accepts, [%g, %g]: a trip could not bring it there",
			v.Limits.Safe, v.Unit, k.name, ch.Min, ch.Max)
	}
	if ch.Lasts && v.Limits.Lease <= 0 {
		return fmt.Errorf("channel %q of device %q keeps a setpoint only for a time: declare safety.variable.%s.lease", v.Channel.Name, k.name, v.Name)
	}
	if !ch.CanRelease && (v.OnRelease == plan.Release || v.Boot == plan.RestOff || v.OnFault == plan.RestOff || v.Shutdown == plan.RestOff) {
		return fmt.Errorf("channel %q of device %q cannot be released; declare on_release = %q and no \"off\" state",
			v.Channel.Name, k.name, plan.Hold)
	}
	return nil
}

// bootTimeout bounds the first reading of the actuators beyond a variable's own
// readback timeout: a broker may have to be reached, a child may be slow at
// first.
const bootTimeout = 10 * time.Second

// boot waits until every actuator with a readback has been read, because nothing is
// driven before it is known where it stands; then arms and starts, if every
// interlock and permissive is healthy.
func (l *Loop) boot(now time.Time) {
	late := ""
	for i := range l.opt.Variables {
		v := &l.opt.Variables[i]
		if v.Actuated && v.Tolerance > 0 && !l.board.variables[i].known {
			late = fmt.Sprintf("variable %q gave no reading within %v%s; nothing was driven", v.Name, max(v.Timeout, bootTimeout), l.oddWords(i))
			if now.Sub(l.since) > max(v.Timeout, bootTimeout) {
				l.fail(fmt.Errorf("%w: %s", ErrInstrument, late))
			}
			return
		}
	}
	switch {
	case l.opt.Mode == plan.Shadow:
		l.booted()
		return
	case l.waits != "":
		l.idle(now)
		return
	}
	for _, c := range []safety.Command{safety.CommandNone, safety.CommandArm, safety.CommandStart} {
		l.guard(now, c)
	}
	switch {
	case l.safety.Mode == safety.Run:
		l.told = safety.Run
		l.booted()
	case l.safety.Mode >= safety.Tripped, now.Sub(l.since) > l.patience():
		l.endRefused()
	}
}

// oddWords says why what an actuator reads is no reading, "" where it reads nothing.
func (l *Loop) oddWords(i int) string {
	odd := l.board.oddVariables[i]
	switch {
	case !odd.known:
		return l.answerWords(l.opt.Variables[i].Channel)
	case !isFinite(odd.value):
		return fmt.Sprintf(": it reads %g, which is no number", odd.value)
	}
	v := &l.opt.Variables[i]
	return fmt.Sprintf(": it reads %s, and its device can only have %.5g to %s", inUnit(odd.value, v.Unit), l.board.low[i], inUnit(l.board.high[i], v.Unit))
}

// patience is how long a start waits to be permitted: a sensor that is silent may
// still come, one that says no is believed after a second.
func (l *Loop) patience() time.Duration {
	for i, s := range l.opt.Sensors {
		if !l.board.sensors[i].known && (l.opt.Guarded(i) || plan.Watched(&l.opt, i)) && s.Channel.Device >= 0 {
			return bootTimeout
		}
	}
	return time.Second
}

// endRefused ends a run that may not start.
func (l *Loop) endRefused() {
	l.err = fmt.Errorf("%w: refused to start, nothing was driven: %s", ErrSafety, l.causes(l.out.Refused))
	if l.safety.Mode == safety.Stopped {
		l.err = fmt.Errorf("%w: stopped before the start, nothing was driven", ErrSafety)
	}
	l.reason = control.ReasonSafety
	l.event("error", journal.EventSafety, l.err.Error())
	l.rest(func(v *plan.Variable) plan.RestState { return plan.RestHold })
}

// booted applies the declared boot states and begins the first step.
func (l *Loop) booted() {
	l.startedAt = l.startSetting()
	switch ok := l.advisor.TakesStart(); {
	case l.deps.Past != nil && l.deps.Past.Start != nil:
		l.startedAt = l.deps.Past.Start
	case l.deps.Past == nil && (ok || l.opt.Verify.Pairs > 0):
		l.event("info", journal.EventStart, replay.FormatStart(l.startedAt))
		l.advisor.SetStart(l.startedAt)
	}
	l.known.Add(l.startSetting())
	// What the sessions before drove is this one's to bring to rest, also if it writes
	// nothing more: the process that drove it may have been killed.
	l.drove = l.drove || l.opt.Mode != plan.Shadow && l.deps.Past != nil && l.deps.Past.Steps > 0
	if l.opt.Mode != plan.Shadow {
		for i := range l.opt.Variables {
			v := &l.opt.Variables[i]
			if !v.Actuated {
				continue
			}
			switch v.Boot {
			case plan.RestSafe:
				if l.standsOutside(i) {
					l.event("warn", journal.EventSafety, fmt.Sprintf("variable %s%s", v.Name, l.outsideWords(i)))
				}
				l.aims[i].driveTo(v.Limits.Safe)
			case plan.RestOff:
				l.aims[i].letGo()
			}
		}
	}
	l.next()
}

// startSetting is the declared starting value, else what was read at boot; NaN
// for a variable that is let go.
func (l *Loop) startSetting() []float64 {
	x := make([]float64, len(l.opt.Variables))
	for i := range x {
		v := &l.opt.Variables[i]
		e := l.board.variables[i]
		switch {
		case !math.IsNaN(v.Start):
			x[i] = v.Start
		case v.Actuated && v.Boot != plan.RestOff && e.known:
			x[i] = min(max(e.value, v.Low), v.High)
		default:
			x[i] = math.NaN()
		}
	}
	return x
}

// pollAll asks every device for what the present phase needs. The objective's
// channels are asked only while shots are taken: asking may be what measures.
func (l *Loop) pollAll() {
	if l.phase < booting || l.phase >= closing {
		return
	}
	for _, k := range l.links {
		if l.phase == measuring || l.spell.on && l.spell.silent {
			l.poll(k, k.all)
		} else {
			l.poll(k, k.quiet)
		}
	}
}

// listChannels prepares what each device is asked for.
func (l *Loop) listChannels() {
	for d, k := range l.links {
		for i := range l.opt.Variables {
			if c := l.opt.Variables[i].Channel; c.Device == d && !l.opt.Variables[i].Dose {
				k.quiet = append(k.quiet, c.Name)
			}
		}
		k.all = slices.Clone(k.quiet)
		for i := range l.opt.Sensors {
			c := l.opt.Sensors[i].Channel
			if c.Device != d {
				continue
			}
			k.all = append(k.all, c.Name)
			if !slices.Contains(l.opt.Objective.Uses, i) || l.opt.Guarded(i) {
				k.quiet = append(k.quiet, c.Name)
			}
		}
	}
}
