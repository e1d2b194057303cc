package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/sim"
	"github.com/labtuner/tuner/loop"
)

func newPlantCommand(e *env) *cobra.Command {
	var device, faults string
	cmd := &cobra.Command{
		Use:   "plant CONFIG",
		Short: "Serve the simulated plant as an instrument",
		Long: `Serve the simulated plant of a configuration as if it were the instrument, each
device under its own driver: serial devices on a pseudo-terminal that port becomes a
link to, mqtt devices on their topics at their broker, an exec device on stdin and
stdout, so that

  command = ["tuner", "plant", "my.toml", "--device", "laboratory"]

makes it a child of tuner run. It ends with Ctrl-C, and as a child with its input.

With --faults PIPE things go wrong while it runs: each line that is written to the named
pipe, which is made if it is not there, is a fault as [plant] faults has them, without a
time or with one:

  echo stuck:energy+30s > PIPE
  echo garbage:laser+5s > PIPE`,
		Args:              oneFile("a configuration file"),
		ValidArgsFunction: completeFiles("toml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := loadWiring(args[0], e.executable)
			if err != nil {
				return err
			}
			served, err := w.servedDevices(device)
			if err != nil {
				return err
			}
			return servePlant(cmd.Context(), e, w, plantServing{served, faults})
		},
	}
	cmd.Flags().StringVar(&device, "device", "", "serve this device only")
	cmd.Flags().StringVar(&faults, "faults", "", "take faults from this named pipe while it runs")
	return cmd
}

// servedDevices picks what is to be served, and refuses what cannot be.
func (w *wiring) servedDevices(name string) ([]deviceWiring, error) {
	if w.plant == nil {
		return nil, configError(w, "plant", "missing: there is nothing to serve", `add [plant] with kind = "laser", "growth", "dosing" or "table"`)
	}
	served := w.devices
	if name != "" {
		i := slices.IndexFunc(w.devices, func(d deviceWiring) bool { return d.name == name })
		if i < 0 {
			return nil, usageError{withHint(fmt.Errorf("%s has no device %q", w.cfg.File, name), "the devices are "+strings.Join(w.deviceNames(), ", "))}
		}
		served = w.devices[i : i+1]
	}
	onStdin := 0
	for _, d := range served {
		if d.serve == nil {
			return nil, configError(w, "device."+d.name+".driver",
				fmt.Sprintf("driver %q has nothing to serve: its plant is within the process that reads it", d.driver),
				"tuner run and simulate take it as it is; serial, mqtt and exec devices can be served, one of several by --device NAME")
		}
		if d.usesStdin {
			onStdin++
		}
	}
	if onStdin > 1 {
		return nil, usageError{withHint(errors.New("several exec devices would share one stdin and stdout"), "--device NAME serves one of them")}
	}
	return served, nil
}

// deviceNames are the devices' names, by the index that channels have.
func (w *wiring) deviceNames() []string {
	names := make([]string, len(w.devices))
	for i, d := range w.devices {
		names[i] = d.name
	}
	return names
}

// plantServing is what the command line asks of tuner plant.
type plantServing struct {
	devices []deviceWiring
	// faults is the named pipe that faults come from, "" for none.
	faults string
}

// servePlant serves until ctx ends or one of the devices does.
func servePlant(ctx context.Context, e *env, w *wiring, asked plantServing) error {
	tell := newNarrator(e.stderr, style{})
	defer tell.close()
	env := drivers.Env{Clock: loop.RealClock{}, Log: newLog(tell)}
	options := *w.plant
	options.Variables, options.Sensors = slices.Clone(options.Variables), slices.Clone(options.Sensors)
	for _, d := range w.devices {
		d.renameChannels(&options)
	}
	plant, err := sim.New(options, env)
	if err != nil {
		return err
	}
	for _, text := range plant.Notes() {
		tell.say("tuner: plant: %s", text)
	}
	if len(options.Faults) > 0 {
		tell.say("tuner: warning: a plant that is served knows no steps: faults that wait for one never begin")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if asked.faults != "" {
		pipe, err := openFaultPipe(asked.faults)
		if err != nil {
			return err
		}
		defer pipe.Close() // ends the goroutine
		go injectFrom(pipe, plant, tell)
	}
	ends := make(chan error, len(asked.devices))
	for _, d := range asked.devices {
		tell.say("tuner: plant: serving device %s: %s", d.name, d.where)
		s := serving{dev: plant.Served(d.name), period: w.opt.Tick, stdin: e.stdin, stdout: e.stdout,
			env: drivers.Env{Clock: env.Clock, Log: env.Log.With("device", d.name)}}
		go func() {
			err := d.serve(ctx, s)
			if err != nil && !errors.Is(err, context.Canceled) {
				err = fmt.Errorf("device %q: %w", d.name, err)
			}
			ends <- err
		}()
	}
	var all []error
	for range asked.devices {
		err := <-ends
		cancel() // one device that is gone takes the others along
		if !errors.Is(err, context.Canceled) {
			all = append(all, err)
		}
	}
	if err := errors.Join(all...); err != nil {
		return err
	}
	tell.say("tuner: plant: ended, its devices are at their safe values")
	return nil
}

// renameChannels gives the plant's channels the names that the driver's other
// side knows.
func (d deviceWiring) renameChannels(o *sim.Options) {
	rename := func(device string, channel *string) {
		if other, ok := d.otherName[*channel]; ok && device == d.name {
			*channel = other
		}
	}
	for i := range o.Variables {
		rename(o.Variables[i].Device, &o.Variables[i].Channel)
	}
	for i := range o.Sensors {
		rename(o.Sensors[i].Device, &o.Sensors[i].Channel)
	}
}
