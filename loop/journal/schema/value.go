package schema

import (
	"math"
	"strings"
	"time"
)

// What Go holds and SQLite does not: NaN, minus zero, bool, two clocks, and text
// that is not text. These functions make values that come back as they went in.

// Number stores NaN as NULL, and minus zero as zero, as SQLite itself would:
// with the sign kept the checksum would not match what is read back.
func Number(x float64) any {
	switch {
	case math.IsNaN(x):
		return nil
	case x == 0:
		return 0.0
	}
	return x
}

// Integer stores a count or an index.
func Integer[T int | int64 | uint32 | time.Duration](n T) any { return int64(n) }

// Boolean stores a bool as 0 or 1.
func Boolean(b bool) any {
	if b {
		return int64(1)
	}
	return int64(0)
}

// Text stores a string whose bytes came from a device or a user: what is not
// UTF-8, and NUL, which ends a string for many readers, become U+FFFD.
func Text(s string) any {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd")
}

// Blob stores bytes, none as NULL: the driver makes no difference.
func Blob(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return b
}

// Wall stores a wall clock's time as nanoseconds since 1970 UTC, and NULL where
// there is none or where 64 bits do not reach (before 1678, after 2261).
func Wall(t time.Time) any {
	if t.IsZero() || t.UTC().Year() < 1678 || t.UTC().Year() > 2261 {
		return nil
	}
	return t.UnixNano()
}
