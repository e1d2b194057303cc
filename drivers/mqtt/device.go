package mqtt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/mqtt/link"
)

// Device is a set of channels on one broker, over its own connection. It is
// a [drivers.Actuator] and a [drivers.Listener].
type Device struct {
	options  Options
	channels []*channel
	byName   map[string]*channel
	byTopic  map[string][]*channel // by read topic
	// byConfirm is by confirm topic.
	byConfirm map[string][]*channel
	env       drivers.Env
	sink      func(drivers.Reading)

	// session and seq belong to the calling goroutine.
	session      string
	seq          int64
	sessionStart time.Time // the session, by the environment's clock

	// owner keeps others from the actuators; nil: nobody is kept. wasOwner: it has done so once.
	owner    *ownership
	wasOwner bool

	// wasOnline says that the device was there once, by its status topic; notify reports on the
	// connection.
	wasOnline bool
	notify    func(text string)

	// refusedOnce are the channels and reasons that were told, of the receiving goroutine.
	refusedOnce map[string]bool
	// askNow holds one where the device is to be asked for its readings at once.
	askNow chan struct{}

	// mu guards what the receiving goroutine and Close share with the caller.
	mu     sync.Mutex
	link   *link.Link // nil while closed
	latest map[string]latest
	// refused are the channels that took nothing of their last message, spoken when those of a
	// template last said something live.
	refused map[string]refusal
	spoken  map[string]time.Time
	acks    map[string]ack
	last    map[string]int64  // the number of the last message to each channel
	status  map[string]status // by topic
	lost    time.Time         // when a connection last ended
	order   uint64
	// heard is when the device said something last, underWay by channel what it has not confirmed.
	heard    time.Time
	underWay map[string]pending
	changed  chan struct{} // holds one while something came since it was emptied
}

var (
	errClosed    = link.ErrClosed
	errNoChannel = errors.New("there is no such channel")
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
	if err := o.checkTopics(parsed); err != nil {
		return nil, fmt.Errorf("mqtt: %w", err)
	}
	d := &Device{
		options:   o.filled(),
		channels:  parsed,
		byName:    map[string]*channel{},
		byTopic:   map[string][]*channel{},
		byConfirm: map[string][]*channel{},
		underWay:  map[string]pending{},
		env:       env,
	}
	d.owner = newOwnership(&d.options, env)
	for _, c := range parsed {
		d.byName[c.Name] = c
		if c.read != "" {
			d.byTopic[c.read] = append(d.byTopic[c.read], c)
		}
		if c.confirm != "" {
			d.byConfirm[c.confirm] = append(d.byConfirm[c.confirm], c)
		}
	}
	return d, nil
}

// Listen sets the sink for readings; see [drivers.Listener]. Channels that share
// a read topic come in one reading.
func (d *Device) Listen(sink func(drivers.Reading)) { d.sink = sink }

// Notify sets the function that is called when the connection ends as if another client took it over;
// see [drivers.Notifier].
func (d *Device) Notify(tell func(text string)) { d.notify = tell }

// MaxDelay is the time after which the broker has dropped a connection that has died, and
// what was still on its way over it; see [drivers.DelayedActuator].
func (d *Device) MaxDelay() time.Duration { return d.options.KeepAlive*3/2 + keepAliveSlack }

// keepAliveSlack is how much longer than one and a half of keep_alive a broker may keep a silent
// client: Mosquitto 2 looks every 5 s (measured with keep_alive = 4s: 6.5 to 11.8 s).
const keepAliveSlack = 6 * time.Second

// LastLoss is when the last connection ended; see [drivers.DelayedActuator].
func (d *Device) LastLoss() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lost
}

// noteLoss notes that a connection has ended.
func (d *Device) noteLoss() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lost = d.env.Clock.Now()
}

// Open connects, subscribes and begins a session. It tries for connect_timeout,
// and then waits as long for the device's status where the file has a topic for
// it. The broker's no to the login, a certificate or a topic wraps
// drivers.ErrRefused, an error that a later attempt may cure
// drivers.ErrUnavailable. Units and limits are the file's: over MQTT a device
// declares none.
func (d *Device) Open(ctx context.Context) ([]drivers.Channel, error) {
	if err := d.Close(); err != nil {
		return nil, err
	}
	session, err := link.RandomDigits(d.options.Random)
	if err != nil {
		return nil, d.wrap(err)
	}
	d.session, d.seq, d.sessionStart, d.refusedOnce = session, 0, d.env.Clock.Now(), map[string]bool{}
	d.mu.Lock()
	d.refused, d.spoken = map[string]refusal{}, map[string]time.Time{}
	d.latest, d.acks, d.last = map[string]latest{}, map[string]ack{}, map[string]int64{}
	d.status, d.changed, d.askNow = map[string]status{}, make(chan struct{}, 1), make(chan struct{}, 1)
	d.mu.Unlock()
	var claimed []string
	if d.owner != nil {
		d.owner.begin(session)
		claimed = d.owner.topics
	}
	l := link.New(link.Spec{
		Options: d.options.Options,
		Env:     d.env,
		Name:    d.options.ClientName,
		Topics:  d.topics(),

		Optional: claimed,
		Handle:   d.receive,
		Notify:   d.notify,
		OnLoss:   d.noteLoss,
		// A connection that is there to be used is asked over at once.
		OnConnect: d.poke,
	})
	d.mu.Lock()
	d.link = l // from here on, Close ends the attempts to connect
	d.mu.Unlock()
	err = l.Start(ctx)
	if err == nil {
		l.Attend(func(ctx context.Context) { d.keepAsking(ctx, l) })
	}
	if err == nil && !d.wasOnline {
		err = d.awaitReady(ctx)
	}
	if err == nil {
		err = d.own(ctx, l)
	}
	if err != nil {
		return nil, d.wrap(errors.Join(err, d.Close()))
	}
	d.wasOnline = true // from here on a connection is open for safe values though the device be away
	declared := make([]drivers.Channel, len(d.channels))
	for i, c := range d.channels {
		declared[i] = c.Channel
	}
	return declared, nil
}

// own makes the actuators ours: at first it waits until they are, or says whose they are; a
// device that was ours is opened again at once, so that safe values can leave.
func (d *Device) own(ctx context.Context, l *link.Link) error {
	if d.owner == nil {
		return nil
	}
	if !d.wasOwner {
		if err := d.owner.acquire(ctx, l, d.env.Clock.Now); err != nil {
			d.owner.withdraw(l)
			return err
		}
		d.wasOwner = true
	}
	d.owner.startRenewing(l, d.env.Clock.Now)
	return nil
}

// topics are those that the device subscribes to.
func (d *Device) topics() []string {
	all := map[string]bool{}
	for _, c := range d.channels {
		all[c.read] = true
		all[c.confirm] = true
	}
	for _, s := range d.options.statuses() {
		all[s.Topic] = true
	}
	delete(all, "")
	return slices.Sorted(maps.Keys(all))
}

// Read gives the newest values of the session; a channel without one is absent.
// They may have come at different times: At is when the oldest of them came. To
// know a value's own time, ask for one channel. Without a connection, or where the
// device's status says that it is not there, the error wraps
// drivers.ErrUnavailable.
func (d *Device) Read(ctx context.Context, channels []string) (drivers.Reading, error) {
	if err := ctx.Err(); err != nil {
		return drivers.Reading{}, d.wrap(err)
	}
	for _, name := range channels {
		if d.byName[name] == nil {
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
		last, there := d.latest[name]
		if !there {
			if r.Missing == nil {
				r.Missing = map[string]error{}
			}
			r.Missing[name] = cmp.Or(d.refused[name].err, fmt.Errorf("no message has come on topic %s", d.byName[name].read))
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
// on the connection that is open now. It returns when they have left and the
// channels that have a confirm topic have confirmed them, without values: the
// read topics show what became of them. Over MQTT they are single messages, so a
// connection that breaks between them sends only the first ones; the error says
// that the outcome is not known. Nothing is sent later. A write is over when the broker has
// answered a question that left after it, and what a channel has not confirmed is waited for
// before its next setpoint: so what a network or a broker holds up is one setpoint of each
// channel. A connection over which no answer comes within [BrokerWait] is broken. A safe write waits
// for nothing of that: it goes over a connection
// that is not trusted as well, and to a device that is away by its status; where there is no
// connection it has one made at once.
func (d *Device) Write(ctx context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	if err := d.check(s); err != nil {
		return drivers.Reading{}, d.wrap(fmt.Errorf("%w: %w", drivers.ErrNotSent, err))
	}
	released := map[string]bool{}
	for _, name := range s.Release {
		released[name] = true
	}
	conn, err := d.writable(ctx, s.Safe)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil && !s.Safe && s.Dose == "" {
		err = d.awaitEarlier(ctx, conn, s)
	}
	if err != nil {
		return drivers.Reading{}, d.wrap(fmt.Errorf("%w: %w", drivers.ErrNotSent, err))
	}
	var all []sent
	for _, c := range d.channels {
		v, set := s.Values[c.Name]
		if !set && !released[c.Name] {
			continue
		}
		if err := s.Late(d.env.Clock.Now()); err != nil {
			if len(all) == 0 {
				err = fmt.Errorf("%w: %w", drivers.ErrNotSent, err)
			}
			return drivers.Reading{}, d.wrap(err)
		}
		value := &v
		if !set {
			value = nil
		}
		one, err := d.send(ctx, conn, c, value, extras{lasts: s.For[c.Name], dose: s.Dose})
		if err != nil {
			return drivers.Reading{}, d.wrap(fmt.Errorf("the write's outcome is not known: %w", err))
		}
		all = append(all, one)
	}
	if s.Dose == "" { // nobody sends another dose while one is not accounted for
		if err := conn.AwaitRoundTrip(ctx, BrokerWait); err != nil {
			return drivers.Reading{}, d.wrap(fmt.Errorf("the write's outcome is not known: %w", err))
		}
	}
	if err := d.awaitAcks(ctx, conn, all); err != nil {
		return drivers.Reading{}, d.wrap(err)
	}
	if s.Dose == "" {
		return drivers.Reading{At: d.env.Clock.Now()}, nil
	}
	r, err := d.delivered(s)
	if err != nil {
		return r, d.wrap(err)
	}
	return r, nil
}

// urgentWait is how long a safe write waits for a connection. Not longer: the loop has
// readings to take in between, and writes it again.
const urgentWait = time.Second

// writable gives the connection for a write.
func (d *Device) writable(ctx context.Context, safe bool) (*link.Connection, error) {
	if !safe {
		return d.ready()
	}
	l, err := d.openLink()
	if err != nil {
		return nil, err
	}
	return l.Urgently(ctx, urgentWait)
}

// check refuses what must not be published.
func (d *Device) check(s drivers.Setpoints) error {
	for name, v := range s.Values {
		c := d.byName[name]
		if c == nil {
			return fmt.Errorf("%w: %q", errNoChannel, name)
		}
		if err := errors.Join(c.Accepts(v, "it has no write topic"), s.CheckDose(c.Channel)); err != nil {
			return err
		}
	}
	for _, name := range s.Release {
		c := d.byName[name]
		_, set := s.Values[name]
		switch {
		case c == nil:
			return fmt.Errorf("%w: %q", errNoChannel, name)
		case c.release == "":
			return fmt.Errorf("%w: channel %q cannot be released; it has no release topic", drivers.ErrRefused, name)
		case set:
			return fmt.Errorf("channel %q is set and released in one write", name)
		}
	}
	return nil
}

// openLink gives the link of an open device.
func (d *Device) openLink() (*link.Link, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.link == nil {
		return nil, errClosed
	}
	return d.link, nil
}

// Close ends the session; see [drivers.Device]. What was written to the device last
// stays as it is.
func (d *Device) Close() error {
	d.mu.Lock()
	l := d.link
	d.link = nil
	d.mu.Unlock()
	if l != nil {
		d.owner.end(l)
		l.Close()
	}
	return nil
}

// wrap puts the broker before an error, so that it says who is meant.
func (d *Device) wrap(err error) error {
	return fmt.Errorf("mqtt %q: %w", d.options.Broker, err)
}
