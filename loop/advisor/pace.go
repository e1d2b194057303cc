package advisor

import (
	"context"
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
	context.Context // ends at the deadline too, for who waits for Done without having asked
	cancel          context.CancelFunc
	timer           *time.Timer // of the deadline
	parent          context.Context
	clock           drivers.Clock

	mu    sync.Mutex
	end   time.Time
	begun time.Time     // the latest unit; zero: none was looked at yet
	unit  time.Duration // what one is expected to take
	ended time.Time     // when the first unit was refused; zero: none was
}

// newPaced is the context of a decision that begins now. What follows its last unit of work is expected to take tail.
func newPaced(ctx context.Context, clock drivers.Clock, deadline, tail time.Duration) *paced {
	own, cancel := context.WithCancel(ctx)
	return &paced{Context: own, cancel: cancel, timer: time.AfterFunc(deadline, cancel), parent: ctx, clock: clock, end: clock.Now().Add(deadline - tail)}
}

// Pause has the time until resume not count: who decides waits for something that was begun before, a fit.
func (c *paced) Pause() (resume func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	begun, running := c.clock.Now(), c.timer.Stop()
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		now := c.clock.Now()
		c.end, c.begun = c.end.Add(now.Sub(begun)), time.Time{}
		if running {
			c.timer.Reset(max(c.end.Sub(now), 0))
		}
	}
}

// Err implements [context.Context]: it is DeadlineExceeded, and Done is closed, from the first unit on for which there is
// no time by the clock.
func (c *paced) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended.IsZero() {
		return context.DeadlineExceeded
	}
	if err := c.parent.Err(); err != nil {
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
	c.timer.Stop()
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
