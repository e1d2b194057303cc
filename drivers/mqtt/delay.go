package mqtt

import "time"

// delayEstimate estimates how long a message was on its way without comparing clocks: two
// computers' clocks differ by an unknown amount, but by the same one all the time.
// The message of a session that came fastest is taken for one that did not wait at
// all; what took longer was held up by the difference.
//
// The zero value knows nothing: the first message counts as fast.
type delayEstimate struct {
	origin, last time.Time // arrival of the first message, and of the last
	fastest      float64   // arrival since origin minus sending, of the fastest; s
}

// maxClockDrift is how much faster one clock may run than the other: crystals differ by
// 1e-4 at most. Without it, a sender with a slow clock would look late after days.
const maxClockDrift = 1e-3

// excess is how much longer than the fastest a message was on its way that came at
// a time and was sent sentMS after its session began, both by monotonic clocks; 0
// where the sender does not say when.
func (p *delayEstimate) excess(at time.Time, sentMS *int64) time.Duration {
	if sentMS == nil {
		return 0
	}
	if p.origin.IsZero() {
		p.origin, p.last = at, at
		p.fastest = -float64(*sentMS) / 1000
		return 0
	}
	took := at.Sub(p.origin).Seconds() - float64(*sentMS)/1000
	p.fastest = min(p.fastest+maxClockDrift*at.Sub(p.last).Seconds(), took)
	p.last = at
	const most = 1e6 // s, so that a Duration holds it whatever the sender says
	return time.Duration(min(took-p.fastest, most) * float64(time.Second))
}
