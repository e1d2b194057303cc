//go:build linux

package gpcore_test

import (
	"time"

	"golang.org/x/sys/unix"
)

// stopwatch measures work of one thread on a machine that has others to serve. What
// takes less than a millisecond is taken by the clock on the wall: among several the
// fastest was not interrupted. What takes longer would be, and is taken by the
// processor time of the thread, which is too coarse for the short. Lock the goroutine
// to its thread.
type stopwatch struct {
	wall   time.Time
	thread int64
}

const stopwatchLimit = time.Millisecond

func threadTime() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return t.Nano()
}

func startStopwatch() stopwatch { return stopwatch{thread: threadTime(), wall: time.Now()} }

func (s stopwatch) elapsed() time.Duration {
	wall := time.Since(s.wall)
	if thread := threadTime(); wall > stopwatchLimit && s.thread > 0 {
		return time.Duration(thread - s.thread)
	}
	return wall
}

// busy is the processor time of the thread, to a microsecond.
func (s stopwatch) busy() time.Duration {
	if thread := threadTime(); s.thread > 0 {
		return time.Duration(thread - s.thread)
	}
	return time.Since(s.wall)
}
