package configs

import (
	"cmp"
	"maps"
	"slices"

	"github.com/labtuner/tuner/configs/internal/schema"
)

// Device is a connection to an instrument. Beside its name and driver it keeps
// the driver's own keys undecoded: the driver's options struct gives them their
// meaning, through Decode.
type Device struct {
	Name   string `toml:"name" required:"true" doc:"name by which sensors and variables refer to it"`
	Driver string `toml:"driver" required:"true" enum:"@drivers" doc:"which driver speaks to it, by its protocol"`
	// Line is the line of the device's header in the file, 0 where unknown.
	Line int `toml:"-"`

	own      schema.OwnKeys
	channels []DeviceChannel
}

// DeviceChannel is one [device.channel.NAME] section, its keys undecoded.
type DeviceChannel struct {
	Name string
	// Line is the line of the section's header, 0 where unknown.
	Line int

	own schema.OwnKeys
}

// Decode lays the device's own keys, all but name, driver and channel, over dst,
// a pointer to a struct whose field tags are as this package's (toml, doc, unit,
// bound, enum, required). What dst holds before are the defaults. The problems
// have their lines; none means that dst is filled. Once decoded, the values and
// defaults of dst appear in Config.Effective.
func (d *Device) Decode(dst any) []Problem { return d.own.Decode(dst) }

// Channels returns the [device.channel.NAME] sections of the device, in file
// order. The slice is the device's own.
func (d *Device) Channels() []DeviceChannel { return d.channels }

// Channel returns the section of a channel by its name.
func (d *Device) Channel(name string) (*DeviceChannel, bool) {
	for i := range d.channels {
		if d.channels[i].Name == name {
			return &d.channels[i], true
		}
	}
	return nil, false
}

// Problem makes a Problem of one of the device's own keys, such as "port" or
// "identify.match", with its line.
func (d *Device) Problem(key, what, hint string) Problem {
	return d.own.Problem(key, what, hint)
}

// Decode lays the channel's keys over dst, as Device.Decode does.
func (c *DeviceChannel) Decode(dst any) []Problem { return c.own.Decode(dst) }

// Problem makes a Problem of one of the channel's keys.
func (c *DeviceChannel) Problem(key, what, hint string) Problem {
	return c.own.Problem(key, what, hint)
}

// rawChannels are the [device.channel.NAME] sections as the file has them.
func (d *Device) rawChannels() map[string]any {
	all := map[string]any{}
	for _, c := range d.channels {
		all[c.Name] = c.own.Raw
	}
	return all
}

// TakeUnknown implements schema.OpenSection: it takes the driver's keys and splits off the channels.
func (d *Device) TakeUnknown(unknown map[string]any, at string, w *schema.Walker) {
	d.Line = w.Loc.Line(at)
	d.own = schema.NewOwnKeys(maps.Clone(unknown), at, w.Loc, "name", "driver", "channel")
	delete(d.own.Raw, "channel")
	raw, present := unknown["channel"]
	if !present {
		return
	}
	at = schema.Join(at, "channel")
	tables, ok := raw.(map[string]any)
	if !ok {
		w.Report(at, "must be sections [device.channel.NAME], got "+schema.Describe(raw), "")
		return
	}
	for name, table := range tables {
		key := schema.Join(at, name)
		keys, ok := table.(map[string]any)
		if !ok {
			w.Report(key, "must be a section [device.channel."+name+"], got "+schema.Describe(table), "")
			continue
		}
		d.channels = append(d.channels, DeviceChannel{Name: name, Line: w.Loc.Line(key), own: schema.NewOwnKeys(keys, key, w.Loc)})
	}
	slices.SortFunc(d.channels, func(a, b DeviceChannel) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Name, b.Name))
	})
}

// OwnKeys implements schema.OpenSection.
func (d *Device) OwnKeys() []schema.OwnKeys {
	all := []schema.OwnKeys{d.own}
	for _, c := range d.channels {
		all = append(all, c.own)
	}
	return all
}

var _ schema.OpenSection = (*Device)(nil)
