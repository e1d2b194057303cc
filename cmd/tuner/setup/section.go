package setup

import (
	"slices"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/drivers"
)

// section shows a driver its [[device]] and what it may ask of the rest.
type section struct {
	device   *configs.Device
	setup    *Setup
	env      *host.Env
	problems []configs.Problem
	// simulated: the driver makes devices of the plant.
	simulated bool
}

// add notes problems; a driver may look at its keys more than once.
func (s *section) add(problems ...configs.Problem) {
	for _, p := range problems {
		if !slices.Contains(s.problems, p) {
			s.problems = append(s.problems, p)
		}
	}
}

// Name implements drivers.Section.
func (s *section) Name() string { return s.device.Name }

// Folder implements drivers.Section.
func (s *section) Folder() string { return s.setup.Config.Dir }

// Decode implements drivers.Section.
func (s *section) Decode(dst any) { s.add(s.device.Decode(dst)...) }

// Problem implements drivers.Section.
func (s *section) Problem(key, what, hint string) { s.add(s.device.Problem(key, what, hint)) }

// Executable implements drivers.Section.
func (s *section) Executable() string { return s.env.Executable }

// Channels implements drivers.Section.
func (s *section) Channels() (all []drivers.ChannelSection) {
	for i := range s.device.Channels() {
		all = append(all, channelSection{&s.device.Channels()[i], s})
	}
	return all
}

// channelSection is one [device.channel.NAME].
type channelSection struct {
	channel *configs.DeviceChannel
	of      *section
}

// Name implements drivers.ChannelSection.
func (c channelSection) Name() string { return c.channel.Name }

// Decode implements drivers.ChannelSection.
func (c channelSection) Decode(dst any) { c.of.add(c.channel.Decode(dst)...) }

// Used implements drivers.Section.
func (s *section) Used(channel string) bool {
	cfg := s.setup.Config
	return s.variable(channel) != nil || slices.ContainsFunc(cfg.Sensors, func(o configs.Sensor) bool {
		return o.Device == s.device.Name && o.Channel == channel
	})
}

// Uses implements drivers.Section.
func (s *section) Uses() (all []string) {
	add := func(device, channel string) {
		if device == s.device.Name && channel != "" && !slices.Contains(all, channel) {
			all = append(all, channel)
		}
	}
	for _, o := range s.setup.Config.Sensors {
		add(o.Device, o.Channel)
	}
	for _, v := range s.setup.Config.Variables {
		add(v.Device, v.Channel)
	}
	return all
}

// variable is the one that is set on a channel, nil if none is.
func (s *section) variable(channel string) *configs.Variable {
	for i := range s.setup.Config.Variables {
		if v := &s.setup.Config.Variables[i]; v.Device == s.device.Name && v.Channel == channel {
			return v
		}
	}
	return nil
}

// Safe implements drivers.Section: a channel that cannot be released would otherwise have
// nothing to go to when it is halted.
func (s *section) Safe(channel string) *float64 {
	v := s.variable(channel)
	if v == nil {
		return nil
	}
	limits, ok := s.setup.Config.Safety.Variables[v.Name]
	if !ok {
		return nil
	}
	return &limits.Safe
}

// Secret implements drivers.Section.
func (s *section) Secret(file, credential, variable string) (string, error) {
	return s.env.Secret(host.SecretPlace{File: file, Credential: credential, Env: variable, Base: s.Folder()})
}

// Simulated implements drivers.Section.
func (s *section) Simulated() func(drivers.Env) (drivers.Device, error) {
	s.simulated = true
	if s.setup.Config.Plant == nil {
		return nil
	}
	plant := s.setup.sharedPlant
	return func(env drivers.Env) (drivers.Device, error) {
		p, err := plant(env)
		if err != nil {
			return nil, err
		}
		return p.Device(s.device.Name), nil
	}
}
