package safety

import (
	"fmt"
	"math"
	"time"
)

// A dose variable is sent an amount, once: there is no way to it, no
// slew, no lease, no repeat and no readback to wait for. Each dose has a number, above
// all before it. It is charged, its charge is made durable, it is given out in one
// tick, and then its outcome is waited for; an unknown outcome counts as delivered.

// DoseOutcome is what became of a dose that was given out.
type DoseOutcome uint8

// The outcomes.
const (
	// DosePending: it is on its way.
	DosePending DoseOutcome = iota
	// DoseGiven: the device has acknowledged it.
	DoseGiven
	// DoseNotGiven: it is certain that nothing of it has reached the instrument.
	DoseNotGiven
	// DoseUnknown: it is not known.
	DoseUnknown
)

// checkDose refuses what an amount cannot have.
func (v *VariableLimits) checkDose() error {
	switch {
	case v.Low != 0 || !finite(v.High) || !(v.High > 0):
		return fmt.Errorf("a dose lies in [0, high], got [%g, %g]", v.Low, v.High)
	case !(v.Resolution >= 0) || v.Resolution > v.High:
		return fmt.Errorf("a dose of at most %g cannot have the resolution %g", v.High, v.Resolution)
	case v.OnFault == RestSafe || v.Shutdown == RestSafe:
		return fmt.Errorf("a dose has no safe value to go to: it is stopped, or left")
	case v.Lease != 0 || v.Tolerance != 0 || v.AboveTime != 0:
		return fmt.Errorf("a dose has no lease, no readback and no exposure")
	}
	return nil
}

// checkDoses refuses budgets that bound nothing, and doses without a budget.
func (l *Limits) checkDoses(variable func(string, int) error) (errs []error) {
	budgets := map[int]int{}
	for _, d := range l.Doses {
		errs = append(errs, variable("dose", d.Variable))
		if !(d.PerDose > 0) {
			errs = append(errs, fmt.Errorf("%w: dose of at most %g", ErrLimits, d.PerDose))
		}
		budgets[d.Variable]++
	}
	for i := range l.Variables {
		if n := budgets[i]; n > 1 || n == 0 && l.Variables[i].Dose {
			errs = append(errs, fmt.Errorf("%w: variable %d has %d budgets, need one", ErrLimits, i, n))
		}
	}
	return errs
}

// clampDose makes of an amount one that may be given: inside the bounds, and a multiple of
// the resolution that is not above it. What is not finite is nothing.
func (l *VariableLimits) clampDose(amount float64) (float64, Reasons) {
	var r Reasons
	if !finite(amount) {
		r.add(RuleFinite)
		return 0, r
	}
	c := clamp(amount, 0, l.High)
	if c != amount {
		r.add(RuleBounds)
	}
	if l.Resolution <= 0 {
		return c, r
	}
	// The slack is for amounts that are multiples but for their rounding.
	steps := math.Floor(c/l.Resolution + 1e-9)
	if q := min(steps*l.Resolution, c); c-q > 1e-9*l.Resolution {
		r.add(RuleResolution)
		c = q
	}
	return c, r
}

// dose gives the dose that is wanted of variable i, once.
func (x *pass) dose(i int) {
	n, k := x.p.Dose[i], x.doseOf(i)
	if n == 0 {
		return
	}
	d, in := &x.s.Dose[k], &x.in.Variable[i]
	if n > d.Number && !d.Open {
		x.begin(i, k)
	}
	if n != d.Number {
		return
	}
	amount := d.Amount
	x.out.Destination[i] = amount
	if d.Open && !d.Handed && d.Generation <= x.in.Durable && in.CanWrite && x.assertDose(i, d.Amount) {
		d.Handed = true
		x.out.Write[i], x.out.Setpoint[i] = true, amount
		x.noteMovement()
		x.noteBaseline(i)
	}
	x.reportDose(i)
}

// reportDose says what has become of the dose that is wanted of variable i.
func (x *pass) reportDose(i int) {
	d := &x.s.Dose[x.doseOf(i)]
	if n := x.p.Dose[i]; n != 0 && n == d.Number {
		x.out.Failed[i] = d.Failed
		x.out.Arrived[i] = !d.Open && !d.Failed
	}
}

// begin charges a new dose, unless it must wait: for the interval since the one
// before, and for that one to have shown. A dose of nothing is given at once.
func (x *pass) begin(i, k int) {
	l, d := &x.l.Doses[k], &x.s.Dose[k]
	if d.Wanted != x.p.Dose[i] {
		d.Wanted, d.WantedAt = x.p.Dose[i], x.now
	}
	amount, why := x.l.Variables[i].clampDose(x.p.Destination[i])
	x.out.Destination[i] = amount
	x.out.Reasons[i] |= why
	switch {
	case why.Has(RuleFinite):
		x.reject(i)
	case amount > 0 && d.Dosed && x.now-d.LastAt < l.MinInterval:
		x.out.Reasons[i].add(RuleBudget)
		return
	case amount > 0 && x.mustWait(i, d.WantedAt):
		x.out.Reasons[i].add(RuleResponse)
		return
	}
	d.Number, d.Amount, d.Handed, d.Failed = x.p.Dose[i], amount, false, false
	switch {
	case amount == 0:
		return
	case !x.room(k, amount):
		x.out.Reasons[i].add(RuleBudget)
		d.Failed = true
		return
	}
	d.book(amount)
	d.InHour, d.InDay = d.HourSlot, d.DaySlot
	d.Dosed, d.LastAt, d.Open = true, x.now, true
	x.s.Generation++
	d.Generation = x.s.Generation
}

// assertDose is the final assert of a dose.
func (x *pass) assertDose(i int, amount float64) bool {
	if finite(amount) && amount > 0 && amount <= x.l.Variables[i].High {
		return true
	}
	x.out.Reasons[i].add(RuleAssert)
	x.s.raised.Add(RuleAssert, i)
	return false
}

// watchAmount follows what becomes of a dose. What was never given out, or certainly
// never arrived, is taken off the books again; what was given counts from the time
// when that was known.
func (x *pass) watchAmount(k int) {
	d := &x.s.Dose[k]
	i := x.l.Doses[k].Variable
	in := &x.in.Variable[i]
	outcome := in.Dose
	switch {
	case !d.Open || d.Unknown:
		return
	case !d.Handed && x.p.Dose[i] != d.Number:
		outcome = DoseNotGiven
	case !d.Handed:
		return
	case in.Lost && outcome == DosePending:
		outcome = DoseUnknown
	}
	if outcome == DosePending {
		return
	}
	d.roll(x.now)
	d.unbook()
	x.s.Generation++
	switch outcome {
	case DoseNotGiven:
		d.Open, d.Failed = false, true
		return
	case DoseGiven:
		d.Open = false
		x.awaitResponse(i, in.Delivered)
	default:
		d.Unknown, d.Failed = true, true
		x.s.raised.Add(RuleUnknownDose, k)
	}
	amount := d.Amount
	if finite(in.Delivered) && outcome == DoseGiven {
		amount = max(amount, in.Delivered) // a pump that gave less has still taken it on
	}
	d.book(amount)
	d.LastAt = x.now
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

// mustWait reports whether a dose that is wanted since a time must wait: because the
// one before has not shown yet, or for a reading of what should show it. An older one
// may be of other water. Where the rule is set aside nothing waits.
func (x *pass) mustWait(i int, since time.Duration) bool {
	for r := range x.l.Responses {
		l, s := &x.l.Responses[r], &x.s.Response[r]
		switch {
		case l.Variable != i:
		case x.out.Bypassed.Has(RuleResponse):
			*s = ResponseState{}
		case s.Waiting || !x.responseValue(l).finite() || x.responseValue(l).At <= since:
			return true
		}
	}
	return false
}

// noteBaseline notes what is seen where the dose that goes out now should show.
func (x *pass) noteBaseline(i int) {
	for r := range x.l.Responses {
		if l := &x.l.Responses[r]; l.Variable == i {
			x.s.Response[r] = ResponseState{Based: true, Seen: x.responseValue(l)}
		}
	}
}

// awaitResponse begins the wait for a dose to show, once it has been given, where it is large
// enough to.
func (x *pass) awaitResponse(i int, delivered float64) {
	for r := range x.l.Responses {
		if l, s := &x.l.Responses[r], &x.s.Response[r]; l.Variable == i && s.Based && delivered >= l.Change {
			s.Waiting, s.Deadline = true, x.now+l.Within
		}
	}
}

// watchDoseResponse looks whether a dose shows where it should.
func (x *pass) watchDoseResponse(r int) {
	l, s := &x.l.Responses[r], &x.s.Response[r]
	if !s.Waiting {
		return
	}
	y := x.responseValue(l)
	if y.finite() && s.Seen.finite() && (y.Value-s.Seen.Value)/l.Moves >= 1 {
		*s = ResponseState{}
		return
	}
	if x.now > s.Deadline {
		x.s.raised.Add(RuleResponse, r)
	}
}
