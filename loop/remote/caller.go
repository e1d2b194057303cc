package remote

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// What a Caller's errors wrap.
var (
	// ErrNobody: no tuner is there.
	ErrNobody = errors.New("no tuner is online")
	// ErrNoAnswer: the tuner does not answer.
	ErrNoAnswer = errors.New("no answer")
)

// Caller is a sender of commands: the other side of a Remote. It is for one goroutine;
// Handle is for the link's.
type Caller struct {
	// Topics are the instrument's. Key signs, nil: nothing is signed. Expires is how long a
	// command may still act.
	Topics  Topics
	Key     *Key
	Expires time.Duration

	mu       sync.Mutex
	presence *Presence
	// live says that the presence came just now, and is not what the broker has kept.
	live    bool
	state   json.RawMessage
	answers map[string]Answer // by transaction
	changed chan struct{}
}

// NewCaller returns a caller of an instrument.
func NewCaller(t Topics) *Caller {
	return &Caller{Topics: t, Expires: 5 * time.Second, answers: map[string]Answer{}, changed: make(chan struct{}, 1)}
}

// Subscriptions are the topics that the link is to listen to.
func (c *Caller) Subscriptions(command string) []string {
	return []string{c.Topics.Status(), c.Topics.State(), c.Topics.Response(command)}
}

// Handle takes what the instrument says. What cannot be read is ignored: someone else
// may write there.
func (c *Caller) Handle(m Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch m.Topic {
	case c.Topics.Status():
		var p Presence
		if json.Unmarshal(m.Payload, &p) == nil {
			c.presence, c.live = &p, !m.Retained
		}
	case c.Topics.State():
		if json.Valid(m.Payload) {
			c.state = m.Payload
		}
	default:
		var a Answer
		if !m.Retained && json.Unmarshal(m.Payload, &a) == nil && len(c.answers) < cacheMax {
			c.answers[a.Transaction] = a
		}
	}
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// wait returns when done says so, or ctx ends.
func (c *Caller) wait(ctx context.Context, done func() bool) bool {
	for {
		c.mu.Lock()
		ok := done()
		c.mu.Unlock()
		if ok {
			return true
		}
		select {
		case <-c.changed:
		case <-ctx.Done():
			return false
		}
	}
}

// Find waits for the instrument's presence. A tuner that says it is online and whose
// heartbeat, by this computer's clock, is older than three of its periods must give a sign
// of life first: it may have died together with the broker, or the clocks differ.
//
// Errors: ErrNobody.
func (c *Caller) Find(ctx context.Context, now func() time.Time) (Presence, error) {
	short, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if !c.wait(short, func() bool { return c.presence != nil }) {
		return Presence{}, fmt.Errorf("%w: nothing was ever said on %s", ErrNobody, c.Topics.Status())
	}
	p, live := c.seen()
	if p.State != "online" {
		return p, fmt.Errorf("%w: its last word is %q%s", ErrNobody, p.State, since(p.Heartbeat))
	}
	period := time.Duration(p.HeartbeatS * float64(time.Second))
	if age := now().Sub(p.Heartbeat); !live && period > 0 && (age > 3*period || age < -3*period) {
		long, cancel := context.WithTimeout(ctx, period+2*time.Second)
		defer cancel()
		if !c.wait(long, func() bool { return c.live }) {
			return p, fmt.Errorf("%w: its last sign of life was%s", ErrNobody, since(p.Heartbeat))
		}
		if p, _ = c.seen(); p.State != "online" {
			return p, fmt.Errorf("%w: its last word is %q", ErrNobody, p.State)
		}
	}
	return p, nil
}

func since(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return " at " + at.Format(time.RFC3339)
}

func (c *Caller) seen() (Presence, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return *c.presence, c.live
}

// State waits for the run's state, a loop.Status as JSON.
func (c *Caller) State(ctx context.Context) (json.RawMessage, error) {
	if !c.wait(ctx, func() bool { return c.state != nil }) {
		return nil, fmt.Errorf("%w: nothing was said on %s", ErrNoAnswer, c.Topics.State())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state, nil
}

const (
	// sayAgain is after how long a command is said again that the broker may not have taken, and sayMost how long its
	// word is waited for.
	sayAgain = 250 * time.Millisecond
	sayMost  = 2 * time.Second
)

// say publishes a command until the broker has it, over one connection after the other: a command acts once, by its
// transaction. The error is that of the last time, when ctx ends.
func say(ctx context.Context, link Link, m Message) error {
	for {
		once, cancel := context.WithTimeout(ctx, sayMost)
		err := link.Publish(once, m)
		cancel()
		if err == nil {
			return nil
		}
		again := time.NewTimer(sayAgain)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return err
		}
	}
}

// answerMargin is how long after its expiry the answer to a command may still come.
const answerMargin = 2 * time.Second

// Ask sends a command for the session of p and waits for its answer, which may come though the broker's word on the
// command is lost.
//
// Errors: ErrNoAnswer, and the link's.
func (c *Caller) Ask(ctx context.Context, link Link, p Presence, command string, args json.RawMessage) (Answer, error) {
	q := Command{Transaction: rand.Text(), Session: p.Session, Expires: c.Expires, Args: args}
	// It does not say when it was issued: no two clocks need agree. It expires by the time
	// since its arrival, and dies with the session.
	topic := c.Topics.Command(command)
	if c.Key != nil {
		q.Key, q.Seq = c.Key.Name, uint64(time.Now().UnixNano())
	}
	payload, err := json.Marshal(q)
	if err != nil {
		return Answer{}, err
	}
	if c.Key != nil {
		payload = c.Key.sign(topic, payload)
	}
	ctx, cancel := context.WithTimeout(ctx, c.Expires+answerMargin)
	defer cancel()
	said := make(chan error, 1)
	go func() { said <- say(ctx, link, Message{Topic: topic, Payload: payload, QoS: 1}) }()
	var a Answer
	answered := c.wait(ctx, func() (ok bool) { a, ok = c.answers[q.Transaction]; return ok })
	cancel()
	switch err := <-said; {
	case answered:
	case err != nil:
		return Answer{}, err
	default:
		return Answer{}, fmt.Errorf("%w to %s: the broker may not let this user write there", ErrNoAnswer, command)
	}
	if a.Command == "" {
		a.Command = command
	}
	return a, nil
}
