package safety

import (
	"math"
	"testing"
	"time"
)

// exposed are limits of one actuator that may be above 6 for 3 s, and is left where it is.
func exposed() Limits {
	l := oneVariable()
	l.Variables[0].Above, l.Variables[0].AboveTime, l.Variables[0].Lasts = 6, 3*time.Second, true
	return l
}

// TestEndLowersWhatIsExposed: what is left where it is at the end of a run comes down, at its slew,
// to what it may be above for a time only, and stays there; in journals of before it stayed.
func TestEndLowersWhatIsExposed(t *testing.T) {
	duty := exposed()
	duty.Variables[0].AboveTime = 0
	duty.Duties = []DutyLimits{{Variable: 0, Above: 6, Fraction: 0.9, Window: time.Minute}}
	coarse := exposed()
	coarse.Variables[0].Above, coarse.Variables[0].Resolution = 6.4, 1
	before := exposed()
	before.Variables[0].Lasts = false
	for _, c := range []struct {
		name        string
		l           Limits
		stood, left float64
	}{
		{"exposure", exposed(), 9, 6}, {"duty", duty, 9, 6}, {"resolution", coarse, 9, 6}, {"not above", exposed(), 5, 5}, {"a journal of before", before, 9, 9},
	} {
		r := newRig(t, c.l, c.stood).running()
		r.drive(c.stood).ticks(3)
		r.tick(CommandEnd)
		r.want(Fallback)
		for n := 0; n < 30; n++ {
			last := r.in.Variable[0].Readback.Value
			if r.ticks(1); last-r.in.Variable[0].Readback.Value > 0.4+c.l.Variables[0].Resolution+1e-9 {
				t.Fatalf("%s: from %v to %v in a tick, at 4 per second", c.name, last, r.in.Variable[0].Readback.Value)
			}
		}
		if got := r.in.Variable[0].Readback.Value; !near(got, c.left) {
			t.Errorf("%s: left at %v, want %v", c.name, got, c.left)
		}
		writes := r.writes[0]
		if r.pass(20 * time.Second); r.writes[0] != writes {
			t.Errorf("%s: %d writes after it had come down", c.name, r.writes[0]-writes)
		}
	}
}

// TestEndLowersAfterALateConfirmation: a setpoint above that was on its way at the end, and is confirmed
// later, comes down; one of which nobody knows what became has what stood before said again.
func TestEndLowersAfterALateConfirmation(t *testing.T) {
	for _, lost := range []bool{false, true} {
		l := exposed()
		l.Variables[0].SlewUp = 100
		r := newRig(t, l, 5).running()
		in := &r.in.Variable[0]
		r.drive(5.5).ticks(3)
		stood := *in
		if r.drive(8).tick(CommandNone); in.Written.Value != 8 {
			t.Fatalf("%v is on its way", in.Written.Value)
		}
		late := in.Written
		in.Written, in.Readback, in.CanWrite = stood.Written, stood.Readback, false
		r.tick(CommandEnd)
		r.ticks(5)
		if in.CanWrite, in.Lost = true, lost; !lost {
			in.Written, in.Readback = late, late
		}
		writes := r.writes[0]
		r.pass(3 * time.Second)
		if got, want := in.Written.Value, map[bool]float64{false: 6, true: 5.5}[lost]; got != want || r.writes[0] == writes {
			t.Errorf("lost %v: %v after %d writes, want %v", lost, got, r.writes[0]-writes, want)
		}
	}
}

// TestHurriedEndLowersAtOnce: an end that takes too long brings it down without slew.
func TestHurriedEndLowersAtOnce(t *testing.T) {
	l := exposed()
	l.Variables[0].SlewDown = 0.01
	r := newRig(t, l, 9).running()
	r.drive(9).ticks(3)
	r.tick(CommandEnd)
	r.tick(CommandHurry)
	r.ticks(2)
	if got := r.in.Variable[0].Readback.Value; got != 6 {
		t.Errorf("%v after the hurry, want 6", got)
	}
	if writes := r.writes[0]; r.pass(time.Second).Mode != Stopped || r.writes[0] != writes {
		t.Errorf("%v, %d more writes", r.s.Mode, r.writes[0]-writes)
	}
}

// TestFallbackToHoldLowers: a fault that leaves an actuator where it is does not leave it above.
func TestFallbackToHoldLowers(t *testing.T) {
	l := exposed()
	l.Variables[0].OnFault = RestHold
	r := newRig(t, l, 9).running()
	r.drive(9).pass(4 * time.Second)
	r.want(Fallback)
	r.wantFirstOut(RuleExposure)
	if got := r.in.Variable[0].Readback.Value; got != 6 {
		t.Errorf("left at %v, want 6", got)
	}
}

// TestEndLowersWhatAHandHasMoved: one that a person moves above while the run ends comes down under slew,
// from where it is.
func TestEndLowersWhatAHandHasMoved(t *testing.T) {
	l := exposed()
	l.Variables[0].Tolerance = 0.01
	r := newRig(t, l, 5).running()
	r.drive(5.5).pass(2 * time.Second)
	r.tick(CommandEnd)
	r.in.Variable[0].Readback.Value = 9
	for first := true; r.in.Variable[0].Readback.Value > 6 || first; first = false {
		last := r.in.Variable[0].Readback.Value
		if r.ticks(1); last-r.in.Variable[0].Readback.Value > 0.4+1e-9 || r.now > time.Minute {
			t.Fatalf("at %v from %v to %v", r.now, last, r.in.Variable[0].Readback.Value)
		}
	}
	if r.pass(time.Second); r.in.Variable[0].Readback.Value != 6 {
		t.Errorf("left at %v", r.in.Variable[0].Readback.Value)
	}
}

// TestLasting: the value that may last is the device's next one below the bound, or the bound itself where that
// would lie below the lowest setting. Nothing bounds a dose, or a variable without exposure and duty.
func TestLasting(t *testing.T) {
	unbounded, dose, inf := exposed().Variables[0], exposed().Variables[0], math.Inf(1)
	unbounded.AboveTime = 0
	dose.Dose = true
	for _, l := range []VariableLimits{unbounded, dose} {
		if most, bounded := l.Lasting(0, []DutyLimits{{Variable: 1, Above: 3}}); bounded || most != 0 {
			t.Errorf("%v may last (%v)", most, bounded)
		}
	}
	for _, c := range []struct{ low, above, duty, resolution, most float64 }{
		{0, 6.4, inf, 0, 6.4}, {0, 6.4, inf, 1, 6}, {0, 6.9, inf, 1, 6}, {6, 6.9, inf, 1, 6}, {6.2, 6.4, inf, 1, 6.4},
		{0, 12, inf, 0, 10}, {0, 6, 3, 0, 3}, {0, 3, 6, 0, 3},
	} {
		l := exposed().Variables[0]
		l.Low, l.Above, l.Resolution = c.low, c.above, c.resolution
		if most, bounded := l.Lasting(0, []DutyLimits{{Variable: 0, Above: c.duty}}); !bounded || most != c.most {
			t.Errorf("%+v: %v may last (%v)", c, most, bounded)
		}
	}
}

// TestEndLeavesWhatMayBeLeft: an end writes nothing where no rule bounds what may last, and nothing where a
// variable that was not driven stands below; above, it comes down.
func TestEndLeavesWhatMayBeLeft(t *testing.T) {
	unbounded := exposed()
	unbounded.Variables[0].AboveTime = 0
	for _, c := range []struct {
		name        string
		l           Limits
		stood, left float64
	}{
		{"no bound", unbounded, 9, 9}, {"below", exposed(), 5, 5}, {"above", exposed(), 9, 6}, {"above by less than a tick's way", exposed(), 6.2, 6},
	} {
		r := newRig(t, c.l, c.stood).running()
		r.tick(CommandEnd)
		r.pass(3 * time.Second)
		if got := r.in.Variable[0].Readback.Value; !near(got, c.left) || got == c.stood && r.writes[0] > 0 {
			t.Errorf("%s: left at %v after %d writes, want %v", c.name, got, r.writes[0], c.left)
		}
	}
}

// TestEndBelievesWhatWasReadSince: after a write of which nobody knows what became, a reading that is not older
// shows where the variable stands, and nothing is written; without one, what stood before is said again.
func TestEndBelievesWhatWasReadSince(t *testing.T) {
	for _, c := range []struct {
		name   string
		age    time.Duration // of the reading when the loss is known
		value  float64
		writes int
	}{
		{"read since", 0, 5.5, 0}, {"read before", tick, 5.5, 1}, {"read, not a number", 0, math.NaN(), 1},
	} {
		r := newRig(t, exposed(), 5).running()
		in := &r.in.Variable[0]
		r.drive(5.5).pass(2 * time.Second)
		in.CanWrite = false
		r.tick(CommandEnd)
		writes := r.writes[0]
		in.CanWrite, in.Lost = true, true
		in.Readback.Value, in.Readback.At = c.value, r.now+tick-c.age
		if r.tick(CommandNone); r.writes[0]-writes != c.writes || in.Written.Value != 5.5 {
			t.Errorf("%s: %d writes, the last of %v, want %d of 5.5", c.name, r.writes[0]-writes, in.Written.Value, c.writes)
		}
	}
}

// TestHurriedEndLowersOnce: a hurried end says the value once, where it reaches the device, to one whose reading does not follow
// too; what is on its way below it is not overtaken.
func TestHurriedEndLowersOnce(t *testing.T) {
	r := newRig(t, exposed(), 9).running()
	r.drive(9).ticks(3)
	in := &r.in.Variable[0]
	in.CanWrite, r.deaf = false, true
	r.tick(CommandEnd)
	r.tick(CommandHurry)
	r.want(Stopped)
	writes := r.writes[0]
	if r.ticks(3); r.writes[0] != writes {
		t.Errorf("%d writes to a device that takes none", r.writes[0]-writes)
	}
	in.CanMakeSafe = true
	if r.tick(CommandNone); in.Written.Value != 6 || r.out.Destination[0] != 6 {
		t.Errorf("%v written on the way to %v, want 6", in.Written.Value, r.out.Destination[0])
	}
	if r.pass(3 * time.Second); r.writes[0] != writes+1 {
		t.Errorf("%d writes, want 1", r.writes[0]-writes)
	}

	r = newRig(t, exposed(), 5).running()
	r.silent = true
	in = &r.in.Variable[0]
	in.Readback = Sample{}
	r.drive(5).ticks(3)
	stood := in.Written
	r.drive(5.5).tick(CommandNone)
	in.Written, in.CanWrite, in.CanMakeSafe = stood, false, true
	writes = r.writes[0]
	r.tick(CommandEnd)
	if r.tick(CommandHurry); r.s.Mode != Stopped || r.writes[0] != writes {
		t.Errorf("%v, %d writes beside what is on its way", r.s.Mode, r.writes[0]-writes)
	}
}
