package setup

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/journal/controlstate"
)

// Instrument says which instrument the file is about: its actuators' devices, by their
// addresses, whatever the run is called and wherever its journal lies.
func (w *Setup) Instrument() controlstate.Instrument {
	out := controlstate.Instrument{Config: host.Absolute(w.Config.File), Name: w.Config.Name}
	for i := range w.Options.Variables {
		v := &w.Options.Variables[i]
		if !v.Actuated {
			continue
		}
		d := &w.Devices[v.Channel.Device]
		if address := d.addressOf(v.Channel.Name); address != "" && !slices.Contains(out.Devices, address) {
			out.Devices = append(out.Devices, address)
		}
	}
	return out
}

// Claims are the instruments that a run of the file drives and that no other process may drive
// beside it: what each is, by its device's name and place in words. A serial port of this computer
// is not among them, since whoever opens it keeps others from it.
func (w *Setup) Claims() (out []Claim) {
	for i := range w.Options.Variables {
		v := &w.Options.Variables[i]
		if !v.Actuated {
			continue
		}
		d := &w.Devices[v.Channel.Device]
		c := Claim{Device: d.Name, Where: d.addressOf(v.Channel.Name)}
		switch {
		case d.Broker != "", d.Places[v.Channel.Name] != "":
			c.Identity = c.Where
		case d.Identity != "":
			c.Identity = d.Driver + " " + d.Identity
		}
		if c.Identity != "" && !slices.ContainsFunc(out, func(o Claim) bool { return o.Identity == c.Identity }) {
			out = append(out, c)
		}
	}
	return out
}

// Claim is one instrument: see Claims.
type Claim struct{ Device, Where, Identity string }

// addressOf is where a channel of the device is set, "" where that is no place outside this
// process: a serial port, HOST:PORT of an instrument on the network, a program with its arguments and folder, a folder of files, or
// over a broker or at a server, which has many instruments, the topic or what is set there.
func (d *Device) addressOf(channel string) string {
	switch {
	case d.Port != "":
		port := d.Port
		if real, err := filepath.EvalSymlinks(port); err == nil {
			port = real // by-id names and ttyUSB0 are one port
		}
		return d.Driver + " " + port
	case d.Broker != "":
		return d.Driver + " " + drivers.Place(d.Broker) + " " + d.Topics[channel]
	case d.Address != "":
		return strings.TrimSpace(d.Driver + " " + d.Address + " " + d.Places[channel])
	}
	return ""
}
