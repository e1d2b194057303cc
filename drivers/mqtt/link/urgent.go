package link

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// urgentPatience is how long an attempt may take from when a safe value waits for it: it may have fallen into an
// outage that is over, and another is answered at once. The next may take twice as long, for brokers that are slow.
const urgentPatience = time.Second

// errUrgent ends an attempt that a safe value has waited for long enough.
var errUrgent = errors.New("the broker has not answered yet, and a safe value waits: another attempt is made")

// attempt is one attempt to connect again, which takes connect_timeout at most, and patience from when
// a safe value waits for it.
func (l *Link) attempt(patience time.Duration) (*Connection, error) {
	ctx, cancel := context.WithTimeout(l.ctx, l.Options.ConnectTimeout)
	defer cancel()
	ctx, give := context.WithCancelCause(ctx)
	defer give(nil)
	var waits sync.WaitGroup
	over := make(chan struct{})
	waits.Go(func() {
		select {
		case <-l.urgent:
		case <-over:
			return
		}
		limit := time.NewTimer(patience)
		defer limit.Stop()
		select {
		case <-limit.C:
			give(errUrgent)
		case <-over:
		}
	})
	l.attempted = time.Now()
	c, err := l.connect(ctx)
	close(over)
	waits.Wait()
	if err != nil && errors.Is(context.Cause(ctx), errUrgent) {
		return nil, fmt.Errorf("%w: %w", drivers.ErrUnavailable, errUrgent)
	}
	return c, err
}

// enter takes note of a connection that the broker has accepted: a safe value leaves over it before its
// subscriptions, whose answers may take their time.
func (l *Link) enter(c *Connection) {
	l.mu.Lock()
	l.entered = c
	l.mu.Unlock()
	l.tellConnected()
}

// accepted gives the connection for a safe value: one to be used, else one that the broker has accepted.
func (l *Link) accepted() (*Connection, error) {
	c, err := l.Open()
	if err == nil {
		return c, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c = l.entered; c == nil || !c.client.IsConnectionOpen() || c.IsGone() {
		return nil, err
	}
	return c, nil
}

// Urgently gives the connection for a safe value, trusted or not. Where there is none it has
// one made at once, again every minBackoff, and waits for it for a time.
func (l *Link) Urgently(ctx context.Context, most time.Duration) (*Connection, error) {
	limit, again := time.NewTimer(most), time.NewTicker(MinBackoff)
	defer limit.Stop()
	defer again.Stop()
	for {
		c, err := l.accepted()
		if err == nil || ctx.Err() != nil {
			return c, errors.Join(err, ctx.Err())
		}
		select {
		case l.urgent <- struct{}{}:
		default:
		}
		select {
		case <-l.connected:
		case <-again.C:
		case <-limit.C:
			return nil, err
		case <-ctx.Done():
		case <-l.ctx.Done():
			return nil, ErrClosed
		}
	}
}
