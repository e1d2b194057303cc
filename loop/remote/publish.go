package remote

import (
	"context"
	"log/slog"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
)

const (
	// publishTimeout bounds one message. Not shorter: a broker on a busy board may need a
	// second. Not longer: the link gives up a dead connection after about 7 s.
	publishTimeout = 5 * time.Second
	// goodbyeTimeout bounds the last words.
	goodbyeTimeout = 2 * time.Second
	// pollEvery is how often a change of state is looked for.
	pollEvery = 250 * time.Millisecond
)

// Presence is the payload of the status topic.
type Presence struct {
	// State is online, offline (said by the tuner at its end) or lost (by the broker).
	State   string `json:"state"`
	Session string `json:"session"`
	// Heartbeat is when this was said; it is said again every HeartbeatS seconds.
	Heartbeat  time.Time `json:"heartbeat,omitzero"`
	HeartbeatS float64   `json:"heartbeat_s,omitempty"`
	Version    string    `json:"version,omitempty"`
	Run        string    `json:"run,omitempty"`
	Mode       string    `json:"mode,omitempty"`
	// Commands says that commands are taken, Signed that they must be signed, Insecure that
	// the connection may be read and changed on its way.
	Commands bool `json:"commands"`
	Signed   bool `json:"signed"`
	Insecure bool `json:"insecure"`
	// Reason is why the run ended.
	Reason string `json:"reason,omitempty"`
}

// event is the payload of the event topic: a line of the run's story, or a step.
type event struct {
	Session string `json:"session"`
	// Seq counts this session's events; Lost says how many were dropped before this one.
	Seq     uint64    `json:"seq"`
	Lost    int       `json:"lost,omitempty"`
	At      time.Time `json:"at"`
	Step    int       `json:"step"`
	Level   string    `json:"level"`
	Kind    string    `json:"kind"`
	Message string    `json:"message,omitempty"`
	// Of a concluded step (kind "outcome") its members are there, too.
	*control.OutcomeStatus
}

// kindOutcome is the kind of the event of a concluded step.
const kindOutcome = "outcome"

// eventOf is news as it is published.
func eventOf(n control.News, seq uint64, session string) event {
	e := event{Session: session, Seq: seq, Lost: n.Lost}
	switch {
	case n.Event != nil:
		e.at(n.Event.At)
		e.Step, e.Level, e.Kind, e.Message = n.Event.Step, n.Event.Level, n.Event.Kind, n.Event.Message
	case n.Outcome != nil:
		o := n.Outcome
		e.at(o.At)
		e.Step, e.Level, e.Kind, e.Message = o.Step, "info", kindOutcome, o.Problem
		e.OutcomeStatus = control.OutcomeOf(o)
	}
	return e
}

func (e *event) at(s journal.Stamp) { e.At = s.Wall.Round(0).UTC() }

// publisher sends what there is to say; one goroutine uses it.
type publisher struct {
	*Remote
	link Link
	// shown is what the state topic said last, shownAt when; saidAt and toldAt are the last
	// status and telemetry.
	shown                   summary
	shownAt, saidAt, toldAt time.Time
	// unknown says that the discovery is due.
	unknown bool
}

// summary is the part of a status whose change is worth a message at once.
type summary struct {
	state, phase string
	paused       bool
	step, steps  int
	causes       int
}

func summaryOf(s *control.Status) summary {
	return summary{s.State, s.Phase, s.Paused, s.Step, s.Steps, len(s.Causes)}
}

// run publishes until the run has ended or ctx does.
func (p *publisher) run(ctx context.Context) {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		select {
		case <-p.out.ready:
		case <-ticker.C:
		case <-p.panel.Done():
			return
		case <-ctx.Done():
			return
		}
		if p.link.Connected() {
			p.sendAll(ctx)
		}
	}
}

// sendAll says what is due.
func (p *publisher) sendAll(ctx context.Context) {
	now := time.Now()
	greet := p.out.wantsGreeting()
	if greet || now.Sub(p.saidAt) >= p.o.Heartbeat {
		p.saidAt = now
		p.send(ctx, p.presence("online"))
	}
	p.introduce(ctx, greet)
	p.sendState(ctx, now, greet)
	p.drain(ctx)
	if now.Sub(p.toldAt) >= p.o.Telemetry {
		p.toldAt = now
		p.send(ctx, p.telemetry())
	}
}

// introduce sends the discovery once after each greeting, as soon as the run has said what it
// is: before that it has neither a name nor sensors.
func (p *publisher) introduce(ctx context.Context, greet bool) {
	p.unknown = (p.unknown || greet) && p.o.Discovery != ""
	if p.unknown && p.panel.Status().Name != "" {
		p.unknown = false
		p.send(ctx, p.discovery())
	}
}

// sendState says the state when something in it has changed, at most four times a second,
// and with every heartbeat.
func (p *publisher) sendState(ctx context.Context, now time.Time, greet bool) {
	s := p.panel.Status()
	changed := summaryOf(s) != p.shown && now.Sub(p.shownAt) >= pollEvery
	if !greet && !changed && now.Sub(p.shownAt) < p.o.Heartbeat {
		return
	}
	p.shown, p.shownAt = summaryOf(s), now
	p.send(ctx, Message{Topic: p.o.Topics.State(), Payload: encode(s), Retained: true, QoS: 1})
}

// drain sends what waits, in order. What could not be sent goes first next time.
func (p *publisher) drain(ctx context.Context) {
	for m, ok := p.out.first(); ok; m, ok = p.out.first() {
		if p.send(ctx, m) != nil {
			return
		}
		if n := p.out.pop(); n > 0 {
			p.o.Log.Warn("events and answers come faster than the broker takes them; the oldest were dropped", slog.Int("dropped", n))
		}
	}
}

// send sends m; the link reports its own trouble.
func (p *publisher) send(ctx context.Context, m Message) error {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	return p.link.Publish(ctx, m)
}

// sendGoodbye says the last state, what still waits, and that the tuner is offline.
func (p *publisher) sendGoodbye() {
	ctx, cancel := context.WithTimeout(context.Background(), goodbyeTimeout)
	defer cancel()
	p.readNews(ctx) // what happened at the very end
	if !p.link.Connected() {
		return // the broker has spoken the will
	}
	p.sendState(ctx, time.Now(), true)
	p.drain(ctx)
	p.send(ctx, p.presence("offline"))
}

// presence is the status message.
func (p *publisher) presence(state string) Message {
	at, s := p.o.Now().Round(0).UTC(), p.panel.Status()
	return Message{Topic: p.o.Topics.Status(), Retained: true, QoS: 1, Payload: encode(Presence{State: state, Session: p.o.Session, Heartbeat: at,
		HeartbeatS: p.o.Heartbeat.Seconds(), Version: p.o.Version, Run: s.Run, Mode: string(s.Mode), Commands: p.o.Commands,
		Signed: p.o.Keys != nil, Insecure: p.o.Insecure, Reason: s.Reason})}
}

// telemetry is the present values.
func (p *publisher) telemetry() Message {
	return Message{Topic: p.o.Topics.Telemetry(), Payload: encode(p.panel.Status().Telemetry())}
}
