package serial

import (
	"context"
	"errors"
	"fmt"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/port"
)

// discover asks what is on a port by the profiles that identify their instrument. A port that nobody
// named is listed, and stays closed: opening it raises its modem lines, which resets some
// instruments.
func discover(ctx context.Context, at string, env drivers.Env) (all []drivers.Discovered, err error) {
	if at == "" {
		ports, err := port.List()
		for _, p := range ports {
			all = append(all, drivers.Discovered{Name: "serial", Says: fmt.Sprintf("a serial port, %s, which was not opened: name it, with --device serial=%s", p.Path, p.Path)})
		}
		return all, err
	}
	env.ReadOnly = true
	var last error
	for _, name := range Profiles() {
		o, channels, err := FromProfile(name)
		if err != nil || o.Identify == nil {
			continue
		}
		o.Port = at
		d, err := New(o, channels, env)
		if err != nil {
			return nil, err
		}
		opened, err := d.Open(ctx)
		if err = errors.Join(err, d.Close()); err != nil {
			last = err
			if ctx.Err() != nil {
				break
			}
			continue
		}
		found := drivers.Discovered{Name: "instrument", Says: fmt.Sprintf("an instrument of the profile %s at %s", name, at), Keys: []string{fmt.Sprintf("port = %q", at), fmt.Sprintf("profile = %q", name)}}
		for _, c := range opened {
			found.Channels = append(found.Channels, drivers.DiscoveredChannel{Channel: c})
		}
		return []drivers.Discovered{found}, nil
	}
	return nil, fmt.Errorf("no profile that identifies its instrument fits what is at %s; the last one: %w", at, last)
}
