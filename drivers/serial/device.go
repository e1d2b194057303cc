package serial

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/modbus"
	"github.com/labtuner/tuner/drivers/serial/port"
	"github.com/labtuner/tuner/drivers/serial/protocol"
	"github.com/labtuner/tuner/drivers/serial/text"
)

// Device is an instrument on a serial port, here or on the network. It is a [drivers.Actuator]; one whose
// channels are all read-only refuses every write.
//
// A connection that breaks is made anew at the next call, with growing waits from
// attempt to attempt; meanwhile calls fail at once with drivers.ErrUnavailable.
// Each new connection begins with the greeting: whoever answers must be the
// instrument that identify describes before anything is written to it.
type Device struct {
	opt      Options
	env      drivers.Env
	talk     protocol.Protocol
	channels []*protocol.Channel
	byName   map[string]*protocol.Channel

	// life ends with Close; it is replaced by Open.
	lifeMu sync.Mutex
	life   context.Context
	end    context.CancelCauseFunc

	// callMu is held by every call, so that Close waits for the one under way. It
	// guards what follows.
	callMu sync.Mutex
	open   bool
	link   *protocol.Line // nil: no connection
	// bad are the channels whose last reading gave no value.
	bad map[*protocol.Channel]bool
	// doubt is why the two sides may be out of step; nil: they are not.
	doubt error
	retry backoff
	// network says that the port is a connection over the network; before is what the last
	// one leaves to the next: a line may lie behind, on which answers are on their way still.
	network bool
	before  struct{ spoken, owed bool }

	// loss is when the last connection ended that something was sent over.
	lossMu sync.Mutex
	loss   time.Time
}

var (
	errNotOpen = errors.New("not open; open the device first")
	errClosed  = errors.New("closed")
)

// New makes a device of a description. It opens nothing. The errors name the keys
// of the file.
func New(o Options, channels []ChannelOptions, env drivers.Env) (*Device, error) {
	d, err := newDevice(o, channels, env)
	if err != nil {
		return nil, fmt.Errorf("serial: %w", err)
	}
	return d, nil
}

func newDevice(o Options, options []ChannelOptions, env drivers.Env) (*Device, error) {
	o = o.filled()
	channels, channelErr := parseChannels(options, o.ReplyTimeout)
	keys := o.lines
	if o.registers() {
		keys = o.modbus
	}
	talk, keysErr := keys(options)
	if err := errors.Join(o.validate(), channelErr, keysErr); err != nil {
		return nil, err
	}
	if env.Clock == nil {
		return nil, errors.New("the environment has no clock")
	}
	if env.Log == nil {
		env.Log = slog.New(slog.DiscardHandler)
	}
	env.Log = env.Log.With(slog.String("port", o.Port))
	d := &Device{opt: o, env: env, channels: channels, byName: map[string]*protocol.Channel{}, bad: map[*protocol.Channel]bool{}}
	for _, c := range channels {
		d.byName[c.Name] = c
	}
	_, d.network, _ = port.Network(o.Port)
	var err error
	d.talk, err = talk(channels, env.Log)
	return d, err
}

// maker makes the protocol of a device from its channels; what it needs beside them is valid.
type maker func(channels []*protocol.Channel, log *slog.Logger) (protocol.Protocol, error)

// lines gives the protocols of text, with what is wrong with the keys of channels.
func (o Options) lines(options []ChannelOptions) (maker, error) {
	lines, err := channelLines(options)
	return func(channels []*protocol.Channel, log *slog.Logger) (protocol.Protocol, error) {
		return text.New(o.Dialect, o.Timing, o.coded(), channels, lines, log)
	}, err
}

// modbus gives Modbus likewise.
func (o Options) modbus(options []ChannelOptions) (maker, error) {
	places, err := placesOf(options)
	return func(channels []*protocol.Channel, _ *slog.Logger) (protocol.Protocol, error) {
		if o.Protocol == "modbus-tcp" {
			return modbus.TCP(o.Station, o.Timing, channels, places)
		}
		return modbus.RTU(o.Station, o.Timing, o.Baud, channels, places)
	}, err
}

// Open connects to the instrument and returns the channels of the file; see
// [drivers.Device]. It sends the greeting and nothing else. That a board
// restarts when its port is opened is beyond the driver; see [port.Open].
func (d *Device) Open(ctx context.Context) ([]drivers.Channel, error) {
	d.callMu.Lock()
	defer d.callMu.Unlock()
	if d.open {
		return nil, d.wrap(errors.New("it is open already; close it first"))
	}
	d.lifeMu.Lock()
	d.life, d.end = context.WithCancelCause(context.Background())
	d.lifeMu.Unlock()
	d.open, d.retry = true, backoff{least: d.opt.ReconnectMin, most: d.opt.ReconnectMax}
	ctx, leave := d.enter(ctx)
	defer leave()
	if err := d.connect(ctx); err != nil {
		d.open = false
		return nil, d.wrap(err)
	}
	declared := make([]drivers.Channel, len(d.channels))
	for i, c := range d.channels {
		declared[i] = c.Channel
	}
	return declared, nil
}

// enter gives a context that also ends with Close, and that lets the exchange under way
// end where a safe value waits. leave must be called.
func (d *Device) enter(ctx context.Context) (_ context.Context, leave func()) {
	ctx, cancel, unlink := protocol.Sheltered(ctx)
	d.lifeMu.Lock()
	life := d.life
	d.lifeMu.Unlock()
	stop := context.AfterFunc(life, func() { cancel(context.Cause(life)) })
	return ctx, func() {
		stop()
		unlink()
		cancel(nil)
	}
}

// Close implements [drivers.Device]. It sends nothing.
func (d *Device) Close() error {
	d.lifeMu.Lock()
	if d.end != nil {
		d.end(errClosed)
	}
	d.lifeMu.Unlock()
	d.callMu.Lock()
	defer d.callMu.Unlock()
	d.open = false
	return d.drop()
}

// drop gives the connection up.
func (d *Device) drop() error {
	if d.link == nil {
		return nil
	}
	d.before.spoken, d.before.owed = d.link.Spoken, d.link.Owed
	if d.link.Spoken {
		d.lossMu.Lock()
		d.loss = d.env.Clock.Now()
		d.lossMu.Unlock()
	}
	err := d.link.Port.Close(d.opt.WriteTimeout)
	d.link = nil
	if err != nil {
		return d.wrap(err)
	}
	return nil
}

// begin is what every call does first. leave must be called where err is nil.
func (d *Device) begin(ctx context.Context) (_ context.Context, leave func(), err error) {
	d.callMu.Lock()
	if !d.open {
		d.callMu.Unlock()
		return nil, nil, d.wrap(errNotOpen)
	}
	if err := ctx.Err(); err != nil {
		d.callMu.Unlock()
		return nil, nil, d.wrap(err)
	}
	ctx, end := d.enter(ctx)
	return ctx, func() {
		end()
		d.callMu.Unlock()
	}, nil
}

// wrap puts the port before an error, so that it says who is meant.
func (d *Device) wrap(err error) error { return fmt.Errorf("serial %q: %w", d.opt.Port, err) }

// channel finds a channel by its name.
func (d *Device) channel(name string) (*protocol.Channel, error) {
	c, known := d.byName[name]
	if !known {
		return nil, fmt.Errorf("there is no channel %q", name)
	}
	return c, nil
}

// Read asks the instrument for channels; see [drivers.Device]. Channels with the
// same question have their values from one answer; different questions are put
// one after the other, and At is when the first was put. A channel whose answer
// is no good is left out, with a line in the log, as long as another has a value.
func (d *Device) Read(ctx context.Context, channels []string) (drivers.Reading, error) {
	ctx, leave, err := d.begin(ctx)
	if err != nil {
		return drivers.Reading{}, err
	}
	defer leave()
	var asked []*protocol.Channel
	for _, name := range channels {
		c, err := d.channel(name)
		if err != nil {
			return drivers.Reading{}, d.wrap(err)
		}
		if c.Readable {
			asked = append(asked, c)
		}
	}
	if len(asked) == 0 {
		return drivers.Reading{At: d.env.Clock.Now()}, nil
	}
	if err := d.ready(ctx); err != nil {
		return drivers.Reading{}, d.wrap(err)
	}
	r := drivers.Reading{Values: map[string]float64{}, At: d.env.Clock.Now()}
	var problems []error
	for _, batch := range d.talk.Batches(asked) {
		if err := protocol.GiveWay(ctx); err != nil {
			return drivers.Reading{}, d.wrap(err)
		}
		values, err := d.ask(ctx, batch)
		d.complain(batch, err)
		if err != nil {
			problems = append(problems, err)
			if d.link == nil || ctx.Err() != nil {
				return drivers.Reading{}, d.wrap(errors.Join(problems...))
			}
			if r.Missing == nil {
				r.Missing = map[string]error{}
			}
			for _, c := range batch {
				r.Missing[c.Name] = err
			}
			continue
		}
		for name, v := range values {
			r.Values[name] = v
		}
	}
	if err := errors.Join(problems...); err != nil && len(r.Values) == 0 {
		return drivers.Reading{}, d.wrap(err)
	}
	return r, nil
}

// ask puts one question, and again where there was no good answer. At the end of
// an error the connection is in step again, in doubt, or dropped. A channel that gave nothing
// last time is asked once: the next reading asks it again, and meanwhile the line is free
// for the others, and for a safe value.
func (d *Device) ask(ctx context.Context, batch []*protocol.Channel) (map[string]float64, error) {
	retries := d.opt.Retries
	if d.bad[batch[0]] {
		retries = 0
	}
	for try := 0; ; try++ {
		if err := d.ready(ctx); err != nil {
			return nil, err
		}
		values, err := d.talk.Ask(ctx, d.link, batch)
		if err == nil {
			return values, nil
		}
		err = fmt.Errorf("channel %q: %w", batch[0].Name, d.judge(ctx, err))
		if protocol.Refused(err) || d.link == nil || ctx.Err() != nil || protocol.GiveWay(ctx) != nil || try >= retries {
			return nil, err
		}
	}
}

// judge draws the consequences of a failed exchange and gives the error for the
// caller, with the drivers' sentinel that fits.
func (d *Device) judge(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, drivers.ErrPreempted): // between two exchanges
		return err
	case ctx.Err() != nil:
		// The answer is still to come, and would be taken for the next one.
		d.doubt = protocol.ErrSilent
		return fmt.Errorf("%w: %w", context.Cause(ctx), err)
	case protocol.Suspicious(err):
		d.doubt = err
		return fmt.Errorf("%w: %w", drivers.ErrUnavailable, err)
	case protocol.Refused(err):
		return err
	}
	return d.lose(err)
}

// lose gives the connection up because of err.
func (d *Device) lose(err error) error {
	d.env.Log.Warn("the connection is lost; it will be opened again", slog.Any("error", err))
	if closeErr := d.drop(); closeErr != nil {
		d.env.Log.Error("the port could not be closed", slog.Any("error", closeErr))
	}
	d.retry.failed(d.env.Clock.Now(), err)
	return fmt.Errorf("%w: %w", drivers.ErrUnavailable, err)
}

// complain logs the first of a channel's failures, and its recovery.
func (d *Device) complain(batch []*protocol.Channel, err error) {
	for _, c := range batch {
		switch {
		case err != nil && !d.bad[c]:
			d.env.Log.Warn("no good answer is no data", slog.String("channel", c.Name), slog.Any("error", err))
		case err == nil && d.bad[c]:
			d.env.Log.Info("answers are good again", slog.String("channel", c.Name))
		}
		d.bad[c] = err != nil
	}
}

// Wait is how long the device would wait now before it tried to connect again; 0
// while it is connected.
func (d *Device) Wait() time.Duration {
	d.callMu.Lock()
	defer d.callMu.Unlock()
	if d.link != nil {
		return 0
	}
	return d.retry.left(d.env.Clock.Now())
}
