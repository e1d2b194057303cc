package mqtt

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/labtuner/tuner/drivers"
)

// Driver describes this driver.
func Driver() drivers.Driver {
	return drivers.Driver{
		Name:    "mqtt",
		Options: func() any { return new(Default()) },
		Channel: func() any { return new(ChannelOptions) },
		// A preset has channels of its own.
		IntroducedBy: "preset",
		Declares:     declares,
		Discover:     discover,
		Wire:         wired,
	}
}

// wired turns a device of a file into what can be made: its keys are laid over those of the
// preset that it names.
func wired(s drivers.Section) drivers.Wired {
	options, channels := read(s)
	topics := map[string]string{}
	for i := range channels {
		o := &channels[i]
		if o.Write == nil {
			continue
		}
		if o.Safe == nil && o.Release == nil {
			o.Safe = s.Safe(o.Channel)
		}
		topics[o.Channel] = o.Write.Topic
		if s.Used(o.Channel) && !slices.Contains(options.Claims, o.Write.Topic) {
			options.Claims = append(options.Claims, o.Write.Topic)
		}
	}
	w := drivers.Wired{
		Build: func(env drivers.Env) (drivers.Device, error) { return New(options, channels, env) },
		Serve: func(ctx context.Context, to drivers.Serving) error {
			return Serve(ctx, Plant{Options: options, Channels: channels, Device: to.Device, Period: to.Period, Env: to.Env})
		},
		Where:    "mqtt at " + options.Broker,
		Broker:   options.Address(),
		Topics:   topics,
		Late:     lateWords(options, channels),
		Messages: func(channel string, values []float64) []drivers.Message { return messages(channels, channel, values) },
	}
	return w
}

// declares is what the preset of a device says of a channel, with the file's keys over it.
func declares(device map[string]any, channel string) (drivers.Channel, string, bool) {
	name, _ := device["preset"].(string)
	id, _ := device["id"].(string)
	p, err := presetOf(name, id)
	if name == "" || err != nil { // which is told elsewhere
		return drivers.Channel{}, "", false
	}
	o, there := p.channel(channel)
	if channels, ok := device["channel"].(map[string]any); ok && channels[channel] != nil {
		var own strings.Builder
		err := toml.NewEncoder(&own).Encode(channels[channel])
		if err == nil {
			_, err = toml.Decode(own.String(), &o)
		}
		if err != nil {
			return drivers.Channel{}, "", false
		}
	}
	c, err := parseChannel(o)
	if !there || err != nil {
		return drivers.Channel{}, "", false
	}
	return c.Channel, fmt.Sprintf("preset %s", name), true
}

// read gives the keys of a device, and the channels of the file and those of the preset that are
// used.
func read(s drivers.Section) (Options, []ChannelOptions) {
	var head Options
	s.Decode(&head) // what is wrong with any key shows below
	p, err := presetOf(head.Preset, head.ID)
	if err != nil {
		s.Problem("preset", err.Error(), "")
	}
	options := p.options
	s.Decode(&options)
	options.Base = s.Folder()
	if options.PasswordCred != "" || options.PasswordEnv != "" {
		file, credential, variable := options.PasswordFile, options.PasswordCred, options.PasswordEnv
		options.Password = func() (string, error) { return s.Secret(file, credential, variable) }
	}
	var channels []ChannelOptions
	for _, section := range s.Channels() {
		o, _ := p.channel(section.Name())
		section.Decode(&o)
		channels = append(channels, o)
	}
	if p.name == "" || err != nil {
		return options, channels
	}
	for _, name := range s.Uses() {
		if slices.ContainsFunc(channels, func(o ChannelOptions) bool { return o.Channel == name }) {
			continue
		}
		o, there := p.channel(name)
		if !there {
			s.Problem("preset", fmt.Sprintf("the preset %q has no channel %q; it has %s", p.name, name, p.names()), "write [device.channel."+name+"] with read = { topic = ... }")
			continue
		}
		channels = append(channels, o)
	}
	return options, channels
}

// lateWords say how many setpoints may arrive late, however old, after a network or a broker
// has held them up.
func lateWords(o Options, channels []ChannelOptions) string {
	var one, all []string
	for _, c := range channels {
		switch {
		case c.Write == nil || c.Dose:
		case c.Confirm != nil || c.Write.Template != "":
			one = append(one, c.Channel)
		default:
			all = append(all, c.Channel)
		}
	}
	words := fmt.Sprintf("up to the broker one for each channel, which then stays without a connection after %v", BrokerWait)
	if len(one) > 0 {
		words += fmt.Sprintf("; behind it one of %s, and one more each %v of silence", strings.Join(one, ", "), (&Device{options: o.filled()}).MaxDelay())
	}
	if len(all) > 0 {
		words += fmt.Sprintf("; behind it all of %s that are sent meanwhile: confirm = { topic = ... } bounds that", strings.Join(all, ", "))
	}
	return words
}
