package mqtt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/mqtt/link"
)

// Plant is the other side of an mqtt device: any device, served on the topics
// that the file gives it.
type Plant struct {
	Options  Options
	Channels []ChannelOptions
	// Device is what is served. It must have every channel by its name.
	Device drivers.Device
	// Period is the time from one reading of all channels to the next.
	Period time.Duration
	Env    drivers.Env
}

// haltTime bounds the last Halt of Serve.
const haltTime = 5 * time.Second

// Serve opens the device, publishes its readings on the read topics once a
// period, and writes to it the setpoints and releases that come on the other
// topics. Ignored, with a line in the log, are: a retained one, one that is not
// well formed, one that waited longer than its ttl_ms since it arrived, one
// whose seq is not above the last of its channel and session, one of a session
// that another has followed. A reading that is a JSON object echoes the session
// and seq of the channel's last setpoint or release that was taken; a confirm
// topic gets an answer at once, with "error" where the device refused. Where the file has
// a status topic, it says online and offline, by a last will too.
//
// Serve returns when ctx ends, after halting and closing the device; its error
// is then what Halt said, or nil. It waits for a broker that is not there, at the
// start as later, with a line in the log; what waiting does not cure, such as a
// login that is refused, is an error.
func Serve(ctx context.Context, p Plant) error {
	s, err := newServer(p)
	if err != nil {
		return fmt.Errorf("mqtt: %w", err)
	}
	err = drivers.ServeDevice(ctx, p.Device, haltTime, func(offered []drivers.Channel) error {
		for _, o := range offered {
			s.offered[o.Name] = o
		}
		promised := make([]drivers.Channel, len(s.channels))
		for i, c := range s.channels {
			promised[i] = c.Channel
		}
		if err := drivers.MissingChannels(p.Device, offered, promised); err != nil {
			return err
		}
		return s.run(ctx)
	})
	if err != nil {
		return fmt.Errorf("mqtt %q: %w", s.options.Broker, err)
	}
	return nil
}

// server is a Plant at work. Its one goroutine owns the device.
type server struct {
	options   Options
	env       drivers.Env
	device    drivers.Device
	period    time.Duration
	channels  []*channel
	byTopic   map[string][]*channel // by read topic
	receivers map[string]*receiver  // by channel that can be set
	// byWrite are the channels by write and release topic, polls the questions by topic.
	byWrite map[string][]*channel
	polls   map[string][]question
	greeted *link.Connection  // that the availability topics were told over
	inbox   chan link.Arrived // from the link to run
	failing bool              // the last Read failed
	offered map[string]drivers.Channel
}

// newServer checks a plant.
func newServer(p Plant) (*server, error) {
	channels, channelErr := parseChannels(p.Channels)
	err := errors.Join(p.Options.validate(), channelErr, checkPaths(channels))
	switch {
	case err != nil:
		return nil, err
	case p.Options.checkTopics(channels) != nil:
		return nil, p.Options.checkTopics(channels)
	case p.Period <= 0:
		return nil, fmt.Errorf("the period is %v and must be above 0s", p.Period)
	case p.Env.Clock == nil:
		return nil, errors.New("the environment has no clock")
	}
	if p.Env.Log == nil {
		p.Env.Log = slog.New(slog.DiscardHandler)
	}
	s := &server{
		options:   p.Options.filled(),
		env:       p.Env,
		device:    p.Device,
		period:    p.Period,
		channels:  channels,
		byTopic:   map[string][]*channel{},
		receivers: map[string]*receiver{},
		byWrite:   map[string][]*channel{},
		polls:     map[string][]question{},
		inbox:     make(chan link.Arrived),
		offered:   map[string]drivers.Channel{},
	}
	for _, c := range channels {
		if c.read != "" {
			s.byTopic[c.read] = append(s.byTopic[c.read], c)
		}
		if c.write == "" {
			continue
		}
		s.receivers[c.Name] = &receiver{channel: c}
		s.byWrite[c.write] = append(s.byWrite[c.write], c)
		if c.release != "" && c.release != c.write {
			s.byWrite[c.release] = append(s.byWrite[c.release], c)
		}
	}
	for _, q := range questions(channels) {
		s.polls[q.topic] = append(s.polls[q.topic], q)
	}
	return s, nil
}

// run connects and serves until ctx ends.
func (s *server) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	l := link.New(link.Spec{
		Options: s.options.Options,
		Env:     s.env,
		Name:    s.clientID,
		Will:    s.will(),
		Topics:  s.topics(),
		Handle: func(m link.Arrived) {
			select {
			case s.inbox <- m:
			case <-ctx.Done():
			}
		},
	})
	defer l.Close()
	defer cancel() // before close, which waits for handle
	// An instrument does not give up because the broker is slower than it is.
	if err := l.StartPatiently(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // the end came first
		}
		return err
	}
	ticker := time.NewTicker(s.period)
	defer ticker.Stop()
	for {
		select {
		case m := <-s.inbox:
			if s.asks(m) {
				if err := s.publish(ctx, l); err != nil {
					return err
				}
				continue
			}
			if err := s.handleWrite(ctx, l, m); err != nil {
				return err
			}
		case <-ticker.C:
			if err := s.publish(ctx, l); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// topics are those that setpoints, releases and questions come on.
func (s *server) topics() []string {
	all := map[string]bool{}
	for topic := range s.byWrite {
		all[topic] = true
	}
	for topic := range s.polls {
		all[topic] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// asks reports whether a message is a question for the readings.
func (s *server) asks(m link.Arrived) bool {
	return slices.ContainsFunc(s.polls[m.Topic], func(q question) bool { return q.payload == string(m.Payload) })
}

// meant is the receiver of a message: of several whose templates share a topic, the one whose
// form it has.
func (s *server) meant(m link.Arrived) *receiver {
	all := s.byWrite[m.Topic]
	for _, c := range all {
		if c.template == nil {
			continue
		}
		if _, err := c.template.parse(string(m.Payload)); err == nil {
			return s.receivers[c.Name]
		}
	}
	if len(all) == 0 {
		return nil
	}
	return s.receivers[all[0].Name]
}

// greet says over a new connection that the device is there, on topics that have no last will.
func (s *server) greet(ctx context.Context, conn *link.Connection) {
	if s.greeted == conn {
		return
	}
	s.greeted = conn
	for _, o := range s.options.Availability {
		text := []byte(o.Online)
		if p, err := parsePath(o.Path); err == nil && p != nil {
			if text, err = json.Marshal(p.put(nil, o.Online)); err != nil {
				continue
			}
		}
		_ = conn.Put(ctx, Message{Topic: o.Topic, Payload: text, Retained: true, QoS: link.QoS1}) // a lost connection is made anew
	}
}

// clientID is not the file's own, which is that of the tuner on the other side.
func (s *server) clientID() (string, error) {
	if s.options.ClientID != "" {
		return s.options.ClientID + "-plant", nil
	}
	return s.options.ClientName()
}

// will is the status that the file names.
func (s *server) will() *link.Will {
	if o := s.options.Status; o != nil {
		return &link.Will{Topic: o.Topic, Online: o.Online, Offline: o.Offline}
	}
	return nil
}

// publish reads the device and publishes what is new, one message for each
// topic. While there is no connection it does not read: no one would hear.
func (s *server) publish(ctx context.Context, l *link.Link) error {
	conn, err := l.Open()
	if err != nil {
		return nil // the link says so in the log, and goes on trying
	}
	sending, cancel := context.WithTimeout(ctx, s.options.WriteTimeout)
	s.greet(sending, conn)
	cancel()
	names := make([]string, len(s.channels))
	for i, c := range s.channels {
		names[i] = c.Name
	}
	r, err := s.device.Read(ctx, names)
	if stop := s.handleDeviceError(ctx, "read", err); stop != nil || err != nil {
		return stop
	}
	for _, topic := range slices.Sorted(maps.Keys(s.byTopic)) {
		payload, err := compose(s.byTopic[topic], r.Values, s.receivers, s.env.Clock.Now())
		if err != nil {
			return err
		}
		if payload == nil {
			continue
		}
		if simulated, ok := s.device.(drivers.Corrupter); ok {
			payload = simulated.Corrupt(payload)
		}
		sending, cancel := context.WithTimeout(ctx, s.options.WriteTimeout)
		err = conn.Publish(sending, topic, payload)
		cancel()
		if err != nil {
			return nil // the connection is gone; the link makes a new one
		}
	}
	return nil
}

// handleWrite writes one setpoint or release to the device, and says on the confirm topic
// what became of it.
func (s *server) handleWrite(ctx context.Context, l *link.Link, m link.Arrived) error {
	in := s.meant(m)
	if in == nil {
		s.env.Log.Warn("a message that is no question was ignored", slog.String("topic", m.Topic))
		return nil
	}
	set, err := in.accept(m, s.env.Clock.Now())
	if err != nil {
		s.env.Log.Warn("setpoint ignored", slog.String("channel", in.channel.Name), slog.String("topic", m.Topic), slog.Any("reason", err))
		return nil
	}
	write := drivers.Setpoints{Release: []string{in.channel.Name}}
	var given drivers.Reading
	if !set.Release {
		v, err := in.channel.FromRaw(*set.Value)
		if err != nil {
			s.env.Log.Warn("setpoint ignored", slog.String("channel", in.channel.Name), slog.Any("reason", err))
			return nil
		}
		offered := s.offered[in.channel.Name]
		write = drivers.Setpoints{Dose: set.Dose, Values: map[string]float64{in.channel.Name: in.channel.NearLimit(v, offered.Min, offered.Max)}}
		if set.ForMS > 0 && offered.Lasts {
			write.For = map[string]time.Duration{in.channel.Name: time.Duration(set.ForMS) * time.Millisecond}
		}
	}
	// drivers.MissingChannels saw to it that a device with receivers is an Actuator.
	given, err = s.device.(drivers.Actuator).Write(ctx, write)
	if err == nil {
		in.setEcho(set)
	}
	uncertain := err != nil && in.channel.Dose && !certain(err) // then it must not be denied
	if c := in.channel; c.confirm != "" && c.confirm != c.read && !uncertain {
		what := confirmation(set, err)
		if v, told := given.Values[c.Name]; told && set.Dose != "" {
			what["delivered"] = c.ToRaw(v)
		}
		s.confirm(ctx, l, c, what)
	}
	return s.handleDeviceError(ctx, "write", err)
}

// confirmation is the message that says what became of a setpoint or release.
func confirmation(set setpoint, err error) map[string]any {
	c := map[string]any{"session": set.Session, "seq": set.Seq, "released": set.Release}
	if err != nil {
		c["error"] = err.Error()
	}
	return c
}

// confirm publishes a confirmation where there is a connection. One that is lost
// is noticed by who waits for it.
func (s *server) confirm(ctx context.Context, l *link.Link, c *channel, what map[string]any) {
	payload, err := json.Marshal(what)
	if err != nil {
		s.env.Log.Warn("no confirmation", slog.String("channel", c.Name), slog.Any("error", err))
		return
	}
	if conn, err := l.Open(); err == nil {
		sending, cancel := context.WithTimeout(ctx, s.options.WriteTimeout)
		defer cancel()
		_ = conn.Publish(sending, c.confirm, payload) // the link makes a new connection
	}
}

// handleDeviceError logs a device's error, and returns it where serving on makes no sense.
func (s *server) handleDeviceError(ctx context.Context, what string, err error) error {
	switch {
	case err == nil:
		if s.failing {
			s.env.Log.Info("the served device answers again")
		}
		s.failing = false
	case ctx.Err() != nil: // the end, not a failure
	case errors.Is(err, drivers.ErrProtocol):
		return err
	case !s.failing || what == "write":
		s.failing = true
		s.env.Log.Warn("the served device failed to "+what, slog.Any("error", err))
	}
	return nil
}
