package worker

import (
	"sync"
	"time"
)

// RealClock is the machine's clock.
type RealClock struct{}

// Now returns the current time with its monotonic reading.
func (RealClock) Now() time.Time { return time.Now() }

// VirtualClock is a clock that stands still until the loop advances it.
type VirtualClock struct {
	mu  sync.Mutex
	now time.Time
}

// NewVirtualClock returns a clock that shows start.
func NewVirtualClock(start time.Time) *VirtualClock { return &VirtualClock{now: start} }

// Now returns the virtual time.
func (c *VirtualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock forward by d.
func (c *VirtualClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
