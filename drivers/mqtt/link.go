package mqtt

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
	minBackoff = 250 * time.Millisecond
	maxBackoff = 10 * time.Second
	stableTime = 30 * time.Second
	// flapLimit is how many connections in a row may break before stableTime until
	// one is not trusted before it has held that long.
	flapLimit = 3
)

// linkSpec says what a link is for.
type linkSpec struct {
	options Options
	env     drivers.Env
	// name gives the client identifier of the next connection.
	name      func() (string, error)
	topics    []string
	optional  []string           // topics that the broker may refuse, with quality of service 1
	qos       byte               // of the subscriptions
	handle    func(message)      // called from one goroutine
	urgent    func(message) bool // takes a message before those that wait; nil: none is taken
	onConnect func()             // called for each connection that is there to be used; nil: not called
	will      *will              // nil: none
	notify    func(text string)  // called for connections that end as if another client took them over; nil: not called
	onLoss    func()             // called for each connection that has ended by itself; nil: not called
}

// will is what the broker says in our place when the connection breaks, and what
// the link says when one begins. Both are retained.
type will struct {
	topic           string
	online, offline string
	// silent says that the owner says both itself, and the broker the will alone.
	silent bool
}

// link keeps a connection to the broker, subscribed to topics, and makes a new
// one when it breaks.
//
//	broker ──> connection ──> queue ──> handle, one by one, in order
//	broker <── connection <── publish, while it is open
type link struct {
	linkSpec
	queue *queue

	ctx    context.Context // ends with close
	cancel context.CancelFunc
	tasks  sync.WaitGroup

	// node counts the attempts; they go to the broker's nodes in turn. It belongs to
	// whoever connects, one goroutine at a time.
	node int
	// id is the client identifier, of the same goroutine; empty: one is to be drawn.
	id string
	// skipBackoff holds one while a caller waits for a connection with a safe value: the wait
	// before the next attempt ends. came holds one since a connection has come.
	skipBackoff, connected chan struct{}

	mu       sync.Mutex
	current  *connection // nil while there is none
	unproven bool        // up is there, and not trusted yet
}

// errDown is the error of a link without a connection, errUnproven of one that is not
// trusted.
var (
	errDown     = fmt.Errorf("%w: no connection to the broker", drivers.ErrUnavailable)
	errUnproven = fmt.Errorf("%w: connections to the broker end soon after they begin, and this one has not held for %v yet; does another client have the same client_id?", drivers.ErrUnavailable, stableTime)
)

// newLink makes a link that is not open yet.
func newLink(s linkSpec) *link {
	l := &link{linkSpec: s, queue: newQueue(), skipBackoff: make(chan struct{}, 1), connected: make(chan struct{}, 1)}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// start connects and subscribes. It tries until ctx ends, connect_timeout has
// passed or close is called, unless the broker says no.
func (l *link) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, l.options.ConnectTimeout)
	defer cancel()
	stop := context.AfterFunc(l.ctx, cancel)
	defer stop()
	return l.begin(l.connectUntil(ctx))
}

// startPatiently is start for one who waits for the broker as long as it takes,
// until ctx ends; only what a later attempt does not cure is an error.
func (l *link) startPatiently(ctx context.Context) error {
	return l.begin(l.connectPatiently(ctx))
}

// begin keeps the first connection, if there is one.
func (l *link) begin(c *connection, err error) error {
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() != nil {
		c.end()
		return errClosed
	}
	l.current = c
	l.tasks.Go(func() { l.maintain(c) })
	l.tasks.Go(l.deliver)
	return nil
}

// connectUntil attempts to connect until ctx ends; what a later attempt does not
// cure is final.
func (l *link) connectUntil(ctx context.Context) (*connection, error) {
	for wait := minBackoff; ; wait = min(2*wait, maxBackoff) {
		c, err := l.connect(ctx)
		if err == nil || !errors.Is(err, drivers.ErrUnavailable) {
			return c, err
		}
		if !sleep(ctx, wait) {
			return nil, err
		}
	}
}

// connectPatiently gives each attempt connect_timeout, and says once for each cause
// why there is no connection yet.
func (l *link) connectPatiently(ctx context.Context) (*connection, error) {
	said := ""
	for wait := minBackoff; ; wait = min(2*wait, maxBackoff) {
		attempt, cancel := context.WithTimeout(ctx, l.options.ConnectTimeout)
		c, err := l.connect(attempt)
		cancel()
		if err == nil || !errors.Is(err, drivers.ErrUnavailable) {
			return c, err
		}
		said = l.logOnce(said, err)
		if !sleep(ctx, wait) {
			return nil, err
		}
	}
}

// logOnce logs a cause that was not said last, and returns what was said now.
func (l *link) logOnce(said string, err error) string {
	text := err.Error()
	if text != said && l.ctx.Err() == nil {
		l.env.Log.Warn("no connection to the broker yet", slog.Any("error", err))
	}
	return text
}

// connectAndMaintain looks for a first connection, and keeps it.
func (l *link) connectAndMaintain() {
	if c, _ := l.reconnect(0); c != nil {
		l.maintain(c)
	}
}

// maintain replaces a broken connection until the link is closed.
func (l *link) maintain(c *connection) {
	wait, short := minBackoff, 0
	for {
		since := time.Now()
		trust := make(<-chan time.Time) // never, where it is trusted already
		if short >= flapLimit {
			trust = time.After(stableTime)
		}
		l.setCurrent(c, short >= flapLimit)
		if l.onConnect != nil {
			l.onConnect()
		}
		for waiting := true; waiting; {
			select {
			case <-c.gone:
				waiting = false
			case <-trust:
				l.setCurrent(c, false)
			case <-l.ctx.Done():
				c.end()
				return
			}
		}
		if l.onLoss != nil {
			l.onLoss()
		}
		l.setCurrent(nil, false)
		l.env.Log.Warn("connection to the broker lost", slog.Any("error", c.why()))
		c.end()
		ended := endedByBroker(c.why())
		if ended {
			l.id = "" // whoever has learnt it cannot follow
		}
		short++
		if time.Since(since) >= stableTime {
			wait, short = minBackoff, 0
		}
		if short == flapLimit {
			l.env.Log.Warn("connections to the broker end soon after they begin; does another client have the same client_id?",
				slog.Int("in_a_row", short))
		}
		before := l.node
		if c, wait = l.reconnect(wait); c == nil {
			return
		}
		if ended && l.node == before+1 {
			l.notice(fmt.Sprintf("the broker ended the connection (%d in a row) and took the next one at once: so it does when another client takes the connection over by logging in with the same client_id", max(short, 1)))
		}
		l.env.Log.Info("connected to the broker again")
	}
}

// endedByBroker reports whether the broker has closed the connection, as it does with the older
// one of two clients of one name: no error, only the end.
func endedByBroker(why error) bool {
	return errors.Is(why, io.EOF) || errors.Is(why, io.ErrUnexpectedEOF)
}

// notice says something of the connection in the log and to the callback.
func (l *link) notice(text string) {
	l.env.Log.Warn(text)
	if l.notify != nil {
		l.notify(text)
	}
}

// reconnect attempts until there is a connection, or gives nil when the link is
// closed. It also returns the wait that comes next.
func (l *link) reconnect(wait time.Duration) (*connection, time.Duration) {
	said := ""
	for {
		if !l.backoff(wait) {
			return nil, 0
		}
		wait = min(max(2*wait, minBackoff), maxBackoff)
		ctx, cancel := context.WithTimeout(l.ctx, l.options.ConnectTimeout)
		c, err := l.connect(ctx)
		cancel()
		if err == nil {
			return c, wait
		}
		said = l.logOnce(said, err)
	}
}

// backoff waits before an attempt, but not where a safe value waits for the connection. It
// reports whether the link is still open.
func (l *link) backoff(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.skipBackoff:
	case <-l.ctx.Done():
	}
	return l.ctx.Err() == nil
}

// sleep waits and reports whether it was not interrupted.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (l *link) setCurrent(c *connection, held bool) {
	l.mu.Lock()
	l.current, l.unproven = c, held
	l.mu.Unlock()
	if c != nil {
		select {
		case l.connected <- struct{}{}:
		default:
		}
	}
}

// urgently gives the connection for a safe value, trusted or not. Where there is none it has
// one made at once, again every minBackoff, and waits for it for a time.
func (l *link) urgently(ctx context.Context, most time.Duration) (*connection, error) {
	limit, again := time.NewTimer(most), time.NewTicker(minBackoff)
	defer limit.Stop()
	defer again.Stop()
	for {
		c, err := l.open()
		if err == nil || ctx.Err() != nil {
			return c, errors.Join(err, ctx.Err())
		}
		select {
		case l.skipBackoff <- struct{}{}:
		default:
		}
		select {
		case <-l.connected:
		case <-again.C:
		case <-limit.C:
			return nil, err
		case <-ctx.Done():
		case <-l.ctx.Done():
			return nil, errClosed
		}
	}
}

// open gives the connection even where it is not trusted: better a safe value over
// a connection that may break than none.
func (l *link) open() (*connection, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// Not IsConnected, which is true while there is none.
	if l.current == nil || !l.current.client.IsConnectionOpen() || l.current.isGone() {
		return nil, errDown
	}
	return l.current, nil
}

// stable gives the connection, or says why there is none to be used.
func (l *link) stable() (*connection, error) {
	c, err := l.open()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil && l.unproven && l.current == c {
		return nil, errUnproven
	}
	return c, err
}

// deliver hands messages over one by one, in the order of their arrival.
func (l *link) deliver() {
	told := int64(0)
	for {
		m, dropped, ok := l.queue.take(l.ctx)
		if !ok {
			return
		}
		l.handle(m)
		if dropped != told {
			l.env.Log.Warn("messages come faster than they can be read; the oldest were dropped", slog.Int64("dropped", dropped-told))
			told = dropped
		}
	}
}

// attend runs a task beside the link, until the link is closed.
func (l *link) attend(task func(ctx context.Context)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() == nil {
		l.tasks.Go(func() { task(l.ctx) })
	}
}

// close ends the connection and every goroutine of the link.
func (l *link) close() {
	l.mu.Lock()
	l.cancel()
	l.mu.Unlock() // from here on, start begins no task
	l.tasks.Wait()
	l.setCurrent(nil, false)
}
