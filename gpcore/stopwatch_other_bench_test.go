//go:build !linux

package gpcore

import "time"

// stopwatch is the clock on the wall.
type stopwatch struct{ wall time.Time }

func startStopwatch() stopwatch { return stopwatch{time.Now()} }

func (s stopwatch) elapsed() time.Duration { return time.Since(s.wall) }

func (s stopwatch) busy() time.Duration { return time.Since(s.wall) }
