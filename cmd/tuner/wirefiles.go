package main

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/files"
)

func wireFiles(d *configs.Device, c driverContext) (deviceWiring, []configs.Problem) {
	options := files.Default()
	problems := d.Decode(&options)
	options.Base = c.cfg.Dir
	var channels []files.ChannelOptions
	for i := range d.Channels() {
		section := &d.Channels()[i]
		o := files.ChannelOptions{Channel: section.Name}
		problems = append(problems, section.Decode(&o)...)
		if o.Start == nil {
			o.Start = declaredStart(c.cfg, d.Name, section.Name)
		}
		channels = append(channels, o)
	}
	problems = append(problems, missingChannels(c.cfg, d.Name, "as driver \"files\"", append(slices.Clone(options.Parameters), files.Results()...))...)
	w := deviceWiring{
		where:   "the files " + options.Input + " and " + options.Output,
		address: filepath.Join(absolute(c.cfg.Path(cmp.Or(options.Folder, "."))), options.Input),
		build: func(env drivers.Env) (drivers.Device, error) {
			return files.New(options, channels, env)
		},
		serve: func(ctx context.Context, s serving) error {
			return files.Serve(ctx, files.Plant{Options: options, Device: s.dev, Period: s.period, Env: s.env})
		},
	}
	return w, append(problems, tryDevice(w, d, problems)...)
}

// declaredStart is the start of the variable on a channel, nil if there is none.
func declaredStart(cfg *configs.Config, device, channel string) *float64 {
	for i := range cfg.Variables {
		if v := &cfg.Variables[i]; v.Device == device && v.Channel == channel {
			return v.Start
		}
	}
	return nil
}
