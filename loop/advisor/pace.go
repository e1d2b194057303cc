package advisor

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/labtuner/tuner/drivers"
)

const (
	// fade is what is left of an expectation when the next unit of work, or decision, took less.
	fade = 0.9
	// tailShare of the deadline is the most that is kept for what follows the last unit of work.
	tailShare = 0.5
)

// paced is the context of one decision, which looks at it before each unit of work: it has ended when a further unit
// would not be done in time. How long a unit takes is expected from those before it.
type paced struct {
	context.Context
	cancel context.CancelFunc
	clock  drivers.Clock
	end    time.Time

	mu    sync.Mutex
	begun time.Time     // the latest unit; zero: none was looked at yet
	unit  time.Duration // what one is expected to take
	ended time.Time     // when the first unit was refused; zero: none was
}

// newPaced is the context of a decision that begins now. What follows its last unit of work is expected to take tail.
func newPaced(ctx context.Context, clock drivers.Clock, deadline, tail time.Duration) *paced {
	ctx, cancel := context.WithTimeout(ctx, deadline) // for who waits for Done without having asked
	return &paced{Context: ctx, cancel: cancel, clock: clock, end: clock.Now().Add(deadline - tail)}
}

// Err implements [context.Context]: it is DeadlineExceeded, and Done is closed, from the first unit on for which there is
// no time by the clock.
func (c *paced) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended.IsZero() {
		return context.DeadlineExceeded
	}
	if err := c.Context.Err(); errors.Is(err, context.Canceled) {
		return err
	}
	now := c.clock.Now()
	if !c.begun.IsZero() {
		c.unit = max(now.Sub(c.begun), faded(c.unit))
	}
	if c.begun = now; !now.Add(c.unit).After(c.end) {
		return nil
	}
	c.ended = now
	c.cancel()
	return context.DeadlineExceeded
}

// close ends the decision and returns how long what followed its last unit took, 0 where no unit was refused.
func (c *paced) close() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel()
	if c.ended.IsZero() {
		return 0
	}
	return c.clock.Now().Sub(c.ended)
}

// expectTail takes in how long what followed the last unit of a decision took.
func (a *Advisor) expectTail(took time.Duration) {
	most := time.Duration(tailShare * float64(a.opt.Deadline))
	if took > 0 {
		a.tail = min(max(took, faded(a.tail)), most)
	}
}

func faded(d time.Duration) time.Duration { return time.Duration(fade * float64(d)) }
