package safety

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
