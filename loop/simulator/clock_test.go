package simulator

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"
)

// wallClock is a machine's clock that a test sets: the monotonic reading of its
// times goes on, their date jumps. The zero value is ready.
type wallClock struct{ ahead atomic.Int64 }

// Now is the time with a date that is ahead.
func (c *wallClock) Now() time.Time {
	now := time.Now()
	return withMonotonic(now.Add(time.Duration(c.ahead.Load())), now.Sub(bubbleStart))
}

// jump sets the clock by d.
func (c *wallClock) jump(d time.Duration) { c.ahead.Add(int64(d)) }

// bubbleStart is when the time of every bubble begins.
var bubbleStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// withMonotonic is a date with a monotonic reading of its own, as only the kernel's
// clock gives one: times in a bubble have none. The layout is that of package time: a
// flag, 33 bits of seconds since 1885 and 30 of nanoseconds; then the reading, in
// nanoseconds. TestWallClock sees that it is so.
func withMonotonic(date time.Time, reading time.Duration) time.Time {
	const nanosecondBits, hasMonotonic = 30, 1 << 63
	type layout struct {
		wall uint64
		ext  int64
		loc  *time.Location
	}
	since1885 := uint64(date.Unix() - time.Date(1885, 1, 1, 0, 0, 0, 0, time.UTC).Unix())
	t := layout{wall: hasMonotonic | since1885<<nanosecondBits | uint64(date.Nanosecond()), ext: int64(reading) + 1}
	return *(*time.Time)(unsafe.Pointer(&t))
}

func TestWallClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c wallClock
		began := c.Now()
		for _, by := range []time.Duration{0, time.Second, -time.Hour, 400 * 24 * time.Hour, -800*24*time.Hour - time.Millisecond} {
			before := c.Now()
			c.jump(by)
			time.Sleep(time.Minute)
			after := c.Now()
			if got := after.Sub(before); got != time.Minute {
				t.Errorf("by %v: the monotonic reading moved by %v in a minute", by, got)
			}
			if got := after.Round(0).Sub(before.Round(0)); got != by+time.Minute {
				t.Errorf("by %v: the date moved by %v", by, got)
			}
			if !after.After(before) {
				t.Errorf("by %v: %v is not after %v", by, after, before)
			}
		}
		if got := c.Now().Sub(began); got != 5*time.Minute {
			t.Errorf("%v have passed, want 5m", got)
		}
	})
}
