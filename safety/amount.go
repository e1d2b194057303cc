package safety

// A dose variable is sent an amount, once: there is no way to it, no
// slew, no lease, no repeat and no readback to wait for. Each dose has a number, above
// all before it. It is charged, its charge is made durable, it is given out in one
// tick, and then its outcome is waited for; an unknown outcome counts as delivered.

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
