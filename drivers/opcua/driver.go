package opcua

import (
	"github.com/labtuner/tuner/drivers"
)

// Driver describes this driver.
func Driver() drivers.Driver {
	return drivers.Driver{
		Name:     "opcua",
		Options:  func() any { return new(Default()) },
		Discover: discover,
		Channel:  func() any { return new(ChannelOptions) },
		Wire:     wired,
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
	w := drivers.Wired{Where: "opcua at " + options.Endpoint, Places: map[string]string{}, Source: "in the file"}
	if address, err := options.address(); err == nil {
		w.Address = drivers.Place(address.Host)
		w.Network = address.Host
	}
	var channels []ChannelOptions
	for _, section := range s.Channels() {
		o := ChannelOptions{Channel: section.Name()}
		section.Decode(&o)
		if o.Write != nil && o.Safe == nil && o.Release == nil {
			o.Safe = s.Safe(o.Channel)
		}
		channels = append(channels, o)
		w.Channels = append(w.Channels, o.Channel)
		if c, err := parseChannel(o); err == nil && c.write != nil {
			w.Places[o.Channel] = c.write.String()
		}
	}
	w.Build = func(env drivers.Env) (drivers.Device, error) { return New(options, channels, env) }
	w.Late = "one at most, over a server that keeps the session of a dead connection, for session_timeout (" + options.SessionTimeout.String() + ")"
	return w
}
