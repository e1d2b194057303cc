package configs

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Device is a connection to an instrument. Beside its name and driver it keeps
// the driver's own keys undecoded: the driver's options struct gives them their
// meaning, through Decode.
type Device struct {
	Name   string `toml:"name" required:"true" doc:"name that sensors and variables refer to"`
	Driver string `toml:"driver" required:"true" enum:"@drivers" doc:"which driver speaks to it"`
	// Line is the line of the device's header in the file, 0 where unknown.
	Line int `toml:"-"`

	own      ownKeys
	channels []DeviceChannel
}

// DeviceChannel is one [device.channel.NAME] section, its keys undecoded.
type DeviceChannel struct {
	Name string
	// Line is the line of the section's header, 0 where unknown.
	Line int

	own ownKeys
}

// ownKeys are the keys of a section that only a driver understands.
type ownKeys struct {
	raw map[string]any
	at  string
	loc *locator
	// others are keys of the same section that belong to this package.
	others []string
	// settings are the driver's values with their defaults, once decoded.
	settings *[]Setting
}

// Decode lays the device's own keys, all but name, driver and channel, over dst,
// a pointer to a struct whose field tags are as this package's (toml, doc, unit,
// bound, enum, required). What dst holds before are the defaults. The problems
// have their lines; none means that dst is filled. Once decoded, the values and
// defaults of dst appear in Config.Effective.
func (d *Device) Decode(dst any) []Problem { return d.own.decode(dst) }

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
func (d *Device) Problem(key, what, hint string) Problem { return d.own.problem(key, what, hint) }

// Decode lays the channel's keys over dst, as Device.Decode does.
func (c *DeviceChannel) Decode(dst any) []Problem { return c.own.decode(dst) }

// Problem makes a Problem of one of the channel's keys.
func (c *DeviceChannel) Problem(key, what, hint string) Problem {
	return c.own.problem(key, what, hint)
}

func (o *ownKeys) problem(key, what, hint string) Problem {
	at := o.at
	if key != "" {
		at += "." + key
	}
	return o.loc.problem(at, what, hint)
}

func (o *ownKeys) decode(dst any) []Problem {
	v := reflect.ValueOf(dst)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return []Problem{o.problem("", fmt.Sprintf("cannot be decoded into %T: it wants a pointer to a struct", dst), "")}
	}
	w := newWalker(o.loc, nil)
	w.section(v.Elem(), o.raw, o.at, o.others...)
	if o.settings != nil {
		s := settings{loc: o.loc}
		s.section(v.Elem(), o.at)
		*o.settings = s.list
	}
	return sorted(w.problems)
}

// keep implements keeper: it takes the driver's keys and splits off the channels.
func (d *Device) keep(unknown map[string]any, at string, w *walker) {
	d.Line = w.loc.line(at)
	d.own = ownKeys{raw: maps.Clone(unknown), at: at, loc: w.loc, others: []string{"name", "driver", "channel"}, settings: new([]Setting)}
	delete(d.own.raw, "channel")
	raw, present := unknown["channel"]
	if !present {
		return
	}
	at = joinKey(at, "channel")
	tables, ok := raw.(map[string]any)
	if !ok {
		w.report(at, "must be sections [device.channel.NAME], got "+describe(raw), "")
		return
	}
	for name, table := range tables {
		key := joinKey(at, name)
		keys, ok := table.(map[string]any)
		if !ok {
			w.report(key, "must be a section [device.channel."+name+"], got "+describe(table), "")
			continue
		}
		own := ownKeys{raw: keys, at: key, loc: w.loc, settings: new([]Setting)}
		d.channels = append(d.channels, DeviceChannel{Name: name, Line: w.loc.line(key), own: own})
	}
	slices.SortFunc(d.channels, func(a, b DeviceChannel) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Name, b.Name))
	})
}
