package plan

import (
	"fmt"
	"time"
)

// Reading is the latest believed value of a sensor or a variable.
type Reading struct {
	Value float64
	At    time.Time
	Known bool
}

// After reports whether a value is known that was taken after t.
func (r Reading) After(t time.Time) bool { return r.Known && r.At.After(t) }

// Fresh reports whether the value may be used at time t.
func (r Reading) Fresh(t time.Time, maxAge time.Duration) bool {
	return r.Known && t.Sub(r.At) <= maxAge
}

// Belongs reports whether the value may be used at time t: not older than
// maxAge, and within maxSkew on either side where one is given.
func (r Reading) Belongs(t time.Time, maxAge, maxSkew time.Duration) bool {
	if !r.Known || t.Sub(r.At) > maxAge {
		return false
	}
	return maxSkew <= 0 || r.At.Sub(t).Abs() <= maxSkew
}

// Counted writes a number of things, such as "1 step" or "3 steps".
func Counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// InUnit writes a number with its unit.
func InUnit(x float64, unit string) string {
	if unit == "" || unit == "1" {
		return fmt.Sprintf("%.5g", x)
	}
	return fmt.Sprintf("%.5g %s", x, unit)
}
