package examine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/worker"
)

// Place is where a driver is to look: a port, a broker, a command; At is "" for the usual ones.
type Place struct {
	Driver, At string
}

// ParsePlace reads DRIVER or DRIVER=AT.
func ParsePlace(text string) (Place, error) {
	name, at, _ := strings.Cut(text, "=")
	var names []string
	for _, d := range setup.Drivers() {
		if d.Discover != nil {
			names = append(names, d.Name)
		}
	}
	if !slices.Contains(names, name) {
		return Place{}, fault.Usage(fault.WithHint(fmt.Errorf("--device %s: no driver %q can look for instruments", text, name), "write one of "+strings.Join(names, ", ")+", and where: --device exec=\"python3 oven.py\""))
	}
	return Place{name, at}, nil
}

// Instrumented is an instrument that answered, with its driver.
type Instrumented struct {
	Driver string
	drivers.Discovered
}

// discoverTime bounds the look at one place: a program alone may take 30 s to say hello.
const discoverTime = 40 * time.Second

// Discover looks what answers at places, or at the usual ones of every driver where none is named.
// It reads, and moves nothing.
func Discover(ctx context.Context, e *host.Env, places []Place) (all []Instrumented, err error) {
	for _, d := range setup.Drivers() {
		if d.Discover != nil && len(places) == 0 {
			found, err := discoverAt(ctx, e, d, "")
			if err != nil {
				fmt.Fprintf(e.Stderr, "tuner: %s: %v\n", d.Name, err)
			}
			all = append(all, found...)
		}
	}
	for _, p := range places {
		i := slices.IndexFunc(setup.Drivers(), func(d drivers.Driver) bool { return d.Name == p.Driver })
		found, err := discoverAt(ctx, e, setup.Drivers()[i], p.At)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", loop.ErrInstrument, p.Driver, err)
		}
		all = append(all, found...)
	}
	names := map[string]int{}
	for i := range all { // each device has a name of its own
		if names[all[i].Name]++; names[all[i].Name] > 1 {
			all[i].Name += fmt.Sprint(names[all[i].Name])
		}
	}
	return all, nil
}

// discoverAt looks at one place.
func discoverAt(ctx context.Context, e *host.Env, d drivers.Driver, at string) (all []Instrumented, err error) {
	ctx, cancel := context.WithTimeout(ctx, e.Patience(discoverTime))
	defer cancel()
	found, err := d.Discover(ctx, at, drivers.Env{Clock: worker.RealClock{}, ReadOnly: true})
	for _, f := range found {
		all = append(all, Instrumented{d.Name, f})
	}
	return all, err
}
