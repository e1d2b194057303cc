package safety

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
