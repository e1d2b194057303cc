package safety

import "time"

// A duty's window is kept in slots: time above the value counts for the whole window and
// at most one slot longer, never shorter.
const (
	dutyParts = 20
	dutySlots = dutyParts + 1
)

// DutyState is the account of one variable's time above a value.
type DutyState struct {
	// Slots hold the time above by slot, the slot of the time Slot last.
	Slots [dutySlots]time.Duration
	Slot  int64
}

// watchDuty bounds the fraction of any window that a variable spends above a value. It
// counts in every mode, because what gets hot does not ask who drives it, and the whole
// time since the last tick, because nothing was measured in between. While the window is used
// up, the run falls back and cannot be armed again.
func (x *pass) watchDuty(k int, active *Causes) {
	l, s := &x.l.Duties[k], &x.s.Duty[k]
	slot := int64(x.now / (l.Window / dutyParts))
	for n := 0; s.Slot < slot && n < dutySlots; n++ {
		s.Slot++
		s.Slots[s.Slot%dutySlots] = 0
	}
	s.Slot = max(s.Slot, slot)
	if x.above(l.Variable, l.Above) {
		s.Slots[s.Slot%dutySlots] += min(x.gap, l.Window)
	}
	var used time.Duration
	for _, d := range s.Slots {
		used += d
	}
	if used > time.Duration(l.Fraction*float64(l.Window)) {
		active.Add(RuleExposure, l.Variable)
	}
}

// above reports whether a variable is above a value, by the setpoint or by the
// readback, whichever is higher.
func (x *pass) above(i int, value float64) bool {
	in := &x.in.Variable[i]
	return in.Written.finite() && in.Written.Value > value || in.Readback.finite() && in.Readback.Value > value
}
