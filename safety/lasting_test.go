package safety

import (
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
