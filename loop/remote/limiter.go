package remote

import "time"

// limiter lets through rate per second, and burst at once.
type limiter struct {
	rate, burst float64
	tokens      float64
	at          time.Time
}

func newLimiter(rate, burst float64) limiter { return limiter{rate: rate, burst: burst, tokens: burst} }

// allow takes one if there is one. A clock that goes backwards gives nothing.
func (l *limiter) allow(now time.Time) bool {
	if passed := now.Sub(l.at).Seconds(); passed > 0 {
		if !l.at.IsZero() {
			l.tokens = min(l.burst, l.tokens+passed*l.rate)
		}
		l.at = now
	}
	if l.tokens < 1 {
		return false
	}
	l.tokens--
	return true
}
