package mqtt

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/labtuner/tuner/drivers"
)

const (
	// queueLength bounds the messages that wait for the goroutine that reads
	// them; beyond it the oldest goes.
	queueLength = 1024
	// The wait between attempts to connect grows from first to last. A
	// connection that held for steadyTime starts it anew; one that broke sooner
	// may be two clients of one name, throwing each other out.
	firstWait  = 250 * time.Millisecond
	lastWait   = 10 * time.Second
	steadyTime = 10 * time.Second
)

// message is one message as it came.
type message struct {
	topic    string
	payload  []byte
	retained bool
	at       time.Time // by the environment's clock
}

// linkSpec says what a link is for.
type linkSpec struct {
	options  Options
	env      drivers.Env
	clientID string
	topics   []string
	handle   func(message) // called from one goroutine
}

// link keeps a connection to the broker, subscribed to topics, and makes a new
// one when it breaks.
//
//	broker ──> connection ──> enqueue ──> queue ──> handle, one by one, in order
//	broker <── connection <── publish, while it is open
type link struct {
	linkSpec
	queue   chan message
	dropped atomic.Int64

	ctx    context.Context // ends with close
	cancel context.CancelFunc
	tasks  sync.WaitGroup

	mu sync.Mutex
	up *connection // nil while there is none
}

// errDown is the error of a link without a connection.
var errDown = fmt.Errorf("%w: no connection to the broker", drivers.ErrUnavailable)

// newLink makes a link that is not open yet.
func newLink(s linkSpec) *link {
	l := &link{linkSpec: s, queue: make(chan message, queueLength)}
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
	c, err := l.connectUntil(ctx)
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

// keep replaces a broken connection until the link is closed.
func (l *link) keep(c *connection) {
	wait := firstWait
	for {
		since := time.Now()
		select {
		case <-c.gone:
		case <-l.ctx.Done():
			c.end()
			return
		}
		l.setUp(nil)
		l.env.Log.Warn("connection to the broker lost", slog.Any("error", c.why()))
		c.end()
		if time.Since(since) >= steadyTime {
			wait = firstWait
		}
		if c, wait = l.reconnect(wait); c == nil {
			return
		}
		l.setUp(c)
		l.env.Log.Info("connected to the broker again")
	}
}

// reconnect attempts until there is a connection, or gives nil when the link is
// closed. It also returns the wait that comes next.
func (l *link) reconnect(wait time.Duration) (*connection, time.Duration) {
	said := ""
	for {
		if !sleep(l.ctx, wait) {
			return nil, 0
		}
		wait = min(2*wait, lastWait)
		ctx, cancel := context.WithTimeout(l.ctx, l.options.ConnectTimeout)
		c, err := l.connect(ctx)
		cancel()
		if err == nil {
			return c, wait
		}
		if text := err.Error(); text != said && l.ctx.Err() == nil {
			said = text // once per cause, not once per attempt
			l.env.Log.Warn("no connection to the broker yet", slog.Any("error", err))
		}
	}
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

func (l *link) setUp(c *connection) {
	l.mu.Lock()
	l.up = c
	l.mu.Unlock()
}

// open gives the connection, or errDown while there is none.
func (l *link) open() (*connection, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.up == nil || !l.up.client.IsConnectionOpen() {
		return nil, errDown
	}
	return l.up, nil
}

// enqueue never blocks: it is called from the client library's own goroutine,
// which must go on to read the broker's answers.
func (l *link) enqueue(m message) {
	for {
		select {
		case l.queue <- m:
			return
		default:
		}
		select {
		case <-l.queue:
			l.dropped.Add(1)
		default:
		}
	}
}

// deliver hands messages over one by one, in the order of their arrival.
func (l *link) deliver() {
	told := int64(0)
	for {
		select {
		case m := <-l.queue:
			l.handle(m)
		case <-l.ctx.Done():
			return
		}
		if n := l.dropped.Load(); n != told {
			l.env.Log.Warn("messages come faster than they can be read; the oldest were dropped", slog.Int64("dropped", n-told))
			told = n
		}
	}
}

// close ends the connection and every goroutine of the link.
func (l *link) close() {
	l.mu.Lock()
	l.cancel()
	l.mu.Unlock() // from here on, start begins no task
	l.tasks.Wait()
	l.setUp(nil)
}
