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

// unbook takes the last dose off the windows that still hold it.
func (d *DoseState) unbook() {
	if d.HourSlot-d.InHour < int64(hourSlots) {
		d.Hour[d.InHour%int64(hourSlots)] = max(d.Hour[d.InHour%int64(hourSlots)]-d.Amount, 0)
	}
	if d.DaySlot-d.InDay < int64(daySlots) {
		d.Day[d.InDay%int64(daySlots)] = max(d.Day[d.InDay%int64(daySlots)]-d.Amount, 0)
	}
	d.Total = max(d.Total-d.Amount, 0)
	d.Used = max(d.Used-d.Amount, 0)
}

// Deliver counts the open dose of a variable of doses as delivered at a time, which is
// not before it was charged: it may have run until the process ended.
func (d *DoseState) Deliver(at time.Duration) {
	if !d.Open || d.Number == 0 {
		return
	}
	d.roll(at)
	d.unbook()
	d.book(d.Amount)
	d.InHour, d.InDay, d.LastAt = d.HourSlot, d.DaySlot, max(d.LastAt, at)
}

// Recall books an amount that was given at a time, which is not before that of the last
// one: it serves to make an account anew from a record.
func (d *DoseState) Recall(at time.Duration, amount float64) {
	d.roll(at)
	d.book(amount)
	d.Dosed, d.LastAt = true, at
	d.Number++
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
