package instrument

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/plan"
)

// Check refuses devices that do not have what the options need of them, and prepares what
// each is asked for.
func (x *Instrument) Check() error {
	for _, k := range x.links {
		if err := x.check(k); err != nil {
			return err
		}
	}
	x.listChannels()
	return nil
}

// Fits refuses the device of an index among the options', which has been opened and offers these channels, where it does
// not have what they need of it.
func Fits(o *plan.Options, index int, name string, channels []drivers.Channel) error {
	k := &link{index: index, name: name}
	k.offers(channels)
	return k.fits(o)
}

// check refuses a device that does not have what the options need of it, and else believes what it says of itself.
func (x *Instrument) check(k *link) error {
	if err := k.fits(x.plan); err != nil {
		return err
	}
	for i := range x.plan.Variables {
		v := &x.plan.Variables[i]
		switch c := v.Channel; {
		case c.Device != k.index:
		case v.Actuated && k.act == nil:
			return fmt.Errorf("variable %q: channel %q of device %q cannot be set", v.Name, c.Name, k.name)
		default:
			x.believe(i, k.channels[c.Name])
		}
	}
	return nil
}

// fits refuses a device that does not have what the options need of it.
func (k *link) fits(o *plan.Options) error {
	for i := range o.Sensors {
		s := &o.Sensors[i]
		if s.Channel.Device != k.index {
			continue
		}
		if err := k.checkChannel(s.Channel.Name, s.Unit, false); err != nil {
			return fmt.Errorf("sensor %q: %w", s.Name, err)
		}
	}
	for i := range o.Variables {
		v := &o.Variables[i]
		if v.Channel.Device != k.index {
			continue
		}
		err := k.checkChannel(v.Channel.Name, v.Unit, v.Actuated)
		if err == nil && v.Actuated {
			err = k.checkLimits(v)
		}
		if err != nil {
			return fmt.Errorf("variable %q: %w", v.Name, err)
		}
	}
	return nil
}

// checkChannel refuses a channel that the device does not have, has in another
// unit, or cannot set.
func (k *link) checkChannel(name, unit string, set bool) error {
	ch, ok := k.channels[name]
	switch {
	case !ok:
		names := slices.Sorted(maps.Keys(k.channels))
		return fmt.Errorf("device %q has no channel %q; it has %s", k.name, name, strings.Join(names, ", "))
	case ch.Unit != "" && unit != "" && ch.Unit != unit:
		return fmt.Errorf("channel %q of device %q is in %q, the configuration says %q", name, k.name, ch.Unit, unit)
	case set && ch.Access != drivers.ReadWrite:
		return fmt.Errorf("channel %q of device %q cannot be set", name, k.name)
	}
	return nil
}

// checkLimits refuses limits that the device's own do not contain, and a release
// of what cannot be released.
func (k *link) checkLimits(v *plan.Variable) error {
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

// Accepts refuses options in which a variable may be asked for what its device does not accept.
func (x *Instrument) Accepts(next *plan.Options) error {
	for i := range next.Variables {
		v := &next.Variables[i]
		if !v.Actuated || v.Channel.Device < 0 {
			continue
		}
		if err := x.links[v.Channel.Device].checkLimits(v); err != nil {
			return fmt.Errorf("variable %q: %w", v.Name, err)
		}
	}
	return nil
}

// listChannels prepares what each device is asked for.
func (x *devices) listChannels() {
	for d, k := range x.links {
		for i := range x.plan.Variables {
			if c := x.plan.Variables[i].Channel; c.Device == d && !x.plan.Variables[i].Dose {
				k.quiet = append(k.quiet, c.Name)
			}
		}
		k.all = slices.Clone(k.quiet)
		for i := range x.plan.Sensors {
			c := x.plan.Sensors[i].Channel
			if c.Device != d {
				continue
			}
			k.all = append(k.all, c.Name)
			if !slices.Contains(x.plan.Objective.Uses, i) || x.plan.Guarded(i) {
				k.quiet = append(k.quiet, c.Name)
			}
		}
	}
}
