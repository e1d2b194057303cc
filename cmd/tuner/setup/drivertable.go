package setup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/exec"
	"github.com/labtuner/tuner/drivers/mqtt"
	"github.com/labtuner/tuner/drivers/opcua"
	"github.com/labtuner/tuner/drivers/serial"
	"github.com/labtuner/tuner/drivers/sim"
	"github.com/labtuner/tuner/loop/plan"
)

// Drivers are all that there are. To add one is a line here, beside its folder.
func Drivers() []drivers.Driver {
	return []drivers.Driver{
		exec.Driver(),
		mqtt.Driver(),
		opcua.Driver(),
		serial.Driver(),
		sim.Driver(),
	}
}

// driver finds a driver by its name.
func driver(name string) (drivers.Driver, bool) {
	all := Drivers()
	if i := slices.IndexFunc(all, func(d drivers.Driver) bool { return d.Name == name }); i >= 0 {
		return all[i], true
	}
	return drivers.Driver{}, false
}

// Device is one [[device]] of the file, ready to be made.
type Device struct {
	Name, Driver string
	drivers.Wired
	// section is what the file says of it.
	section *configs.Device
}

// wireDevice wires one [[device]], and tells what is wrong with it.
func (w *Setup) wireDevice(d *configs.Device, e *host.Env) (Device, []configs.Problem) {
	out := Device{Name: d.Name, Driver: d.Driver, section: d}
	kind, ok := driver(d.Driver)
	if !ok {
		return out, nil // the schema has reported it
	}
	s := &section{device: d, setup: w, env: e}
	out.Wired = kind.Wire(s)
	if out.Source != "" {
		s.add(out.missingChannels(w.Config)...)
	}
	if len(s.problems) == 0 && !s.simulated { // the plant is tried for itself
		s.add(out.try()...)
	}
	return out, s.problems
}

// missingChannels reports the sensors and variables of a device that are on none of its
// channels.
func (d Device) missingChannels(cfg *configs.Config) (problems []configs.Problem) {
	look := func(at, on, channel string) {
		if on == d.Name && channel != "" && !slices.Contains(d.Channels, channel) {
			problems = append(problems, cfg.Problem(at+".channel",
				fmt.Sprintf("device %q has no channel %q; %s it has %s", d.Name, channel, d.Source, strings.Join(d.Channels, ", ")),
				"add [device.channel."+channel+"], or use one of these"))
		}
	}
	for _, s := range cfg.Sensors {
		look("sensor."+s.Name, s.Device, s.Channel)
	}
	for _, v := range cfg.Variables {
		look("variable."+v.Name, v.Device, v.Channel)
	}
	return problems
}

// try makes a device whose keys are fine one by one, so that what does not fit together
// shows when the file is checked. Nothing is opened.
func (d Device) try() (problems []configs.Problem) {
	if _, err := d.Build(drivers.Env{Clock: StoppedClock()}); err != nil {
		for _, e := range fault.Flatten(err) {
			problems = append(problems, d.section.Problem("", e.Error(), ""))
		}
	}
	return problems
}

// DeviceNames are the devices' names, by the index that channels have.
func (w *Setup) DeviceNames() []string {
	names := make([]string, len(w.Devices))
	for i, d := range w.Devices {
		names[i] = d.Name
	}
	return names
}

// RenameChannels gives the plant's channels the names that the driver's other
// side knows.
func (d Device) RenameChannels(o *sim.Options) {
	rename := func(device string, channel *string) {
		if other, ok := d.OtherName[*channel]; ok && device == d.Name {
			*channel = other
		}
	}
	for i := range o.Variables {
		rename(o.Variables[i].Device, &o.Variables[i].Channel)
	}
	for i := range o.Sensors {
		rename(o.Sensors[i].Device, &o.Sensors[i].Channel)
	}
}

// ChannelName names a channel as DEVICE.CHANNEL.
func (w *Setup) ChannelName(c plan.Channel) string {
	if c.Device < 0 {
		return "-"
	}
	return w.Devices[c.Device].Name + "." + c.Name
}
