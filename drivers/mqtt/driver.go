package mqtt

import (
	"context"
	"fmt"
	"strings"

	"github.com/labtuner/tuner/drivers"
)

// Driver describes this driver.
func Driver() drivers.Driver {
	return drivers.Driver{
		Name:    "mqtt",
		Options: func() any { return new(Default()) },
		Channel: func() any { return new(ChannelOptions) },
		Wire:    wired,
	}
}

// wired turns a device of a file into what can be made.
func wired(s drivers.Section) drivers.Wired {
	options := Default()
	s.Decode(&options)
	options.Base = s.Folder()
	if options.PasswordCred != "" || options.PasswordEnv != "" {
		file, credential, variable := options.PasswordFile, options.PasswordCred, options.PasswordEnv
		options.Password = func() (string, error) { return s.Secret(file, credential, variable) }
	}
	var channels []ChannelOptions
	topics := map[string]string{}
	for _, section := range s.Channels() {
		o := ChannelOptions{Channel: section.Name()}
		section.Decode(&o)
		if o.Safe == nil && o.Release == nil {
			o.Safe = s.Safe(o.Channel)
		}
		if o.Write != nil {
			topics[o.Channel] = o.Write.Topic
			if s.Used(o.Channel) {
				options.Claims = append(options.Claims, o.Write.Topic)
			}
		}
		channels = append(channels, o)
	}
	return drivers.Wired{
		Build: func(env drivers.Env) (drivers.Device, error) { return New(options, channels, env) },
		Serve: func(ctx context.Context, to drivers.Serving) error {
			return Serve(ctx, Plant{Options: options, Channels: channels, Device: to.Device, Period: to.Period, Env: to.Env})
		},
		Where:  "mqtt at " + options.Broker,
		Broker: options.Address(),
		Topics: topics,
		Late:   lateWords(options, channels),
	}
}

// lateWords say how many setpoints may arrive late, however old, after a network or a broker
// has held them up.
func lateWords(o Options, channels []ChannelOptions) string {
	var one, all []string
	for _, c := range channels {
		switch {
		case c.Write == nil || c.Dose:
		case c.Confirm != nil:
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
