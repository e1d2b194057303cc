// Package serve is tuner plant: it serves the simulated plant of a configuration over the
// transports of its devices.
//
// [Pick] says which devices are served and refuses what cannot be; [Plant] serves them until it is
// interrupted, each by the driver's own server (exec on stdin and stdout, serial lines, Modbus,
// MQTT). Faults of the plant come line by line through a named pipe, where one is given.
package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/sim"
	"github.com/labtuner/tuner/loop/worker"
)

// Pick picks what is to be served, and refuses what cannot be.
func Pick(w *setup.Setup, name string) ([]setup.Device, error) {
	if w.Plant == nil {
		return nil, w.Refuse("plant", "missing: there is nothing to serve", `add [plant] with kind = "laser", "growth", "dosing" or "table"`)
	}
	served := w.Devices
	if name != "" {
		i := slices.IndexFunc(w.Devices, func(d setup.Device) bool { return d.Name == name })
		if i < 0 {
			return nil, fault.Usage(fault.WithHint(fmt.Errorf("%s has no device %q", w.Config.File, name), "the devices are "+strings.Join(w.DeviceNames(), ", ")))
		}
		served = w.Devices[i : i+1]
	}
	onStdin := 0
	for _, d := range served {
		if d.Serve == nil {
			return nil, w.Refuse("device."+d.Name+".driver",
				fmt.Sprintf("driver %q has nothing to serve: its plant is within the process that reads it", d.Driver),
				"tuner run and simulate take it as it is; devices of other drivers can be served, one of several by --device NAME")
		}
		if d.UsesStdin {
			onStdin++
		}
	}
	if onStdin > 1 {
		return nil, fault.Usage(fault.WithHint(errors.New("several exec devices would share one stdin and stdout"), "--device NAME serves one of them"))
	}
	return served, nil
}

// Asked is what the command line asks of tuner plant.
type Asked struct {
	Devices []setup.Device
	// Faults is the named pipe that faults come from, "" for none.
	Faults string
}

// Plant serves until ctx ends or one of the devices does.
func Plant(ctx context.Context, e *host.Env, w *setup.Setup, asked Asked) error {
	tell := show.NewNarrator(e.Stderr, show.Style{Level: e.Level})
	defer tell.Close()
	env := drivers.Env{Clock: worker.RealClock{}, Log: show.NewLog(tell)}
	options := *w.Plant
	options.Variables, options.Sensors = slices.Clone(options.Variables), slices.Clone(options.Sensors)
	for _, d := range w.Devices {
		d.RenameChannels(&options)
	}
	plant, err := sim.New(options, env)
	if err != nil {
		return err
	}
	for _, text := range plant.Notes() {
		tell.Say("tuner: plant: %s", text)
	}
	if len(options.Faults) > 0 {
		tell.Say("tuner: warning: a plant that is served knows no steps: faults that wait for one never begin")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if asked.Faults != "" {
		pipe, err := openFaultPipe(asked.Faults)
		if err != nil {
			return err
		}
		defer pipe.Close() // ends the goroutine
		go injectFrom(pipe, plant, tell)
	}
	ends := make(chan error, len(asked.Devices))
	for _, d := range asked.Devices {
		tell.Say("tuner: plant: serving device %s: %s", d.Name, d.Where)
		s := drivers.Serving{Device: plant.Served(d.Name), Period: w.Options.Tick, Stdin: e.Stdin, Stdout: e.Stdout,
			Env: drivers.Env{Clock: env.Clock, Log: env.Log.With("device", d.Name)}}
		go func() {
			err := d.Serve(ctx, s)
			if err != nil && !errors.Is(err, context.Canceled) {
				err = fmt.Errorf("device %q: %w", d.Name, err)
			}
			ends <- err
		}()
	}
	var all []error
	for range asked.Devices {
		err := <-ends
		cancel() // one device that is gone takes the others along
		if !errors.Is(err, context.Canceled) {
			all = append(all, err)
		}
	}
	if err := errors.Join(all...); err != nil {
		return err
	}
	tell.Say("tuner: plant: ended, its devices are at their safe values")
	return nil
}
