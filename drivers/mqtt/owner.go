package mqtt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/mqtt/link"
)

// An actuator has one owner at a time, also where two computers share a broker. Who drives it
// says so on a topic of its own, retained, and again every ownerRenewal. Clocks of two computers
// may differ, so none is compared: whoever comes listens, and who has not renewed its word for
// the time that it gives (ownerTTL), as counted here from the last word heard, is gone.
//
//	nothing there, or gone     -> say it, hear it come back, listen for ownerSettle: owned
//	someone renews its word    -> refused, with who
//	an owner hears a newcomer  -> it renews its word at once
//
// Of two that begin at the same moment the one is owner whose word the broker passes on first.
// Safe values are written whoever the owner is.
const (
	ownerPrefix  = "tuner-owner/"
	ownerSuffix  = "/owner"
	ownerTTL     = 15 * time.Second
	ownerRenewal = ownerTTL / 5
	// ownerSettle is how long who has said that it is the owner listens for one that was there
	// before, and a new connection for what the broker has kept.
	ownerSettle = 500 * time.Millisecond
	// ownerTTLMost bounds the time that another's word is believed for.
	ownerTTLMost = time.Minute
)

// ownerTopic is where the owner of an actuator stands: not a topic that ends like one of
// setpoints, which someone may look for.
func ownerTopic(setpoints string) string { return ownerPrefix + setpoints + ownerSuffix }

// ownerWord is the payload of an owner's topic.
type ownerWord struct {
	drivers.Owner
	ID    string `json:"id"` // of this device of this process
	Seq   int64  `json:"seq"`
	TTLMS int64  `json:"ttl_ms"`
}

// lasts is how long the word is believed after it was heard.
func (w *ownerWord) lasts() time.Duration {
	return min(max(time.Duration(w.TTLMS)*time.Millisecond, 0), ownerTTLMost)
}

// gone says that the process that said it has ended, as far as this computer can tell.
func (w *ownerWord) gone(here *drivers.Owner) bool {
	return here.Machine != "" && w.Machine == here.Machine && w.PID > 0 && errors.Is(syscall.Kill(w.PID, 0), syscall.ESRCH)
}

// heard is another's word.
type heard struct {
	ownerWord
	at    time.Time // when it changed last
	alive bool      // it was said while we listened
}

// ownership keeps the words of one device's actuators.
type ownership struct {
	me       ownerWord
	topics   []string
	log      *slog.Logger
	ttl      time.Duration
	again    chan struct{} // holds one where a newcomer is to hear from us at once
	seq      int64         // of the renewals
	claiming bool          // our word is new, and one that was renewed counts more

	mu     sync.Mutex
	others map[string]heard
	mine   map[string]*link.Connection // over which our word came back, before any other's
	echo   map[string]bool             // our word has come back
	lost   string                      // who has it now, in words; "" while it is ours
	stop   context.CancelFunc
	done   sync.WaitGroup
}

// newOwnership is that of a device that claims topics; nil where nothing is claimed.
func newOwnership(o *Options, env drivers.Env) *ownership {
	if env.Owner == nil || env.ReadOnly || len(o.Claims) == 0 {
		return nil
	}
	w := &ownership{me: ownerWord{Owner: *env.Owner}, log: env.Log, ttl: ownerTTL, again: make(chan struct{}, 1)}
	for _, topic := range o.Claims {
		w.topics = append(w.topics, ownerTopic(topic))
	}
	return w
}

// begin forgets what was heard over earlier connections; id names the device of this process
// from its first connection on.
func (w *ownership) begin(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.me.ID == "" {
		w.me.ID, w.me.TTLMS = id, w.ttl.Milliseconds()
	}
	w.others, w.mine, w.echo, w.lost, w.claiming = map[string]heard{}, map[string]*link.Connection{}, map[string]bool{}, "", true
}

// take takes in a message of an owner's topic, and reports whether it was one.
func (w *ownership) take(m link.Arrived) bool {
	if w == nil || len(m.Topic) < len(ownerPrefix) || m.Topic[:len(ownerPrefix)] != ownerPrefix {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var said ownerWord
	if len(m.Payload) == 0 || json.Unmarshal(m.Payload, &said) != nil || said.ID == "" {
		delete(w.others, m.Topic) // cleared, or nobody's word
		return true
	}
	before, known := w.others[m.Topic]
	switch {
	case said.ID == w.me.ID:
		w.echo[m.Topic] = true
		if !known { // else that one was first
			w.mine[m.Topic] = m.From
		}
	case w.mine[m.Topic] == m.From && (!w.claiming || said.Seq <= 1):
		select { // a newcomer
		case w.again <- struct{}{}:
		default:
		}
	case !known || before.ID != said.ID || before.Seq != said.Seq:
		delete(w.mine, m.Topic)
		w.others[m.Topic] = heard{said, m.At, !m.Retained || known && before.ID == said.ID}
	}
	return true
}

// other is the word of another that still counts at a time.
func (w *ownership) other(topic string, now time.Time) (heard, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	h, there := w.others[topic]
	if there && (h.gone(&w.me.Owner) || now.Sub(h.at) > h.lasts()) {
		delete(w.others, topic)
		return h, false
	}
	return h, there
}

// say publishes our word, retained; the first has the number 1.
func (w *ownership) say(ctx context.Context, conn *link.Connection, topic string, seq int64) error {
	word := w.me
	word.Seq = seq
	text, err := json.Marshal(word)
	if err != nil {
		return err
	}
	return conn.Put(ctx, Message{Topic: topic, Payload: text, Retained: true, QoS: link.QoS1})
}

// first publishes our first word, and waits for the broker to have it.
func (w *ownership) first(ctx context.Context, conn *link.Connection, topic string) error {
	ctx, cancel := context.WithTimeout(ctx, BrokerWait)
	defer cancel()
	return w.say(ctx, conn, topic, 1)
}

// acquire waits until every topic is ours, or says who has one.
func (w *ownership) acquire(ctx context.Context, l *link.Link, now func() time.Time) error {
	conn, err := l.Open()
	if err != nil {
		return err
	}
	if err := conn.AwaitRoundTrip(ctx, BrokerWait); err != nil {
		return err
	}
	link.Sleep(ctx, ownerSettle)
	for _, topic := range w.topics { // one after the other: who has the first has them all
		passed, err := w.acquireTopic(ctx, conn, topic, now)
		if err != nil {
			return err
		}
		if !passed {
			w.log.Warn("the broker does not pass on whose the actuators are: a second tuner at another computer would not be kept out (let the device's user read and write " + ownerPrefix + "#)")
			return nil
		}
	}
	link.Sleep(ctx, ownerSettle)
	for _, topic := range w.topics {
		if h, there := w.other(topic, now()); there {
			return w.held(topic, h)
		}
	}
	return ctx.Err()
}

// acquireTopic waits until a topic is ours, or says whose it is. It reports false where the
// broker does not bring our own word back.
func (w *ownership) acquireTopic(ctx context.Context, conn *link.Connection, topic string, now func() time.Time) (bool, error) {
	for {
		for {
			h, there := w.other(topic, now())
			if !there {
				break
			}
			if h.alive {
				return true, w.held(topic, h)
			}
			if !link.Sleep(ctx, 50*time.Millisecond) { // until it renews its word, or has not for long enough
				return true, ctx.Err()
			}
		}
		w.mu.Lock()
		delete(w.echo, topic)
		w.mu.Unlock()
		if err := w.first(ctx, conn, topic); err != nil {
			return true, err
		}
		for limit := now().Add(BrokerWait); ; {
			w.mu.Lock()
			back, ours := w.echo[topic], w.mine[topic] == conn
			w.mu.Unlock()
			if ours {
				return true, nil
			}
			if back {
				break // another was first
			}
			if now().After(limit) {
				return false, nil
			}
			if !link.Sleep(ctx, 20*time.Millisecond) {
				return true, ctx.Err()
			}
		}
	}
}

// held is the error of a topic that is another's.
func (w *ownership) held(topic string, h heard) error {
	return ownedError(fmt.Sprintf("%v: topic %q is driven by another tuner: %s", drivers.ErrUnavailable, strings.TrimSuffix(topic[len(ownerPrefix):], ownerSuffix), h.Owner))
}

// ownedError says who drives a topic.
type ownedError string

func (e ownedError) Error() string   { return string(e) }
func (e ownedError) Unwrap() []error { return []error{drivers.ErrUnavailable, drivers.ErrOwned} }

// startRenewing says our word again until it is stopped, and notices where it is another's.
func (w *ownership) startRenewing(l *link.Link, now func() time.Time) {
	ctx, cancel := context.WithCancel(context.Background())
	w.mu.Lock()
	w.stop, w.claiming = cancel, false
	w.mu.Unlock()
	select {
	case w.again <- struct{}{}: // the first word at once
	default:
	}
	w.done.Go(func() {
		var last *link.Connection
		ticker := time.NewTicker(w.ttl / 5)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			case <-w.again:
				link.Sleep(ctx, ownerSettle/5) // two that believe to be owners do not outshout each other
			}
			conn, err := l.Open()
			if err != nil {
				continue
			}
			if conn != last { // what the broker has kept comes first
				last = conn
				link.Sleep(ctx, ownerSettle)
			}
			w.renew(ctx, conn, now)
		}
	})
}

// renew says our word again on every topic that no other has.
func (w *ownership) renew(ctx context.Context, conn *link.Connection, now func() time.Time) {
	w.seq++
	lost, seq := "", 1+w.seq
	for _, topic := range w.topics {
		if h, there := w.other(topic, now()); there {
			lost = w.held(topic, h).Error()
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, w.ttl/5)
		if err := w.say(ctx, conn, topic, seq); err != nil && ctx.Err() == nil {
			w.log.Debug("whose the actuators are was not renewed", slog.Any("error", err)) // the connection ends, or the next one tells
		}
		cancel()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if lost != "" && w.lost == "" {
		w.log.Warn("another tuner has taken the actuators over while this one was away: nothing but safe values is written", slog.String("who", lost))
	}
	w.lost = lost
}

// owned returns an error where the actuators are another's now.
func (w *ownership) owned() error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost != "" {
		return fmt.Errorf("%w: %s", drivers.ErrUnavailable, w.lost)
	}
	return nil
}

// end takes our words back, so that the next one need not wait.
func (w *ownership) end(l *link.Link) {
	if w == nil {
		return
	}
	w.mu.Lock()
	stop := w.stop
	w.stop = nil
	w.mu.Unlock()
	if stop == nil {
		return
	}
	stop()
	w.done.Wait()
	w.withdraw(l)
}

// withdraw clears the topics on which our word stands.
func (w *ownership) withdraw(l *link.Link) {
	conn, err := l.Open()
	if err != nil {
		return // they run out
	}
	ctx, cancel := context.WithTimeout(context.Background(), link.DisconnectTime)
	defer cancel()
	for _, topic := range w.topics {
		w.mu.Lock()
		ours := w.mine[topic] == conn
		w.mu.Unlock()
		if !ours {
			continue
		}
		if err := conn.Put(ctx, Message{Topic: topic, Retained: true, QoS: link.QoS1}); err != nil {
			w.log.Debug("whose the actuators were was not taken back, and runs out", slog.Any("error", err))
			return
		}
	}
}
