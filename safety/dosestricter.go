package safety

import (
	"math"
	"time"
)

// Stricter is an account of the same variable that allows no more than either d or o, from
// whatever time on: where it is not known which of them holds. Both are by one clock.
//
// In every slot of a window it has the larger amount of the two. What has left the window of
// the one whose clock has come further stays in its oldest slot, since that clock may be wrong.
func (d DoseState) Stricter(o DoseState) DoseState {
	out := d
	if o.Number > d.Number {
		out = o
	}
	out.HourSlot = stricterSlots(out.Hour[:], slots{d.Hour[:], d.HourSlot}, slots{o.Hour[:], o.HourSlot})
	out.DaySlot = stricterSlots(out.Day[:], slots{d.Day[:], d.DaySlot}, slots{o.Day[:], o.DaySlot})
	out.Total, out.Used = max(d.Total, o.Total), max(d.Used, o.Used)
	out.Dosed, out.LastAt = d.Dosed || o.Dosed, max(d.LastAt, o.LastAt)
	out.Granted = false
	out.Open, out.Unknown = d.Open || o.Open, d.Unknown || o.Unknown
	return out
}

// Plausible reports whether it may be an account as it stood at a time: nothing in it is
// later, and every amount is one.
func (d *DoseState) Plausible(at time.Duration) bool {
	for _, amount := range append(append([]float64{d.Total, d.Used, d.Amount}, d.Hour[:]...), d.Day[:]...) {
		if amount < 0 || math.IsNaN(amount) || math.IsInf(amount, 0) {
			return false
		}
	}
	hour, day := int64(at/hourSlot), int64(at/daySlot)
	return d.LastAt <= at && min(d.HourSlot, d.DaySlot, d.Number) >= 0 && max(d.HourSlot, d.InHour) <= hour && max(d.DaySlot, d.InDay) <= day
}

// slots are a rolling window by slots, of which last is the newest.
type slots struct {
	amounts []float64
	last    int64
}

// stricterSlots fills a window with the larger amounts of two, and returns its newest slot.
func stricterSlots(out []float64, a, b slots) int64 {
	last := max(a.last, b.last)
	kept, other := a.upTo(last), b.upTo(last)
	for i := range out {
		out[i] = max(kept[i], other[i])
	}
	return last
}

// upTo is the window at a later slot, where nothing has left it.
func (w slots) upTo(last int64) []float64 {
	n := int64(len(w.amounts))
	out := make([]float64, n)
	place := func(k int64) int64 { return (k%n + n) % n } // also before the clock's start
	for k := w.last - n + 1; k <= w.last; k++ {
		out[place(max(k, last-n+1))] += w.amounts[place(k)]
	}
	return out
}
