package files

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// Device is one experiment behind two files. It is a [drivers.Actuator].
type Device struct {
	options  Options
	channels []drivers.Channel // parameters in order, then cost and uncer
	env      drivers.Env

	// mu guards the folder, which Close shares with the calling goroutine.
	mu     sync.Mutex
	folder *folder // nil while closed

	start []float64 // the parameters before the first write
	// values are the latest parameters, and written says that there was a write.
	values  []float64
	written bool
	// running are the parameters of the run that was begun; nil: none is.
	running []float64
	// begun is when that was, and told that it has been told how long it waits.
	begun time.Time
	told  bool
	// ceased says that nothing runs before the next write.
	ceased bool
}

// slowTake is how long an input may lie about before that is told.
const slowTake = 10 * time.Second

var errNotOpen = fmt.Errorf("not open; open the device first: %w", drivers.ErrUnavailable)

// New makes a device. It touches no file. The errors name the keys of the file.
func New(o Options, channels []ChannelOptions, env drivers.Env) (*Device, error) {
	if err := o.problems(channels); err != nil {
		return nil, fmt.Errorf("files: %w", err)
	}
	if env.Clock == nil {
		return nil, errors.New("files: the environment has no clock")
	}
	if env.Log == nil {
		env.Log = slog.New(slog.DiscardHandler)
	}
	d := &Device{options: o, env: env}
	nan := math.NaN()
	for _, name := range o.Parameters {
		c := &channels[slices.IndexFunc(channels, func(c ChannelOptions) bool { return c.Channel == name })]
		d.channels = append(d.channels, drivers.Channel{Name: name, Unit: c.Unit, Access: drivers.ReadWrite,
			Min: limit(c.Min), Max: limit(c.Max), Safe: nan})
		d.start = append(d.start, *c.Start)
	}
	for _, name := range Results() {
		d.channels = append(d.channels, drivers.Channel{Name: name, Unit: o.CostUnit, Min: nan, Max: nan, Safe: nan})
	}
	return d, nil
}

// Open takes the folder and moves aside what an earlier run left in it.
func (d *Device) Open(ctx context.Context) ([]drivers.Channel, error) {
	if err := errors.Join(ctx.Err(), d.Close()); err != nil {
		return nil, d.wrap(err)
	}
	f, moved, locked, err := hold(&d.options, d.env.Looking)
	if err != nil {
		return nil, d.wrap(err)
	}
	for _, name := range moved {
		d.env.Log.Warn("a file that an earlier run left was moved aside", slog.String("file", name), slog.String("to", name+".old"))
	}
	if !locked {
		d.env.Log.Warn("the folder's file system knows no locks: nothing keeps a second program from exchanging files there")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.folder, d.running, d.ceased, d.written = f, nil, false, false
	d.values = slices.Clone(d.start)
	return slices.Clone(d.channels), nil
}

// Read gives the cost of a run that has ended, with its uncertainty and the
// parameters that it ran with; where the cost is asked for and no run goes on, it
// begins one, after the first write. Otherwise parameters are those of the last
// write. A bad run is an error that wraps [drivers.ErrRefused] and [drivers.ErrNoValue].
func (d *Device) Read(ctx context.Context, channels []string) (drivers.Reading, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.usable(ctx); err != nil {
		return drivers.Reading{}, d.wrap(err)
	}
	wanted := false
	for _, name := range channels {
		if d.index(name) < 0 {
			return drivers.Reading{}, d.wrap(d.unknown(name))
		}
		wanted = wanted || name == channelCost || name == channelUncer
	}
	values := map[string]float64{}
	for i, name := range d.options.Parameters {
		values[name] = d.values[i]
	}
	if wanted {
		r, err := d.run()
		if err != nil {
			return drivers.Reading{}, d.wrap(err)
		}
		values[channelCost], values[channelUncer] = r.cost, r.uncer
	}
	maps.DeleteFunc(values, func(name string, v float64) bool { return math.IsNaN(v) || !slices.Contains(channels, name) })
	return drivers.Reading{Values: values, At: d.env.Clock.Now()}, nil
}

// run collects the run that goes on, or begins one. The result has NaN where there
// is nothing new.
func (d *Device) run() (result, error) {
	none := result{cost: math.NaN(), uncer: math.NaN()}
	if d.running != nil {
		return d.collect()
	}
	if d.ceased || !d.written {
		return none, nil
	}
	if err := d.folder.offer(formatParams(d.options.Style, d.values)); err != nil {
		return none, fmt.Errorf("input file: %w: %w", drivers.ErrUnavailable, err)
	}
	d.running, d.begun, d.told = slices.Clone(d.values), d.env.Clock.Now(), false
	return none, nil
}

// collect takes in the answer to the run that goes on, if it is there.
func (d *Device) collect() (result, error) {
	none := result{cost: math.NaN(), uncer: math.NaN()}
	text, ok, err := d.answer()
	if err != nil || !ok {
		return none, err
	}
	current := slices.Equal(d.running, d.values)
	d.running = nil
	r, err := parseResult(text)
	switch {
	case !current:
		d.env.Log.Warn("a run with other parameters than the latest has ended; its cost is dropped")
		return none, nil
	case err != nil:
		return none, fmt.Errorf("%w: %w: output file %q: %w", drivers.ErrRefused, drivers.ErrNoValue, d.options.Output, err)
	case r.bad:
		return none, fmt.Errorf("%w: %w: the experiment says bad = true", drivers.ErrRefused, drivers.ErrNoValue)
	}
	return r, nil
}

// answer looks for the output of the run that goes on.
func (d *Device) answer() (text string, ok bool, err error) {
	now := d.env.Clock.Now()
	text, ok, err = d.folder.answer(now, d.options.Quiet)
	switch {
	case errors.Is(err, errEarlier):
		d.env.Log.Warn("an answer to an earlier run was moved aside: it was there before the experiment had deleted its input, which it does before it runs",
			slog.String("file", d.folder.output), slog.String("to", d.folder.output+".old"))
		return "", false, nil
	case err != nil:
		return "", false, fmt.Errorf("output file: %w: %w", drivers.ErrUnavailable, err)
	case !ok && !d.told && now.Sub(d.begun) >= slowTake && d.folder.waits():
		d.told = true
		d.env.Log.Warn("the experiment has not taken its input yet; does it run, and look there?",
			slog.String("file", d.folder.input), slog.Duration("since", slowTake))
	}
	return text, ok, nil
}

// Write keeps the parameters for the runs from now on and returns them. A run that
// goes on is left to end: an input that is withdrawn under an experiment which has just
// read it would be answered all the same, and that answer taken for the next run's.
func (d *Device) Write(ctx context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.usable(ctx); err != nil {
		return drivers.Reading{}, d.wrap(err)
	}
	for name, v := range s.Values {
		if err := d.accepts(name, v); err != nil {
			return drivers.Reading{}, d.wrap(err)
		}
	}
	if len(s.Release) > 0 {
		return drivers.Reading{}, d.wrap(fmt.Errorf("%w: %q cannot be released: every run needs all parameters", drivers.ErrRefused, s.Release[0]))
	}
	for i, name := range d.options.Parameters {
		if v, ok := s.Values[name]; ok {
			d.values[i] = v
		}
	}
	if len(s.Values) > 0 {
		d.ceased, d.written = false, true
	}
	return drivers.Reading{Values: maps.Clone(s.Values), At: d.env.Clock.Now()}, nil
}

// accepts says whether a channel takes a value.
func (d *Device) accepts(name string, v float64) error {
	i := d.index(name)
	switch {
	case i < 0:
		return d.unknown(name)
	case d.channels[i].Access != drivers.ReadWrite:
		return fmt.Errorf("%w: channel %q can only be read", drivers.ErrRefused, name)
	case math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Errorf("channel %q cannot be set to %v", name, v)
	case v < d.channels[i].Min || v > d.channels[i].Max: // false where a limit is not known
		return fmt.Errorf("%w: channel %q cannot be set to %v %s; its limits are %v to %v",
			drivers.ErrRefused, name, v, d.channels[i].Unit, d.channels[i].Min, d.channels[i].Max)
	}
	return nil
}

// withdraw takes back an input that the experiment has not taken.
func (d *Device) withdraw() error {
	if d.running == nil {
		return nil
	}
	back, err := d.folder.withdraw()
	if err != nil {
		return fmt.Errorf("the input file cannot be withdrawn: %w: %w", drivers.ErrUnavailable, err)
	}
	if back {
		d.running = nil
	}
	return nil
}

// haltPoll is the time between two looks for the end of a run.
const haltPoll = 20 * time.Millisecond

// Halt makes sure that no further run begins: it withdraws an input that was not
// taken, and waits for the end of a run that goes on, whose cost is dropped.
func (d *Device) Halt(ctx context.Context) error {
	for {
		done, err := d.halted()
		if err != nil {
			return d.wrap(err)
		}
		if done {
			return nil
		}
		select {
		case <-ctx.Done():
			return d.wrap(fmt.Errorf("safe state not confirmed: a run of the experiment goes on: %w", ctx.Err()))
		case <-time.After(haltPoll):
		}
	}
}

// halted withdraws or collects what there is, and says whether nothing runs.
func (d *Device) halted() (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.usable(context.Background()); err != nil {
		return false, err
	}
	if err := d.withdraw(); err != nil {
		return false, err
	}
	d.ceased = true
	if d.running == nil {
		return true, nil
	}
	_, ok, err := d.answer()
	if ok {
		d.running = nil
	}
	return ok, err
}

// Close withdraws an input that the experiment has not taken and gives the folder
// back.
func (d *Device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.folder == nil {
		return nil
	}
	err := errors.Join(d.withdraw(), d.folder.release())
	d.folder = nil
	if err != nil {
		return d.wrap(err)
	}
	return nil
}

// usable says whether calls can be served; mu is held.
func (d *Device) usable(ctx context.Context) error {
	if d.folder == nil {
		return errNotOpen
	}
	return ctx.Err()
}

func (d *Device) index(name string) int {
	return slices.IndexFunc(d.channels, func(c drivers.Channel) bool { return c.Name == name })
}

func (d *Device) unknown(name string) error {
	return fmt.Errorf("%w: there is no channel %q", drivers.ErrRefused, name)
}

func (d *Device) wrap(err error) error {
	return fmt.Errorf("files %q: %w", d.options.folder(), err)
}
