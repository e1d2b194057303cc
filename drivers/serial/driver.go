package serial

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/port"
)

// Driver describes this driver. A profile has channels of its own.
func Driver() drivers.Driver {
	return drivers.Driver{
		Name:         "serial",
		Options:      func() any { return new(Default()) },
		Channel:      func() any { return new(ChannelOptions) },
		IntroducedBy: "profile",
		Discover:     discover,
		Wire:         wired,
	}
}

// wired turns a device of a file into what can be made: its keys are laid over those of the
// profile that it names.
func wired(s drivers.Section) drivers.Wired {
	options, channels := read(s)
	used := slices.DeleteFunc(slices.Clone(channels), func(o ChannelOptions) bool { return !s.Used(o.Channel) })
	w := drivers.Wired{
		Build: func(env drivers.Env) (drivers.Device, error) { return build(options, channels, env) },
		Serve: func(ctx context.Context, to drivers.Serving) error {
			// A profile may have channels that the file does not use, and a plant has none for.
			return Serve(ctx, Plant{Options: options, Channels: used, Device: to.Device, Env: to.Env})
		},
		Where:    "serial at " + options.Port,
		Requests: options.requests(channels),
		Beside:   options.Pause + options.WriteTimeout + options.ReadTimeout,
		Writes:   map[string]time.Duration{},
	}
	options.locate(&w)
	for _, o := range channels {
		w.Channels = append(w.Channels, o.Channel)
		if o.Write != nil {
			w.Writes[o.Channel] = cmp.Or(o.Write.Timeout, options.ReplyTimeout)
		}
	}
	if options.Profile != "" {
		w.Source = fmt.Sprintf("with the profile %q", options.Profile)
	}
	w.Round, w.RoundWords = options.round(used)
	return w
}

// locate says where the instrument is. On the network nothing but a lock of tuner's own keeps
// another process of this computer from driving it, too: units behind a gateway are instruments
// of their own.
func (o Options) locate(w *drivers.Wired) {
	a, network, err := port.Network(o.Port)
	switch {
	case err != nil:
	case !network:
		w.Port = o.Path()
	default:
		w.Network, w.Address = a.HostPort(), a.HostPort()
		if o.registers() {
			w.Address += fmt.Sprintf(" unit %d", o.Address)
		}
		w.Identity = w.Address
	}
}

// read gives the keys of a device and its channels.
func read(s drivers.Section) (Options, []ChannelOptions) {
	var head Options
	s.Decode(&head) // what is wrong with any key shows below
	options, channels, err := fromProfile(head.Profile)
	if err != nil {
		s.Problem("profile", err.Error(), "")
	}
	s.Decode(&options)
	if err != nil {
		options.Profile = ""
	}
	options.Base = s.Folder()
	for _, section := range s.Channels() {
		k := slices.IndexFunc(channels, func(o ChannelOptions) bool { return o.Channel == section.Name() })
		if k < 0 {
			k = len(channels)
			channels = append(channels, ChannelOptions{Channel: section.Name()})
		}
		section.Decode(&channels[k])
	}
	for i := range channels {
		o := &channels[i]
		if o.Write != nil && o.Safe == nil && o.Release == nil {
			o.Safe = s.Safe(o.Channel)
		}
	}
	return options, channels
}

// round is how long it takes at most until every channel has been read, with all
// repeats, as far as the file tells.
func (o Options) round(channels []ChannelOptions) (most time.Duration, words string) {
	read := 0
	for _, c := range channels {
		if c.Read != nil {
			read++
			most += time.Duration(1+o.Retries) * cmp.Or(c.Read.Timeout, o.ReplyTimeout)
		}
	}
	return most, fmt.Sprintf("(1 + retries) x reply_timeout x %d channels that are read", read)
}

// requests are the keys that bound an exchange.
func (o Options) requests(channels []ChannelOptions) []drivers.Request {
	out := []drivers.Request{{Most: o.ReplyTimeout, Key: "reply_timeout"}}
	for _, c := range channels {
		if c.Read != nil && c.Read.Timeout > 0 {
			out = append(out, drivers.Request{Most: c.Read.Timeout, Channel: c.Channel, Key: "read.timeout"})
		}
		if c.Write != nil && c.Write.Timeout > 0 {
			out = append(out, drivers.Request{Most: c.Write.Timeout, Channel: c.Channel, Key: "write.timeout"})
		}
	}
	return out
}
