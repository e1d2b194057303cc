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
	// that held for steadyTime starts it anew; one that broke sooner may be two
	// clients of one name, throwing each other out. Where both wait for lastWait,
	// each connection holds that long, so steadyTime must be well above it.
	firstWait  = 250 * time.Millisecond
	lastWait   = 10 * time.Second
	steadyTime = 30 * time.Second
	// flapLimit is how many connections in a row may break before steadyTime until
	// one is not trusted before it has held that long.
	flapLimit = 3
)

// linkSpec says what a link is for.
type linkSpec struct {
	options Options
	env     drivers.Env
	// name gives the client identifier of the next connection.
	name   func() (string, error)
	topics []string
	qos    byte               // of the subscriptions
	handle func(message)      // called from one goroutine
	urgent func(message) bool // takes a message before those that wait; nil: none is taken
	greet  func()             // told of each connection that is there to be used; nil: nobody is
	will   *will              // nil: none
	tell   func(text string)  // told of connections that end as if another client took them over; nil: nobody is
	lost   func()             // told of each connection that has ended by itself; nil: nobody is
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
	// hurry holds one while somebody waits for a connection with a safe value: the wait
	// before the next attempt ends. came holds one since a connection has come.
	hurry, came chan struct{}

	mu   sync.Mutex
	up   *connection // nil while there is none
	held bool        // up is there, and not trusted yet
}

// errDown is the error of a link without a connection, errHeld of one that is not
// trusted.
var (
	errDown = fmt.Errorf("%w: no connection to the broker", drivers.ErrUnavailable)
	errHeld = fmt.Errorf("%w: connections to the broker end soon after they begin, and this one has not held for %v yet; does another client have the same client_id?", drivers.ErrUnavailable, steadyTime)
)

// newLink makes a link that is not open yet.
func newLink(s linkSpec) *link {
	l := &link{linkSpec: s, queue: newQueue(), hurry: make(chan struct{}, 1), came: make(chan struct{}, 1)}
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
	l.up = c
	l.tasks.Go(func() { l.keep(c) })
	l.tasks.Go(l.deliver)
	return nil
}

// connectUntil attempts to connect until ctx ends; what a later attempt does not
// cure is final.
func (l *link) connectUntil(ctx context.Context) (*connection, error) {
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
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
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		attempt, cancel := context.WithTimeout(ctx, l.options.ConnectTimeout)
		c, err := l.connect(attempt)
		cancel()
		if err == nil || !errors.Is(err, drivers.ErrUnavailable) {
			return c, err
		}
		said = l.notYet(said, err)
		if !sleep(ctx, wait) {
			return nil, err
		}
	}
}

// notYet logs a cause that was not said last, and returns what was said now.
func (l *link) notYet(said string, err error) string {
	text := err.Error()
	if text != said && l.ctx.Err() == nil {
		l.env.Log.Warn("no connection to the broker yet", slog.Any("error", err))
	}
	return text
}

// keepFromScratch looks for a first connection, and keeps it.
func (l *link) keepFromScratch() {
	if c, _ := l.reconnect(0); c != nil {
		l.keep(c)
	}
}

// keep replaces a broken connection until the link is closed.
func (l *link) keep(c *connection) {
	wait, short := firstWait, 0
	for {
		since := time.Now()
		trust := make(<-chan time.Time) // never, where it is trusted already
		if short >= flapLimit {
			trust = time.After(steadyTime)
		}
		l.setUp(c, short >= flapLimit)
		if l.greet != nil {
			l.greet()
		}
		for waiting := true; waiting; {
			select {
			case <-c.gone:
				waiting = false
			case <-trust:
				l.setUp(c, false)
			case <-l.ctx.Done():
				c.end()
				return
			}
		}
		if l.lost != nil {
			l.lost()
		}
		l.setUp(nil, false)
		l.env.Log.Warn("connection to the broker lost", slog.Any("error", c.why()))
		c.end()
		ended := endedByBroker(c.why())
		if ended {
			l.id = "" // whoever has learnt it cannot follow
		}
		short++
		if time.Since(since) >= steadyTime {
			wait, short = firstWait, 0
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
			l.told(fmt.Sprintf("the broker ended the connection (%d in a row) and took the next one at once: so it does when another client takes the connection over by logging in with the same client_id", short))
		}
		l.env.Log.Info("connected to the broker again")
	}
}

// endedByBroker reports whether the broker has closed the connection, as it does with the older
// one of two clients of one name: no error, only the end.
func endedByBroker(why error) bool {
	return errors.Is(why, io.EOF) || errors.Is(why, io.ErrUnexpectedEOF)
}

// told says something of the connection in the log and to who wants to be told.
func (l *link) told(text string) {
	l.env.Log.Warn(text)
	if l.tell != nil {
		l.tell(text)
	}
}

// reconnect attempts until there is a connection, or gives nil when the link is
// closed. It also returns the wait that comes next.
func (l *link) reconnect(wait time.Duration) (*connection, time.Duration) {
	said := ""
	for {
		if !l.rest(wait) {
			return nil, 0
		}
		wait = min(max(2*wait, firstWait), lastWait)
		ctx, cancel := context.WithTimeout(l.ctx, l.options.ConnectTimeout)
		c, err := l.connect(ctx)
		cancel()
		if err == nil {
			return c, wait
		}
		said = l.notYet(said, err)
	}
}

// rest waits before an attempt, but not where a safe value waits for the connection. It
// reports whether the link is still open.
func (l *link) rest(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.hurry:
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

func (l *link) setUp(c *connection, held bool) {
	l.mu.Lock()
	l.up, l.held = c, held
	l.mu.Unlock()
	if c != nil {
		select {
		case l.came <- struct{}{}:
		default:
		}
	}
}

// urgently gives the connection for a safe value, trusted or not. Where there is none it has
// one made at once, again every firstWait, and waits for it for a time.
func (l *link) urgently(ctx context.Context, most time.Duration) (*connection, error) {
	limit, again := time.NewTimer(most), time.NewTicker(firstWait)
	defer limit.Stop()
	defer again.Stop()
	for {
		c, err := l.open()
		if err == nil || ctx.Err() != nil {
			return c, errors.Join(err, ctx.Err())
		}
		select {
		case l.hurry <- struct{}{}:
		default:
		}
		select {
		case <-l.came:
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
	if l.up == nil || !l.up.client.IsConnectionOpen() || l.up.isGone() {
		return nil, errDown
	}
	return l.up, nil
}

// trusted gives the connection, or says why there is none to be used.
func (l *link) trusted() (*connection, error) {
	c, err := l.open()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil && l.held && l.up == c {
		return nil, errHeld
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

// close ends the connection and every goroutine of the link.
func (l *link) close() {
	l.mu.Lock()
	l.cancel()
	l.mu.Unlock() // from here on, start begins no task
	l.tasks.Wait()
	l.setUp(nil, false)
}
