package mqtt

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/labtuner/tuner/drivers"
)

// Device is a set of channels on one broker, over a connection of its own. It is
// a [drivers.Actuator] and a [drivers.Listener].
type Device struct {
	options  Options
	channels []*channel
	byName   map[string]*channel
	byTopic  map[string][]*channel
	env      drivers.Env
	sink     func(drivers.Reading)

	// session and seq belong to the calling goroutine.
	session string
	seq     int64

	bad map[string]bool // channels whose last message was no data; of the receiving goroutine

	// mu guards what the receiving goroutine and Close share with the caller.
	mu     sync.Mutex
	link   *link // nil while closed
	latest map[string]latest
	echoes map[string]echo
	order  uint64
	news   chan struct{} // holds one while a reading came since it was emptied
}

var (
	errClosed   = errors.New("not open; open the device first")
	errNoDevice = errors.New("there is no such channel")
)

// New makes a device of topics. It connects to nothing. The errors name the
// keys of the file, all of them at once.
func New(o Options, channels []ChannelOptions, env drivers.Env) (*Device, error) {
	parsed, channelErr := parseChannels(channels)
	if err := errors.Join(o.validate(), channelErr); err != nil {
		return nil, fmt.Errorf("mqtt: %w", err)
	}
	if env.Clock == nil {
		return nil, errors.New("mqtt: the environment has no clock")
	}
	if env.Log == nil {
		env.Log = slog.New(slog.DiscardHandler)
	}
	env.Log = env.Log.With(slog.String("broker", o.Broker))
	d := &Device{
		options:  o.filled(),
		channels: parsed,
		byName:   map[string]*channel{},
		byTopic:  map[string][]*channel{},
		env:      env,
	}
	for _, c := range parsed {
		d.byName[c.name] = c
		d.byTopic[c.read] = append(d.byTopic[c.read], c)
	}
	return d, nil
}

// Listen sets the sink for readings; see [drivers.Listener]. Channels that share
// a read topic come in one reading.
func (d *Device) Listen(sink func(drivers.Reading)) { d.sink = sink }

// Open connects, subscribes to the read topics and begins a session. It tries
// for connect_timeout; the broker's no to the login or a topic wraps
// drivers.ErrRefused, everything else drivers.ErrUnavailable. Units and limits
// are not known over MQTT: Unit is empty and Min and Max are NaN.
func (d *Device) Open(ctx context.Context) ([]drivers.Channel, error) {
	if err := d.Close(); err != nil {
		return nil, err
	}
	session, err := sessionID(d.options.Random)
	if err != nil {
		return nil, d.wrap(err)
	}
	d.session, d.seq, d.bad = session, 0, map[string]bool{}
	d.mu.Lock()
	d.latest, d.echoes, d.news = map[string]latest{}, map[string]echo{}, make(chan struct{}, 1)
	d.mu.Unlock()
	l := newLink(linkSpec{
		options:  d.options,
		env:      d.env,
		clientID: clientID(d.options.ClientID, session),
		topics:   slices.Sorted(maps.Keys(d.byTopic)),
		handle:   d.receive,
	})
	d.mu.Lock()
	d.link = l // from here on, Close ends the attempts to connect
	d.mu.Unlock()
	if err := l.start(ctx); err != nil {
		return nil, d.wrap(errors.Join(err, d.Close()))
	}
	declared := make([]drivers.Channel, len(d.channels))
	for i, c := range d.channels {
		declared[i] = c.declared()
	}
	return declared, nil
}

// sessionID draws 64 bits in hexadecimal.
func sessionID(random io.Reader) (string, error) {
	var b [8]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("no random digits for the session: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

// clientID is the file's, or one that no other client has.
func clientID(file, session string) string {
	if file != "" {
		return file
	}
	return "tuner-" + session // 22 characters; every broker takes 23
}

// Read gives the newest values of the session; a channel without one is absent.
// They may have come at different times: At is when the oldest of them came. To
// know a value's own time, ask for one channel. Without a connection the error
// wraps drivers.ErrUnavailable.
func (d *Device) Read(ctx context.Context, channels []string) (drivers.Reading, error) {
	if err := ctx.Err(); err != nil {
		return drivers.Reading{}, d.wrap(err)
	}
	for _, name := range channels {
		if d.byName[name] == nil {
			return drivers.Reading{}, d.wrap(fmt.Errorf("%w: %q", errNoDevice, name))
		}
	}
	if _, err := d.connection(); err != nil {
		return drivers.Reading{}, d.wrap(err)
	}
	r := drivers.Reading{At: d.env.Clock.Now()}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, name := range channels {
		last, there := d.latest[name]
		if !there {
			continue
		}
		if r.Values == nil {
			r.Values = map[string]float64{}
		}
		r.Values[name] = last.value
		if last.at.Before(r.At) {
			r.At = last.at
		}
	}
	return r, nil
}

// Write publishes setpoints and releases, in the order of the file, all of them
// on the connection that is open now. It returns when they have left, without
// values: the read topics tell what became of them. Over MQTT they are single
// messages, so a connection that breaks between them sends only the first ones;
// the error says that the outcome is not known. Nothing is sent later.
func (d *Device) Write(ctx context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	if err := d.check(s); err != nil {
		return drivers.Reading{}, d.wrap(err)
	}
	released := map[string]bool{}
	for _, name := range s.Release {
		released[name] = true
	}
	conn, err := d.connection()
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return drivers.Reading{}, d.wrap(fmt.Errorf("nothing was sent: %w", err))
	}
	for _, c := range d.channels {
		if v, set := s.Values[c.name]; set {
			err = d.send(ctx, conn, c, &v)
		} else if released[c.name] {
			err = d.send(ctx, conn, c, nil)
		}
		if err != nil {
			return drivers.Reading{}, d.wrap(fmt.Errorf("the write's outcome is not known: %w", err))
		}
	}
	return drivers.Reading{At: d.env.Clock.Now()}, nil
}

// check refuses what must not be published.
func (d *Device) check(s drivers.Setpoints) error {
	for name, v := range s.Values {
		c := d.byName[name]
		switch {
		case c == nil:
			return fmt.Errorf("%w: %q", errNoDevice, name)
		case math.IsNaN(v) || math.IsInf(v, 0):
			return fmt.Errorf("channel %q cannot be set to %v", name, v)
		case c.write == "":
			return fmt.Errorf("%w: channel %q is read-only; it has no write topic", drivers.ErrRefused, name)
		}
	}
	for _, name := range s.Release {
		c := d.byName[name]
		_, set := s.Values[name]
		switch {
		case c == nil:
			return fmt.Errorf("%w: %q", errNoDevice, name)
		case c.release == "":
			return fmt.Errorf("%w: channel %q cannot be released; it has no release topic", drivers.ErrRefused, name)
		case set:
			return fmt.Errorf("channel %q is set and released in one write", name)
		}
	}
	return nil
}

// connection gives the open connection.
func (d *Device) connection() (*connection, error) {
	d.mu.Lock()
	l := d.link
	d.mu.Unlock()
	if l == nil {
		return nil, errClosed
	}
	return l.open()
}

// Close ends the session; see [drivers.Device]. What the device was told last
// stays as it is.
func (d *Device) Close() error {
	d.mu.Lock()
	l := d.link
	d.link = nil
	d.mu.Unlock()
	if l != nil {
		l.close()
	}
	return nil
}

// wrap puts the broker before an error, so that it says who is meant.
func (d *Device) wrap(err error) error {
	return fmt.Errorf("mqtt %q: %w", d.options.Broker, err)
}
