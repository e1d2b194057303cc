package safety

import "math"

// Lasting is the largest value at which a variable may stand for any length of time: what it may
// be above for a time (exposure), or for a part of the time (duty), bounds it. bounded says that
// there is such a value. i is the variable's number in duties.
func (l *VariableLimits) Lasting(i int, duties []DutyLimits) (most float64, bounded bool) {
	most = math.Inf(1)
	if l.AboveTime > 0 {
		most = l.Above
	}
	for _, d := range duties {
		if d.Variable == i {
			most = min(most, d.Above)
		}
	}
	if l.Dose || math.IsInf(most, 1) {
		return 0, false
	}
	if l.Resolution > 0 { // the largest that the device can be told
		if q := math.Floor(most/l.Resolution) * l.Resolution; q >= l.Low {
			most = q
		}
	}
	return clamp(most, l.Low, l.High), true
}

// tooHigh says where a variable is to be brought that would be left where it is for good: nobody
// counts the time above a value any more, so it comes down to that value. Where nobody knows
// whether the last write has arrived, and it was not read since, what the device acknowledged
// before is said again: the other may lie above.
func (x *pass) tooHigh(i int) (dest float64, yes bool) {
	l, v, in := &x.l.Variables[i], &x.s.Variable[i], &x.in.Variable[i]
	most, bounded := l.Lasting(i, x.l.Duties)
	switch {
	case !bounded || !l.Lasts:
		return 0, false
	case !in.Written.finite():
		return most, x.above(i, most)
	}
	unknown := v.Unsure && !(in.Readback.finite() && in.Readback.At >= v.LostAt)
	return min(most, in.Written.Value), unknown || x.above(i, most)
}

// lower brings a variable down that is too high to be left, under slew. One that a hand has moved is
// brought down from there.
func (x *pass) lower(i int, dest float64) {
	if x.displaced(i) {
		x.s.Variable[i].Known = false
	}
	x.drive(i, dest)
}
