package setup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"slices"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/worker"
)

// LoadAsked is Load for a file that leaves keys to devices which say themselves what they
// are: those devices are opened to look, and closed. recorded gives the text that a run went by
// before, nil where there is none: what the devices said then holds, so that a run goes on as
// it began; where a device takes less by now, the run is refused when it is opened.
func LoadAsked(ctx context.Context, path string, e *host.Env, recorded func(*configs.Config) []byte) (*Setup, error) {
	a := asker{host: e}
	w, err := a.load(ctx, path, recorded)
	return w, errors.Join(err, a.close())
}

// LoadAskedUnbounded is LoadAsked for who makes safe, as LoadUnbounded is Load.
func LoadAskedUnbounded(ctx context.Context, path string, e *host.Env) (*Setup, error) {
	a := asker{host: e, unbounded: true}
	w, err := a.load(ctx, path, nil)
	return w, errors.Join(err, a.close())
}

// LoadProbed is LoadAsked for who looks at the devices next: those that were asked stay open, so that
// a program is started once. Each is what the Setup builds for it the first time; done closes those that were not
// built, and is to be called in any case.
func LoadProbed(ctx context.Context, path string, e *host.Env, log *slog.Logger) (w *Setup, done func() error, err error) {
	a := asker{host: e, log: log}
	if w, err = a.load(ctx, path, nil); err == nil {
		for i := range w.Devices {
			a.lend(&w.Devices[i])
		}
	}
	return w, a.close, err
}

// asker asks devices what they are.
type asker struct {
	host *host.Env
	log  *slog.Logger // of the devices; nil: none
	open map[string]*opened
	// unbounded says that slow requests are no reason to refuse the file.
	unbounded bool
}

// opened is a device that was opened to be asked. It is opened once.
type opened struct {
	drivers.Device
	channels []drivers.Channel
}

// Open gives what the device has said.
func (o *opened) Open(context.Context) ([]drivers.Channel, error) { return o.channels, nil }

// lend makes an open device the one that d builds first.
func (a *asker) lend(d *Device) {
	build := d.Build
	d.Build = func(env drivers.Env) (drivers.Device, error) {
		if o := a.open[d.Name]; o != nil {
			delete(a.open, d.Name)
			return o, nil
		}
		return build(env)
	}
}

// close closes the devices that nobody has taken.
func (a *asker) close() (err error) {
	for _, o := range a.open {
		err = errors.Join(err, o.Close())
	}
	a.open = nil
	return err
}

// load is LoadAsked; the devices that were asked are left open.
func (a *asker) load(ctx context.Context, path string, recorded func(*configs.Config) []byte) (*Setup, error) {
	e := a.host
	text, err := os.ReadFile(path)
	if err != nil {
		return Load(path, e) // which says it
	}
	cfg, _ := configs.Parse(path, text, Known())
	if cfg == nil || len(cfg.Asks) == 0 {
		return Load(path, e)
	}
	if recorded != nil {
		before := slices.Concat(text, configs.DeclaredIn(recorded(cfg)))
		if c, _ := configs.Parse(path, before, Known()); c != nil && len(c.Asks) == 0 {
			return bounded(Parse(path, before, e))
		}
	}
	said, err := a.ask(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if text, err = configs.WithDeclared(text, said); err != nil {
		return nil, err
	}
	if a.unbounded {
		return Parse(path, text, e)
	}
	return bounded(Parse(path, text, e))
}

// Unasked says that a file is in order as far as it goes, and what it leaves to its devices.
type Unasked struct {
	Config  *configs.Config
	Devices []Device
}

// Error says what is left to the devices.
func (u *Unasked) Error() string {
	return fmt.Sprintf("%s leaves %s to its devices, which have not been asked; the first is %s", u.Config.File, show.Count(len(u.Config.Asks), "key"), u.Config.Asks[0].Key)
}

// Keys are the keys that are left to them.
func (u *Unasked) Keys() []string {
	var keys []string
	for _, a := range u.Config.Asks {
		keys = append(keys, a.Key)
	}
	return keys
}

// ParseUnasked is Load for a text, as if it stood in file.
func ParseUnasked(file string, text []byte, e *host.Env) (*Setup, error) {
	w := new(Setup)
	cfg, err := configs.Parse(file, text, w.known())
	if cfg == nil || len(cfg.Asks) == 0 {
		return bounded(Parse(file, text, e))
	}
	return w.unasked(cfg, err, e)
}

// unasked wires a configuration that leaves keys to its devices; it was loaded with the error err.
func (w *Setup) unasked(cfg *configs.Config, err error, e *host.Env) (*Setup, error) {
	if _, err = w.wire(cfg, err, e); err == nil {
		return w, nil
	}
	broken := (*configs.Error)(nil)
	if !errors.As(err, &broken) {
		return nil, err
	}
	if left := cfg.Left(broken.Problems); len(left) > 0 {
		return nil, configs.NewError(left...)
	}
	return nil, fault.Usage(fault.WithHint(&Unasked{cfg, w.Devices}, "tuner check --probe "+cfg.File+" asks them, and says what the run will do; tuner run asks them too, and so do simulate, plant and safety explain with --probe; else write them into the file"))
}

// bounded refuses requests that a safe value would wait for too long, as Load does.
func bounded(w *Setup, err error) (*Setup, error) {
	if err == nil {
		err = configs.NewError(waits{w.Config, w.Devices}.safeWaits()...)
	}
	if err != nil {
		return nil, err
	}
	return w, nil
}

// ask asks the devices that the file leaves keys to, in the file's order.
func (a *asker) ask(ctx context.Context, cfg *configs.Config) (said []configs.Declared, err error) {
	w := &Setup{Config: cfg}
	w.sharedPlant = w.plantOnce()
	for i := range cfg.Devices {
		d := &cfg.Devices[i]
		if !slices.ContainsFunc(cfg.Asks, func(a configs.Ask) bool { return a.Device == d.Name }) {
			continue
		}
		wired, problems := w.wireDevice(d, a.host)
		if err := configs.NewError(problems...); err != nil {
			return nil, err
		}
		o, err := a.openDevice(ctx, wired)
		if err != nil && ctx.Err() != nil { // nothing is wrong with it
			return nil, context.Cause(ctx)
		}
		if err != nil {
			err = fmt.Errorf("%w: device %q was asked what it is: %w", loop.ErrInstrument, d.Name, err)
			if d.Driver == "exec" {
				err = fault.WithHint(err, "tuner exec-test with its command tries the program alone, and says what it answers")
			}
			return nil, err
		}
		for _, c := range o.channels {
			said = append(said, declaredBy(d.Name, c))
		}
	}
	return said, nil
}

// openDevice opens a device to look.
func (a *asker) openDevice(ctx context.Context, d Device) (*opened, error) {
	env := drivers.Env{Clock: worker.RealClock{}, ReadOnly: true}
	if a.log != nil {
		env.Log = a.log.With("device", d.Name)
	}
	dev, err := d.Build(env)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, a.host.Patience(drivers.OpenTime(dev)))
	defer cancel()
	channels, err := dev.Open(ctx)
	if err != nil {
		return nil, errors.Join(err, dev.Close())
	}
	o := &opened{dev, channels}
	if a.open == nil {
		a.open = map[string]*opened{}
	}
	a.open[d.Name] = o
	return o, nil
}

// declaredBy is what a device says of a channel, in the schema's form.
func declaredBy(device string, c drivers.Channel) configs.Declared {
	known := func(v float64, is bool) *float64 {
		if !is || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return &v
	}
	return configs.Declared{Device: device, Channel: c.Name, Unit: c.Unit, Min: known(c.Min, true), Max: known(c.Max, true), Safe: known(c.Safe, true),
		Resolution: known(c.Resolution, c.Resolution > 0), Accuracy: known(c.Accuracy, c.Accuracy > 0)}
}

// declares is what a driver knows without opening anything, in the schema's form.
func declares(d drivers.Driver) func(map[string]any, string) (configs.Declared, string, bool) {
	if d.Declares == nil {
		return nil
	}
	return func(device map[string]any, channel string) (configs.Declared, string, bool) {
		c, source, known := d.Declares(device, channel)
		name, _ := device["name"].(string)
		return declaredBy(name, c), source, known
	}
}
