package opcua

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/gopcua/opcua"
	"github.com/gopcua/opcua/ua"

	"github.com/labtuner/tuner/drivers"
)

// Device is a server's nodes as an instrument. It is a [drivers.Actuator], a [drivers.Listener]
// and a [drivers.DelayedActuator]. When its connection breaks it says so and is to be opened
// again; a safe value makes a connection for itself meanwhile.
type Device struct {
	options Options
	file    []*channel // as the file has them
	env     drivers.Env
	sink    func(drivers.Reading)
	saying  sync.Mutex // one reading is handed to sink at a time
	askNow  chan struct{}

	// channels and types are as the server described them last; of the calling goroutine.
	channels []*channel
	types    map[string]ua.TypeID

	// mu guards what Close and the connection's goroutines share with the caller.
	mu     sync.Mutex
	life   context.Context // ends with Close; nil: not open
	die    context.CancelFunc
	conn   *connection // the last one; nil: there was none
	bare   bool        // conn was made for a safe value: nothing is heard over it
	latest map[string]latest
	lost   time.Time
	before *opcua.Session // of the last connection that broke
}

var (
	errNotOpen   = errors.New("not open; open the device first")
	errClosed    = errors.New("closed")
	errNoChannel = errors.New("there is no such channel")
	errReadOnly  = errors.New("opened to look only: nothing is written")
	errBare      = errors.New("the connection was made for a safe value only")
)

// New makes a device of nodes. It connects to nothing. The errors name the keys of the file,
// all of them at once.
func New(o Options, channels []ChannelOptions, env drivers.Env) (*Device, error) {
	parsed, channelErr := parseChannels(channels)
	if err := errors.Join(o.validate(), channelErr); err != nil {
		return nil, fmt.Errorf("opcua: %w", err)
	}
	if env.Clock == nil {
		return nil, errors.New("opcua: the environment has no clock")
	}
	if env.Log == nil {
		env.Log = slog.New(slog.DiscardHandler)
	}
	env.Log = env.Log.With(slog.String("endpoint", o.Endpoint))
	return &Device{options: o, file: parsed, channels: parsed, env: env, askNow: make(chan struct{}, 1), latest: map[string]latest{}}, nil
}

// Listen sets the sink for readings; see [drivers.Listener].
func (d *Device) Listen(sink func(drivers.Reading)) { d.sink = sink }

// MaxDelay is the time after which a server has forgotten the session of a connection that has
// died, where it does not let the next connection take it over; see [drivers.DelayedActuator].
func (d *Device) MaxDelay() time.Duration { return d.options.SessionTimeout }

// LastLoss is when the last connection ended; see [drivers.DelayedActuator].
func (d *Device) LastLoss() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lost
}

// Open connects, logs in, asks what the nodes are and subscribes. It makes one attempt, of
// connect_timeout. A no of the server wraps drivers.ErrRefused, what a later attempt may cure
// drivers.ErrUnavailable.
func (d *Device) Open(ctx context.Context) ([]drivers.Channel, error) {
	if err := d.Close(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.life, d.die = context.WithCancel(context.Background())
	for name, l := range d.latest {
		d.latest[name] = latest{stamp: l.stamp} // what was measured before is known, and does not count again
	}
	d.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, d.options.ConnectTimeout)
	defer cancel()
	c, err := d.dial(ctx)
	if err != nil {
		return nil, d.wrap(err)
	}
	channels, types, err := c.describe(ctx, d.file, d.env.Log)
	var subscription struct {
		silence time.Duration
		asked   []int
	}
	if err == nil {
		for i, ch := range channels {
			if ch.stamp == stampRead {
				subscription.asked = append(subscription.asked, i)
			}
		}
		if len(subscription.asked) < len(channels) {
			subscription.silence, err = c.subscribe(ctx, channels)
			if lostAtOnce(err) {
				subscription.silence, err = c.subscribe(ctx, channels)
			}
		}
	}
	if err != nil {
		c.breakOff(err)
		c.tasks.Wait()
		return nil, d.wrap(err)
	}
	d.channels, d.types = channels, types
	if subscription.silence > 0 {
		c.run(func() {
			c.listen(subscription.silence, len(channels), func(values []heard, theirs, ours time.Time) { d.hear(c, channels, values, theirs, ours) }, d.env.Clock)
		})
	}
	c.run(func() { d.poll(c, channels, subscription.asked) })
	declared := make([]drivers.Channel, len(channels))
	for i, ch := range channels {
		declared[i] = ch.Channel
	}
	return declared, nil
}

// dial makes a connection, bare until Open has made more of it.
func (d *Device) dial(ctx context.Context) (*connection, error) {
	d.mu.Lock()
	life, before, old := d.life, d.before, d.conn
	d.mu.Unlock()
	if life == nil {
		return nil, errClosed
	}
	if old != nil {
		old.end()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(life, cancel)()
	var c *connection
	lost := func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.lost = d.env.Clock.Now()
		if c != nil {
			d.before = c.client.Session()
		}
	}
	c, err := connect(ctx, &d.options, before, d.env.Clock.Now(), lost)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	if d.before == before {
		d.before = nil
	}
	closed := d.life != life || life.Err() != nil
	if !closed {
		d.conn = c
	}
	d.mu.Unlock()
	if closed {
		c.end()
		return nil, errClosed
	}
	return c, nil
}

// Close ends session and connection; see [drivers.Device]. What was written last stays as it is.
func (d *Device) Close() error {
	d.mu.Lock()
	c, die := d.conn, d.die
	d.conn, d.life, d.die, d.bare = nil, nil, nil, false
	d.mu.Unlock()
	if die != nil {
		die()
	}
	if c != nil {
		c.end()
	}
	return nil
}

// ready gives the connection for whatever is no safe value.
func (d *Device) ready() (*connection, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.life == nil:
		return nil, errNotOpen
	case d.conn == nil:
		return nil, fmt.Errorf("%w: %w: there is no connection", drivers.ErrUnavailable, drivers.ErrClosed)
	case d.conn.isGone():
		return nil, d.conn.why()
	case d.bare:
		return nil, fmt.Errorf("%w: %w: %w", drivers.ErrUnavailable, drivers.ErrClosed, errBare)
	}
	return d.conn, nil
}

// urgent gives a connection for a safe value: one is made where there is none.
func (d *Device) urgent(ctx context.Context) (*connection, error) {
	d.mu.Lock()
	life, c := d.life, d.conn
	d.mu.Unlock()
	switch {
	case life == nil:
		return nil, errNotOpen
	case c != nil && !c.isGone():
		return c, nil
	case d.types == nil:
		return nil, fmt.Errorf("%w: the server has never been reached", drivers.ErrUnavailable)
	}
	ctx, cancel := d.options.within(ctx)
	defer cancel()
	c, err := d.dial(ctx)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.bare = d.conn == c
	d.mu.Unlock()
	return c, nil
}

// Read gives the newest values of the connection; a channel without one is absent, and Missing
// says why. They may have been taken at different times: At is when the oldest was.
func (d *Device) Read(ctx context.Context, channels []string) (drivers.Reading, error) {
	if err := ctx.Err(); err != nil {
		return drivers.Reading{}, d.wrap(err)
	}
	for _, name := range channels {
		if d.named(name) == nil {
			return drivers.Reading{}, d.wrap(fmt.Errorf("%w: %q", errNoChannel, name))
		}
	}
	if _, err := d.ready(); err != nil {
		return drivers.Reading{}, d.wrap(err)
	}
	r := drivers.Reading{At: d.env.Clock.Now()}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, name := range channels {
		l := d.latest[name]
		switch {
		case l.known:
			if r.Values == nil {
				r.Values = map[string]float64{}
			}
			r.Values[name] = l.value
			if l.at.Before(r.At) {
				r.At = l.at
			}
		case l.why != nil:
			if r.Missing == nil {
				r.Missing = map[string]error{}
			}
			r.Missing[name] = l.why
		}
	}
	return r, nil
}

// named is a channel by its name.
func (d *Device) named(name string) *channel {
	for _, c := range d.channels {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// wrap puts the endpoint before an error, so that it says who is meant.
func (d *Device) wrap(err error) error {
	return fmt.Errorf("opcua %q: %w", d.options.Endpoint, err)
}
