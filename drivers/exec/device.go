package exec

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// Device is one child process as an instrument. It is a [drivers.Actuator]; a
// child whose channels are all "r" refuses every write.
//
// Halt sends "safe". Close itself sends nothing, but the protocol gives the end
// of input a meaning: the child goes safe and exits. Where no write will follow
// (drivers.Env, ReadOnly), it is killed instead before its input ends: reading must not
// move anything.
type Device struct {
	options   Options
	childName map[string]string // by tuner's name, for the channels that the file lists
	env       drivers.Env

	// channels and their two names, set by Open; used by the calling goroutine.
	channels  map[string]drivers.Channel // by tuner's name
	toChild   map[string]string
	fromChild map[string]string
	lastID    int64
	// holds says that the child keeps what a bye names.
	holds atomic.Bool
	// pending is the request whose caller was cancelled before its answer came.
	pending *pendingReply

	// mu guards what Close shares with the calling goroutine.
	mu    sync.Mutex
	child *child
	// dead is why there is no child that could be asked.
	dead error
	// closes counts the calls of Close.
	closes int
	// stopping is closed when a dismissed child is gone; nil where there is none.
	stopping chan struct{}
	// stopErr is how the last dismissal ended; read it after leaving is closed.
	stopErr error
}

var (
	errNotOpen = errors.New("not open; open the device first")
	errClosed  = errors.New("closed")
)

// New makes a device of a command. It starts nothing. The errors name the keys
// of the file.
func New(o Options, channels []ChannelOptions, env drivers.Env) (*Device, error) {
	childName, nameErr := names(channels)
	if err := errors.Join(o.validate(), nameErr); err != nil {
		return nil, fmt.Errorf("exec: %w", err)
	}
	if env.Clock == nil {
		return nil, errors.New("exec: the environment has no clock")
	}
	if env.Log == nil {
		env.Log = slog.New(slog.DiscardHandler)
	}
	env.Log = env.Log.With(slog.String("command", commandLine(o.Command)))
	return &Device{options: o, childName: childName, env: env, dead: errNotOpen}, nil
}

// commandLine shows a command in messages.
func commandLine(command []string) string { return strings.Join(command, " ") }

// SafeOnClose implements [drivers.SafeCloser]: to a child, the end of its input
// means to go safe and exit, unless it says in its hello that it keeps what a bye names.
func (d *Device) SafeOnClose() bool { return !d.env.ReadOnly && !d.holds.Load() }

var _ drivers.LongOpener = (*Device)(nil)

// OpenTime implements [drivers.LongOpener]: the last child leaves, the next one says hello and answers.
func (d *Device) OpenTime() time.Duration {
	return d.options.ExitTimeout + d.options.StartTimeout + d.options.ReplyTimeout
}

// Keep implements [drivers.Keeper] by the last word to a child, bye. An older child refuses it,
// with drivers.ErrRefused.
func (d *Device) Keep(ctx context.Context, channels []string) error {
	hold := make([]string, 0, len(channels))
	for _, name := range channels {
		child, known := d.toChild[name]
		if !known {
			return d.wrap(d.unknown(name))
		}
		hold = append(hold, child)
	}
	_, err := d.ask(ctx, request{Op: opBye, Hold: &hold})
	return err
}

// errReadOnly keeps whoever only looks from moving anything.
var errReadOnly = errors.New("opened to look only: nothing is written")

// Read asks the child for channels; see [drivers.Device]. At is when the answer
// came, less the age that it reports. A name that the child did not declare is an error before anything is
// sent.
func (d *Device) Read(ctx context.Context, channels []string) (drivers.Reading, error) {
	req := request{Op: opRead}
	for _, name := range channels {
		child, known := d.toChild[name]
		if !known {
			return drivers.Reading{}, d.wrap(d.unknown(name))
		}
		req.Channels = append(req.Channels, child)
	}
	if len(channels) == 0 {
		return drivers.Reading{At: d.env.Clock.Now()}, nil
	}
	r, err := d.ask(ctx, req)
	if err != nil {
		return drivers.Reading{}, err
	}
	asked := make(map[string]bool, len(channels))
	for _, name := range channels {
		asked[name] = true
	}
	for name := range r.Values {
		if !asked[name] {
			delete(r.Values, name)
		}
	}
	return r, nil
}

// Write sends values and releases in one request and returns the readback; see
// [drivers.Actuator]. A value that is not finite or outside the limits of the
// hello, a channel that cannot be set or released, a channel that is both set
// and released: an error before anything is sent.
func (d *Device) Write(ctx context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	if d.env.ReadOnly {
		return drivers.Reading{}, d.wrap(fmt.Errorf("%w: %w", drivers.ErrNotSent, errReadOnly))
	}
	req := request{Op: opWrite, Values: make(map[string]float64, len(s.Values)), Dose: s.Dose, late: s.Late}
	for name, v := range s.Values {
		err := d.checkValue(name, v)
		if err == nil {
			err = s.CheckDose(d.channels[name])
		}
		if err != nil {
			return drivers.Reading{}, d.wrap(fmt.Errorf("%w: %w", drivers.ErrNotSent, err))
		}
		req.Values[d.toChild[name]] = v
	}
	for name, lasts := range s.For {
		if _, set := s.Values[name]; !set || !d.channels[name].Lasts || lasts < time.Millisecond {
			return drivers.Reading{}, d.wrap(fmt.Errorf("channel %q is to last for %v: only what is set, and says \"lasts\", can, for 1ms at least", name, lasts))
		}
		if req.ForMS == nil {
			req.ForMS = map[string]int64{}
		}
		req.ForMS[d.toChild[name]] = lasts.Milliseconds()
	}
	for _, name := range s.Release {
		c, known := d.channels[name]
		_, set := s.Values[name]
		switch {
		case !known:
			return drivers.Reading{}, d.wrap(d.unknown(name))
		case !c.CanRelease:
			return drivers.Reading{}, d.wrap(fmt.Errorf("%w: channel %q cannot be released, as the child's hello says", drivers.ErrRefused, name))
		case set:
			return drivers.Reading{}, d.wrap(fmt.Errorf("channel %q is set and released in one write", name))
		}
		req.Release = append(req.Release, d.toChild[name])
	}
	if len(req.Values) == 0 && len(req.Release) == 0 {
		return drivers.Reading{At: d.env.Clock.Now()}, nil
	}
	if s.Dose == "" {
		r, err := d.ask(ctx, req)
		if err != nil && s.Safe {
			d.expedite()
		}
		return r, err
	}
	req.patience = d.options.DoseTimeout
	r, err := d.ask(ctx, req)
	return r, certain(err)
}

// expedite shortens the end of a child that takes no safe value any more: the next one is to be
// told it.
func (d *Device) expedite() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.child != nil && d.dead != nil {
		d.child.expedite()
	}
}

// certain takes away the certainty of a refusal of a dose that is none: a child that
// failed, or gave up, does not know what it has given.
func certain(err error) error {
	var refused *RefusedError
	if !errors.As(err, &refused) || !slices.Contains([]string{CodeFault, CodeTimeout, CodeUnavailable}, refused.Code) {
		return err
	}
	return fmt.Errorf("%w: %s", drivers.ErrUnavailable, err.Error())
}

// checkValue reports whether a channel takes a value.
func (d *Device) checkValue(name string, v float64) error {
	c, known := d.channels[name]
	switch {
	case !known:
		return d.unknown(name)
	case math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Errorf("channel %q cannot be set to %v", name, v)
	case c.Access != drivers.ReadWrite:
		return fmt.Errorf("%w: channel %q is read-only, as the child's hello says", drivers.ErrRefused, name)
	case v < c.Min || v > c.Max: // false where a limit is NaN, not known
		return fmt.Errorf("%w: channel %q cannot be set to %v %s; the child's limits are %v to %v", drivers.ErrRefused, name, v, c.Unit, c.Min, c.Max)
	}
	return nil
}

func (d *Device) unknown(name string) error {
	if len(d.channels) == 0 {
		return fmt.Errorf("channel %q: %w", name, errNotOpen)
	}
	return fmt.Errorf("there is no channel %q", name)
}

// Halt sends "safe"; nil means that the child confirmed it. A dead child cannot:
// its input was closed, which asks it to go safe, but nobody confirms it, and
// the error says so.
func (d *Device) Halt(ctx context.Context) error {
	if d.env.ReadOnly {
		return d.wrap(errReadOnly)
	}
	if _, err := d.ask(ctx, request{Op: opSafe}); err != nil {
		return fmt.Errorf("safe state not confirmed: %w", err)
	}
	return nil
}

// ask sends one request and gives the answer's values by tuner's names.
func (d *Device) ask(ctx context.Context, req request) (drivers.Reading, error) {
	c, err := d.alive()
	if err != nil {
		return drivers.Reading{}, d.wrap(fmt.Errorf("%w: %w", drivers.ErrNotSent, err))
	}
	values, at, err := d.call(ctx, c, req)
	if err != nil {
		return drivers.Reading{}, d.wrap(err)
	}
	r := drivers.Reading{At: at}
	if len(values) > 0 {
		r.Values = make(map[string]float64, len(values))
	}
	for child, v := range values {
		name, known := d.fromChild[child]
		if !known {
			err := fmt.Errorf("%w: the answer to %s has a value for %q, which the hello does not offer", drivers.ErrProtocol, req.Op, child)
			return drivers.Reading{}, d.wrap(d.fault(c, err))
		}
		r.Values[name] = v
	}
	return r, nil
}

// wrap puts the command before an error, so that it says who is meant.
func (d *Device) wrap(err error) error {
	return fmt.Errorf("exec %q: %w", commandLine(d.options.Command), err)
}
