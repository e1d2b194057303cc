package setup

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial"
)

// wireSerial lays the file's keys over those of the profile that it names.
func wireSerial(d *configs.Device, c driverContext) (Device, []configs.Problem) {
	var head struct {
		Profile string `toml:"profile"`
	}
	d.Decode(&head) // what is wrong with any key shows below
	options, channels, err := serial.FromProfile(head.Profile)
	var problems []configs.Problem
	if err != nil {
		problems = append(problems, d.Problem("profile", err.Error(), ""))
	}
	problems = append(problems, d.Decode(&options)...)
	options.Base = c.cfg.Dir
	for i := range d.Channels() {
		section := &d.Channels()[i]
		k := slices.IndexFunc(channels, func(o serial.ChannelOptions) bool { return o.Channel == section.Name })
		if k < 0 {
			k = len(channels)
			channels = append(channels, serial.ChannelOptions{Channel: section.Name})
		}
		problems = append(problems, section.Decode(&channels[k])...)
	}
	for i := range channels {
		o := &channels[i]
		if o.Write != nil && o.Safe == nil && o.Release == nil {
			o.Safe = declaredSafe(c.cfg, d.Name, o.Channel)
		}
	}
	if err == nil && head.Profile != "" {
		problems = append(problems, missingChannels(c.cfg, d.Name, fmt.Sprintf("with the profile %q", head.Profile), channelNames(channels))...)
	}
	w := Device{
		Where: "serial at " + options.Port,
		Port:  options.Path(),
		Build: func(env drivers.Env) (drivers.Device, error) {
			return serial.New(options, channels, env)
		},
		Serve: func(ctx context.Context, s Serving) error {
			return serial.Serve(ctx, serial.Plant{Options: options, Channels: wiredChannels(c.cfg, d.Name, channels), Device: s.Dev, Env: s.Env})
		},
	}
	w.requests = serialRequests(d, options, channels)
	w.writes = map[string]time.Duration{}
	for _, o := range channels {
		if o.Write != nil {
			w.writes[o.Channel] = cmp.Or(o.Write.Timeout, options.ReplyTimeout)
		}
	}
	w.beside = options.Pause + options.WriteTimeout + options.ReadTimeout
	w.round, w.roundWords = serialRound(options, wiredChannels(c.cfg, d.Name, channels))
	return w, append(problems, tryDevice(w, d, problems)...)
}

// serialRound is how long it takes at most until every channel has been read, with all
// repeats, as far as the file tells.
func serialRound(o serial.Options, channels []serial.ChannelOptions) (most time.Duration, words string) {
	read := 0
	for _, c := range channels {
		if c.Read != nil {
			read++
			most += time.Duration(1+o.Retries) * cmp.Or(c.Read.Timeout, o.ReplyTimeout)
		}
	}
	return most, fmt.Sprintf("(1 + retries) x reply_timeout x %d channels that are read", read)
}

// serialRequests are the keys that bound an exchange.
func serialRequests(d *configs.Device, o serial.Options, channels []serial.ChannelOptions) []requestKey {
	out := []requestKey{{o.ReplyTimeout, keyOf(d.Problem, "reply_timeout")}}
	for _, c := range channels {
		problem := d.Problem
		at := "channel." + c.Channel + "."
		if section, there := d.Channel(c.Channel); there {
			problem, at = section.Problem, ""
		}
		if c.Read != nil && c.Read.Timeout > 0 {
			out = append(out, requestKey{c.Read.Timeout, keyOf(problem, at+"read.timeout")})
		}
		if c.Write != nil && c.Write.Timeout > 0 {
			out = append(out, requestKey{c.Write.Timeout, keyOf(problem, at+"write.timeout")})
		}
	}
	return out
}

// channelNames are the names that a device's file and profile give.
func channelNames(channels []serial.ChannelOptions) []string {
	names := make([]string, len(channels))
	for i, o := range channels {
		names[i] = o.Channel
	}
	return names
}

// missingChannels reports the sensors and variables of a device that are on none of
// its channels; with says where those come from.
func missingChannels(cfg *configs.Config, device, with string, names []string) []configs.Problem {
	var problems []configs.Problem
	look := func(at, on, channel string) {
		if on == device && channel != "" && !slices.Contains(names, channel) {
			problems = append(problems, cfg.Problem(at+".channel",
				fmt.Sprintf("device %q has no channel %q; %s it has %s", device, channel, with, strings.Join(names, ", ")),
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

// wiredChannels are the channels that a variable or a sensor of the file uses: a
// plant has no others, though a profile may.
func wiredChannels(cfg *configs.Config, device string, channels []serial.ChannelOptions) []serial.ChannelOptions {
	used := map[string]bool{}
	for _, v := range cfg.Variables {
		used[v.Channel] = used[v.Channel] || v.Device == device
	}
	for _, s := range cfg.Sensors {
		used[s.Channel] = used[s.Channel] || s.Device == device
	}
	return slices.DeleteFunc(slices.Clone(channels), func(o serial.ChannelOptions) bool { return !used[o.Channel] })
}
