package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/labtuner/tuner/drivers"
)

const (
	// The wait between attempts to connect grows from first to last. A connection
	// that held for stableTime starts it anew; one that broke sooner may be two
	// clients of one name, throwing each other out. Where both wait for maxBackoff,
	// each connection holds that long, so stableTime must be well above it.
	MinBackoff = 250 * time.Millisecond
	MaxBackoff = 10 * time.Second
	StableTime = 30 * time.Second
	// flapLimit is how many connections in a row may break before stableTime until
	// one is not trusted before it has held that long.
	FlapLimit = 3
)

// Spec says what a link is for.
type Spec struct {
	Options Options
	Env     drivers.Env
	// name gives the client identifier of the next connection.
	Name      func() (string, error)
	Topics    []string
	Optional  []string           // topics that the broker may refuse, with quality of service 1
	QoS       byte               // of the subscriptions
	Largest   int                // payload that is kept whole, where above MaxPayload
	Handle    func(Arrived)      // called from one goroutine
	Urgent    func(Arrived) bool // takes a message before those that wait; nil: none is taken
	OnConnect func()             // called for each connection that is there to be used; nil: not called
	Will      *Will              // nil: none
	Notify    func(text string)  // called for connections that end as if another client took them over; nil: not called
	OnLoss    func()             // called for each connection that has ended by itself; nil: not called
}

// Will is what the broker says in our place when the connection breaks, and what
// the link says when one begins. Both are retained.
type Will struct {
	Topic           string
	Online, Offline string
	// Silent says that the owner says both itself, and the broker the will alone.
	Silent bool
}

// Link keeps a connection to the broker, subscribed to topics, and makes a new
// one when it breaks.
//
//	broker ──> connection ──> queue ──> handle, one by one, in order
//	broker <── connection <── publish, while it is open
type Link struct {
	Spec
	queue *queue

	ctx    context.Context // ends with close
	cancel context.CancelFunc
	tasks  sync.WaitGroup

	// node counts the attempts; they go to the broker's nodes in turn. It belongs to
	// whoever connects, one goroutine at a time.
	node int
	// id is the client identifier, of the same goroutine; empty: one is to be drawn.
	id string
	// attempted is when the last attempt began, of the same goroutine.
	attempted time.Time
	// urgent holds one while a caller waits for a connection with a safe value: the wait
	// before the next attempt ends, and soon one that is not answered. connected holds one since a connection has come.
	urgent, connected chan struct{}

	mu       sync.Mutex
	current  *Connection // nil while there is none
	entered  *Connection // accepted by the broker, and not subscribed yet; nil: there is none
	unproven bool        // up is there, and not trusted yet
}

// ErrDown is the error of a link without a connection, ErrUnproven of one that is not
// trusted.
var (
	ErrDown     = fmt.Errorf("%w: no connection to the broker", drivers.ErrUnavailable)
	ErrUnproven = fmt.Errorf("%w: connections to the broker end soon after they begin, and this one has not held for %v yet; does another client have the same client_id?", drivers.ErrUnavailable, StableTime)
)

// New makes a link that is not open yet.
func New(s Spec) *Link {
	l := &Link{Spec: s, queue: newQueue(), urgent: make(chan struct{}, 1), connected: make(chan struct{}, 1)}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// Start connects and subscribes. It tries until ctx ends, connect_timeout has
// passed or close is called, unless the broker says no.
func (l *Link) Start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, l.Options.ConnectTimeout)
	defer cancel()
	stop := context.AfterFunc(l.ctx, cancel)
	defer stop()
	return l.begin(l.connectUntil(ctx))
}

// StartPatiently is start for one who waits for the broker as long as it takes,
// until ctx ends; only what a later attempt does not cure is an error.
func (l *Link) StartPatiently(ctx context.Context) error {
	return l.begin(l.connectPatiently(ctx))
}

// begin keeps the first connection, if there is one.
func (l *Link) begin(c *Connection, err error) error {
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() != nil {
		c.end()
		return ErrClosed
	}
	l.current = c
	l.tasks.Go(func() { l.maintain(c) })
	l.tasks.Go(l.deliver)
	return nil
}

// connectUntil attempts to connect until ctx ends; what a later attempt does not
// cure is final.
func (l *Link) connectUntil(ctx context.Context) (*Connection, error) {
	for wait := MinBackoff; ; wait = min(2*wait, MaxBackoff) {
		// A node that is silent leaves time for the others.
		attempt, cancel := context.WithTimeout(ctx, l.Options.ConnectTimeout/time.Duration(l.Options.nodes()))
		c, err := l.connect(attempt)
		cancel()
		if err == nil || !errors.Is(err, drivers.ErrUnavailable) {
			return c, err
		}
		if !Sleep(ctx, wait) {
			return nil, err
		}
	}
}

// connectPatiently gives each attempt connect_timeout, and says once for each cause
// why there is no connection yet.
func (l *Link) connectPatiently(ctx context.Context) (*Connection, error) {
	said := ""
	for wait := MinBackoff; ; wait = min(2*wait, MaxBackoff) {
		attempt, cancel := context.WithTimeout(ctx, l.Options.ConnectTimeout)
		c, err := l.connect(attempt)
		cancel()
		if err == nil || !errors.Is(err, drivers.ErrUnavailable) {
			return c, err
		}
		said = l.logOnce(said, err)
		if !Sleep(ctx, wait) {
			return nil, err
		}
	}
}

// logOnce logs a cause that was not said last, and returns what was said now.
func (l *Link) logOnce(said string, err error) string {
	text := err.Error()
	if text != said && l.ctx.Err() == nil {
		l.Env.Log.Warn("no connection to the broker yet", slog.Any("error", err))
	}
	return text
}

// connectAndMaintain looks for a first connection, and keeps it.
func (l *Link) connectAndMaintain() {
	if c, _ := l.reconnect(0); c != nil {
		l.maintain(c)
	}
}

// maintain replaces a broken connection until the link is closed.
func (l *Link) maintain(c *Connection) {
	wait, short := MinBackoff, 0
	for {
		since := time.Now()
		trust := make(<-chan time.Time) // never, where it is trusted already
		if short >= FlapLimit {
			trust = time.After(StableTime)
		}
		l.setCurrent(c, short >= FlapLimit)
		if l.OnConnect != nil {
			l.OnConnect()
		}
		for waiting := true; waiting; {
			select {
			case <-c.Gone:
				waiting = false
			case <-trust:
				l.setCurrent(c, false)
			case <-l.ctx.Done():
				c.end()
				return
			}
		}
		if l.OnLoss != nil {
			l.OnLoss()
		}
		l.setCurrent(nil, false)
		l.Env.Log.Warn("connection to the broker lost", slog.Any("error", c.Why()))
		c.end()
		ended := endedByBroker(c.Why())
		if ended {
			l.id = "" // whoever has learnt it cannot follow
		}
		short++
		if time.Since(since) >= StableTime {
			wait, short = MinBackoff, 0
		}
		if short == FlapLimit {
			l.Env.Log.Warn("connections to the broker end soon after they begin; does another client have the same client_id?",
				slog.Int("in_a_row", short))
		}
		before := l.node
		if c, wait = l.reconnect(wait); c == nil {
			return
		}
		if ended && l.node == before+1 {
			l.notice(fmt.Sprintf("the broker ended the connection (%d in a row) and took the next one at once: so it does when another client takes the connection over by logging in with the same client_id", max(short, 1)))
		}
		l.Env.Log.Info("connected to the broker again")
	}
}

// endedByBroker reports whether the broker has closed the connection, as it does with the older
// one of two clients of one name: no error, only the end.
func endedByBroker(why error) bool {
	return errors.Is(why, io.EOF) || errors.Is(why, io.ErrUnexpectedEOF)
}

// notice says something of the connection in the log and to the callback.
func (l *Link) notice(text string) {
	l.Env.Log.Warn(text)
	if l.Notify != nil {
		l.Notify(text)
	}
}

// reconnect attempts until there is a connection, or gives nil when the link is
// closed. It also returns the wait that comes next.
func (l *Link) reconnect(wait time.Duration) (*Connection, time.Duration) {
	said, patience := "", urgentPatience
	for {
		if !l.backoff(wait) {
			return nil, 0
		}
		wait = min(max(2*wait, MinBackoff), MaxBackoff)
		c, err := l.attempt(patience)
		if err == nil {
			return c, wait
		}
		if errors.Is(err, errUrgent) {
			patience = min(2*patience, l.Options.ConnectTimeout)
		}
		said = l.logOnce(said, err)
	}
}

// backoff waits before an attempt, but where a safe value waits for the connection only so long that attempts
// begin MinBackoff apart. It reports whether the link is still open.
func (l *Link) backoff(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.urgent:
		return Sleep(l.ctx, MinBackoff-time.Since(l.attempted))
	case <-l.ctx.Done():
	}
	return l.ctx.Err() == nil
}

// sleep waits and reports whether it was not interrupted.
func Sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (l *Link) setCurrent(c *Connection, held bool) {
	l.mu.Lock()
	l.current, l.unproven, l.entered = c, held, nil
	l.mu.Unlock()
	if c != nil {
		select { // nobody waits any more
		case <-l.urgent:
		default:
		}
		l.tellConnected()
	}
}

// tellConnected tells whoever waits with a safe value that there is a connection for it.
func (l *Link) tellConnected() {
	select {
	case l.connected <- struct{}{}:
	default:
	}
}

// Open gives the connection even where it is not trusted: better a safe value over
// a connection that may break than none.
func (l *Link) Open() (*Connection, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// Not IsConnected, which is true while there is none.
	if l.current == nil || !l.current.client.IsConnectionOpen() || l.current.IsGone() {
		return nil, ErrDown
	}
	return l.current, nil
}

// Stable gives the connection, or says why there is none to be used.
func (l *Link) Stable() (*Connection, error) {
	c, err := l.Open()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil && l.unproven && l.current == c {
		return nil, ErrUnproven
	}
	return c, err
}

// deliver hands messages over one by one, in the order of their arrival.
func (l *Link) deliver() {
	told := int64(0)
	for {
		m, dropped, ok := l.queue.take(l.ctx)
		if !ok {
			return
		}
		l.Handle(m)
		if dropped != told {
			l.Env.Log.Warn("messages come faster than they can be read; the oldest were dropped", slog.Int64("dropped", dropped-told))
			told = dropped
		}
	}
}

// Begin looks for a first connection in the background, and keeps it.
func (l *Link) Begin() {
	l.tasks.Go(l.connectAndMaintain)
	l.tasks.Go(l.deliver)
}

// Attend runs a task beside the link, until the link is closed.
func (l *Link) Attend(task func(ctx context.Context)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() == nil {
		l.tasks.Go(func() { task(l.ctx) })
	}
}

// Close ends the connection and every goroutine of the link.
func (l *Link) Close() {
	l.mu.Lock()
	l.cancel()
	l.mu.Unlock() // from here on, start begins no task
	l.tasks.Wait()
	l.setCurrent(nil, false)
}
