package safety

import "time"

// Rolling windows are kept in slots: an amount counts for the whole window and at
// most one slot longer, never shorter.
const (
	hourSlot  = 5 * time.Minute
	hourSlots = int(time.Hour/hourSlot) + 1
	daySlot   = time.Hour
	daySlots  = int(24*time.Hour/daySlot) + 1
)

// DoseState is the account of one variable that adds what cannot be taken back. It
// is durable: see Saved.
type DoseState struct {
	// Hour and Day hold amounts by slot, the slots of the times HourSlot and DaySlot
	// last; Total is the run's.
	Hour              [hourSlots]float64
	Day               [daySlots]float64
	HourSlot, DaySlot int64
	Total             float64
	// Used is what has been taken since the reservoir was filled up.
	Used float64
	// Granted says that destination Dest of proposal Proposal has been charged, with
	// Generation; LastAt is when something was last charged (if Dosed).
	Granted    bool
	Proposal   int64
	Dest       float64
	Generation uint64
	Dosed      bool
	LastAt     time.Duration
	// Open says that the device has not acknowledged it; Unknown that it may or may
	// not have: it counts as delivered and is never sent again.
	Open, Unknown bool
	// Number and Amount are the last dose's of a variable of doses, charged in the
	// slots InHour and InDay. Handed says that it has been given out: never again.
	// Failed says that it was not given, or that this is unknown.
	Number         int64
	Amount         float64
	InHour, InDay  int64
	Handed, Failed bool
	// Wanted is the number that was wanted last, for the first time at WantedAt.
	Wanted   int64
	WantedAt time.Duration
}

// doses reports whether a variable has a budget.
func (x *pass) doses(i int) bool { return x.doseOf(i) >= 0 }

// doseOf is the index of a variable's budget, -1 if it has none.
func (x *pass) doseOf(i int) int {
	for k := range x.l.Doses {
		if x.l.Doses[k].Variable == i {
			return k
		}
	}
	return -1
}

// granted reports whether a variable may go on towards dest: it has no budget, or
// the rise is charged, and that is durable. Only a proposal doses; on the way to a
// rest state nothing is charged and nothing may rise.
func (x *pass) granted(i int, dest float64) bool {
	k := x.doseOf(i)
	if k < 0 {
		return true
	}
	if x.s.Mode != Run {
		return dest <= x.s.Variable[i].Ramp
	}
	d := &x.s.Dose[k]
	if d.Unknown {
		return false
	}
	if !d.Granted || d.Proposal != x.p.ID || d.Dest != dest {
		if !x.charge(k, dest) {
			return false
		}
	}
	return d.Generation <= x.in.Durable
}

// ungrant has the rest of the way charged anew, from the readback: what the device
// did with what was granted is not known.
func (x *pass) ungrant(i int) {
	if k := x.doseOf(i); k >= 0 && !x.s.Dose[k].Open {
		x.s.Dose[k].Granted = false
	}
}

// charge books a dose, before it is given, if every budget has room for it.
func (x *pass) charge(k int, dest float64) bool {
	l, d := &x.l.Doses[k], &x.s.Dose[k]
	read := x.in.Variable[l.Variable].Readback
	amount := dest - x.l.Variables[l.Variable].Low // of a tank that is not known
	if read.finite() {
		amount = max(dest-read.Value, 0)
	}
	// What is within the readback's tolerance is no dose to wait for: but it counts.
	if amount > x.l.Variables[l.Variable].Tolerance && d.Dosed && x.now-d.LastAt < l.MinInterval {
		return false
	}
	if !x.room(k, amount) {
		return false
	}
	d.Granted, d.Proposal, d.Dest = true, x.p.ID, dest
	if amount == 0 {
		return true
	}
	d.book(amount)
	d.Dosed, d.LastAt, d.Open = true, x.now, true
	x.s.Generation++
	d.Generation = x.s.Generation
	return true
}

// room reports whether every budget has room for a dose; one that has not holds.
func (x *pass) room(k int, amount float64) bool {
	l, d := &x.l.Doses[k], &x.s.Dose[k]
	d.roll(x.now)
	switch {
	case amount > l.PerDose:
	case over(l.Hour, sum(d.Hour[:])+amount):
	case over(l.Day, sum(d.Day[:])+amount):
	case over(l.Run, d.Total+amount):
	case over(l.Reservoir, d.Used+amount):
	default:
		return true
	}
	x.s.raised.Add(RuleBudget, k)
	return false
}

// book adds an amount to every window, at the time that they were rolled to.
func (d *DoseState) book(amount float64) {
	d.Hour[d.HourSlot%int64(hourSlots)] += amount
	d.Day[d.DaySlot%int64(daySlots)] += amount
	d.Total += amount
	d.Used += amount
}

// roll empties the slots that have left their windows.
func (d *DoseState) roll(now time.Duration) {
	hour, day := int64(now/hourSlot), int64(now/daySlot)
	for n := 0; d.HourSlot < hour && n < hourSlots; n++ {
		d.HourSlot++
		d.Hour[d.HourSlot%int64(hourSlots)] = 0
	}
	for n := 0; d.DaySlot < day && n < daySlots; n++ {
		d.DaySlot++
		d.Day[d.DaySlot%int64(daySlots)] = 0
	}
	d.HourSlot, d.DaySlot = max(d.HourSlot, hour), max(d.DaySlot, day)
}

// watchDose follows what becomes of a dose: a write whose outcome is unknown counts
// as delivered, and nothing more goes out before someone has looked.
func (x *pass) watchDose(k int) {
	d := &x.s.Dose[k]
	if x.l.Variables[x.l.Doses[k].Variable].Dose {
		x.watchAmount(k)
		return
	}
	in := &x.in.Variable[x.l.Doses[k].Variable]
	given := in.Written.finite() && in.Written.Value == d.Dest
	ended := in.Released || x.s.Mode != Run && x.s.Mode != Hold && in.CanWrite
	switch {
	case !d.Open || d.Unknown:
	case in.Lost:
		d.Unknown = true
		x.s.Generation++
		x.s.raised.Add(RuleUnknownDose, k)
	case given || ended:
		d.Open = false
		x.s.Generation++
	}
}

// over reports whether a sum of doses is above a limit, beyond what adding up tenths
// has rounded by.
func over(limit, amount float64) bool { return limit > 0 && amount > limit*(1+1e-9) }

func sum(x []float64) (total float64) {
	for _, v := range x {
		total += v
	}
	return total
}
