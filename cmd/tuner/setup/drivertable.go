package setup

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/exec"
	"github.com/labtuner/tuner/drivers/mqtt"
	"github.com/labtuner/tuner/drivers/sim"
	"github.com/labtuner/tuner/loop/plan"
)

// Device is one [[device]] of the file, ready to be made.
type Device struct {
	Name, Driver string
	// Build makes the device; nothing is opened.
	Build func(drivers.Env) (drivers.Device, error)
	// Serve answers in the device's place with another device, until ctx ends.
	Serve func(ctx context.Context, s Serving) error
	// Where says in words where the device is served; usesStdin that it is there.
	Where     string
	UsesStdin bool
	// Port is the device file that it speaks through, Broker the HOST:PORT; "" for none.
	Port, Broker string
	// address is where a device without either is: its program. topics are
	// those that setpoints of each channel go to, where there is a broker.
	address string
	topics  map[string]string
	// otherName maps channel names to those of the driver's other side, where they
	// differ.
	otherName map[string]string
	// requests are the keys that bound one request to the device, where nothing overtakes
	// the one that is on the line; none: a safe value leaves at once. beside is what an
	// exchange takes beside the longest of them.
	requests []requestKey
	beside   time.Duration
	// writes are the longest waits for the answer to a write, by channel, where one channel is
	// told after the other; nil: one request tells them all. exit is how long a child may take
	// to end, 0 where there is none.
	writes map[string]time.Duration
	Exit   time.Duration
	// round is how long the readings of all channels may take, one after the other, while a
	// write waits; 0: a write does not wait for them. roundWords say what that comes from.
	round      time.Duration
	roundWords string
}

// requestKey is a key that bounds the time that one request takes.
type requestKey struct {
	most    time.Duration
	problem func(what, hint string) configs.Problem
}

// keyOf makes the problems of one key.
func keyOf(problem func(key, what, hint string) configs.Problem, key string) func(what, hint string) configs.Problem {
	return func(what, hint string) configs.Problem { return problem(key, what, hint) }
}

// Serving is what tuner plant gives to a device's driver.
type Serving struct {
	Dev drivers.Device
	Env drivers.Env
	// Period is the time between two readings of a device that speaks on its own.
	Period time.Duration
	Stdin  io.Reader
	Stdout io.Writer
}

// driverContext is what wiring a device needs beside its section.
type driverContext struct {
	cfg *configs.Config
	// executable is the path of this program, which an exec device may run.
	executable string
	// secret reads what a place holds.
	secret func(host.SecretPlace) (string, error)
	// plant makes the plant of the file, or returns the one that it made before.
	plant func(drivers.Env) (*sim.Plant, error)
}

// wireDriver turns one section into a device, with the problems of its own keys.
type wireDriver func(*configs.Device, driverContext) (Device, []configs.Problem)

// driverTable lists every driver by its name in the file.
func driverTable() map[string]wireDriver {
	return map[string]wireDriver{
		"exec":   wireExec,
		"mqtt":   wireMQTT,
		"serial": wireSerial,
		"sim":    wireSim,
	}
}

// wireDevice wires one [[device]].
func wireDevice(d *configs.Device, c driverContext) (Device, []configs.Problem) {
	table := driverTable()
	wire, ok := table[d.Driver]
	if !ok {
		names := slices.Sorted(maps.Keys(table))
		return Device{Name: d.Name, Driver: d.Driver}, []configs.Problem{
			c.cfg.Problem("device."+d.Name+".driver", fmt.Sprintf("no driver is called %q", d.Driver), "the drivers are "+strings.Join(names, ", ")),
		}
	}
	w, problems := wire(d, c)
	w.Name, w.Driver = d.Name, d.Driver
	return w, problems
}

// wireSim gives a device of the simulated plant in real time, within this
// process.
func wireSim(d *configs.Device, c driverContext) (Device, []configs.Problem) {
	problems := d.Decode(&struct{}{})
	if c.cfg.Plant == nil {
		problems = append(problems, c.cfg.Problem("device."+d.Name+".driver",
			`"sim" is a device of the simulated plant, and there is no [plant]`, "add [plant]"))
	}
	return Device{
		Build: func(env drivers.Env) (drivers.Device, error) {
			plant, err := c.plant(env)
			if err != nil {
				return nil, err
			}
			return plant.Device(d.Name), nil
		},
	}, problems
}

func wireExec(d *configs.Device, c driverContext) (Device, []configs.Problem) {
	options := exec.Default()
	problems := d.Decode(&options)
	options.Base, options.Executable = c.cfg.Dir, c.executable
	var channels []exec.ChannelOptions
	for i := range d.Channels() {
		section := &d.Channels()[i]
		o := exec.ChannelOptions{Channel: section.Name}
		problems = append(problems, section.Decode(&o)...)
		channels = append(channels, o)
	}
	w := Device{
		Where:      "tuner-exec/1 on stdin and stdout",
		address:    strings.Join(options.Command, " ") + " in " + host.Absolute(c.cfg.Path(cmp.Or(options.Dir, "."))),
		UsesStdin:  true,
		requests:   []requestKey{{options.ReplyTimeout, keyOf(d.Problem, "reply_timeout")}},
		Exit:       options.ExitTimeout,
		round:      options.ReplyTimeout, // one request reads them all
		otherName:  map[string]string{},
		roundWords: "reply_timeout",
		Build: func(env drivers.Env) (drivers.Device, error) {
			return exec.New(options, channels, env)
		},
		Serve: func(ctx context.Context, s Serving) error {
			return exec.Serve(ctx, s.Stdin, s.Stdout, d.Name, s.Dev)
		},
	}
	for _, c := range channels {
		if c.Name != "" {
			w.otherName[c.Channel] = c.Name
		}
	}
	return w, append(problems, tryDevice(w, d, problems)...)
}

func wireMQTT(d *configs.Device, c driverContext) (Device, []configs.Problem) {
	options := mqtt.Default()
	problems := d.Decode(&options)
	options.Base = c.cfg.Dir
	if options.PasswordCred != "" || options.PasswordEnv != "" {
		kept := host.SecretPlace{File: options.PasswordFile, Credential: options.PasswordCred, Env: options.PasswordEnv, Base: c.cfg.Dir}
		options.Password = func() (string, error) { return c.secret(kept) }
	}
	var channels []mqtt.ChannelOptions
	for i := range d.Channels() {
		section := &d.Channels()[i]
		o := mqtt.ChannelOptions{Channel: section.Name}
		problems = append(problems, section.Decode(&o)...)
		if o.Safe == nil && o.Release == nil {
			o.Safe = declaredSafe(c.cfg, d.Name, section.Name)
		}
		channels = append(channels, o)
	}
	w := Device{
		Where:  "mqtt at " + options.Broker,
		Broker: options.Address(),
		topics: map[string]string{},
		Build: func(env drivers.Env) (drivers.Device, error) {
			return mqtt.New(options, channels, env)
		},
		Serve: func(ctx context.Context, s Serving) error {
			return mqtt.Serve(ctx, mqtt.Plant{Options: options, Channels: channels, Device: s.Dev, Period: s.Period, Env: s.Env})
		},
	}
	for _, c := range channels {
		if c.Write != nil {
			w.topics[c.Channel] = c.Write.Topic
		}
	}
	return w, append(problems, tryDevice(w, d, problems)...)
}

// declaredSafe is the safe value that the file declares for the variable on a
// channel, nil if there is none: a channel that cannot be released would
// otherwise have nothing to go to when it is halted.
func declaredSafe(cfg *configs.Config, device, channel string) *float64 {
	for _, v := range cfg.Variables {
		if limits, ok := cfg.Safety.Variables[v.Name]; ok && v.Device == device && v.Channel == channel {
			return &limits.Safe
		}
	}
	return nil
}

// tryDevice makes a device whose keys are fine one by one, so that what does not
// fit together shows when the file is checked. Nothing is opened.
func tryDevice(w Device, d *configs.Device, before []configs.Problem) []configs.Problem {
	if len(before) > 0 {
		return nil
	}
	if _, err := w.Build(drivers.Env{Clock: StoppedClock()}); err != nil {
		var problems []configs.Problem
		for _, e := range fault.Flatten(err) {
			problems = append(problems, d.Problem("", e.Error(), ""))
		}
		return problems
	}
	return nil
}

// DeviceNames are the devices' names, by the index that channels have.
func (w *Setup) DeviceNames() []string {
	names := make([]string, len(w.Devices))
	for i, d := range w.Devices {
		names[i] = d.Name
	}
	return names
}

// RenameChannels gives the plant's channels the names that the driver's other
// side knows.
func (d Device) RenameChannels(o *sim.Options) {
	rename := func(device string, channel *string) {
		if other, ok := d.otherName[*channel]; ok && device == d.Name {
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

// ChannelName names a channel as DEVICE.CHANNEL.
func (w *Setup) ChannelName(c plan.Channel) string {
	if c.Device < 0 {
		return "-"
	}
	return w.Devices[c.Device].Name + "." + c.Name
}
