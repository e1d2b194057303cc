package exec

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/labtuner/tuner/drivers"
)

// Driver describes this driver.
func Driver() drivers.Driver {
	return drivers.Driver{
		Name:       "exec",
		Options:    func() any { return new(Default()) },
		Channel:    func() any { return new(ChannelOptions) },
		Introduces: true,
		Discover:   discover,
		Wire:       wired,
	}
}

// wired turns a device of a file into what can be made.
func wired(s drivers.Section) drivers.Wired {
	options := Default()
	s.Decode(&options)
	options.Base, options.Executable = s.Folder(), s.Executable()
	var channels []ChannelOptions
	other := map[string]string{}
	for _, section := range s.Channels() {
		o := ChannelOptions{Channel: section.Name()}
		section.Decode(&o)
		channels = append(channels, o)
		if o.Name != "" {
			other[o.Channel] = o.Name
		}
	}
	return drivers.Wired{
		Build: func(env drivers.Env) (drivers.Device, error) { return New(options, channels, env) },
		Serve: func(ctx context.Context, to drivers.Serving) error {
			return Serve(ctx, to.Stdin, to.Stdout, s.Name(), to.Device)
		},
		Where:      "tuner-exec/1 on stdin and stdout",
		UsesStdin:  true,
		Address:    strings.Join(options.Command, " ") + " in " + absolute(options.folder()),
		Identity:   options.identity(),
		OtherName:  other,
		Requests:   []drivers.Request{{Most: options.ReplyTimeout, Key: "reply_timeout"}},
		Exit:       options.ExitTimeout,
		Round:      options.ReplyTimeout, // one request reads them all
		RoundWords: "reply_timeout",
	}
}

// absolute is a folder's full path, where it can be found.
func absolute(folder string) string {
	if path, err := filepath.Abs(folder); err == nil {
		return path
	}
	return folder
}
