package safety

import (
	"math/rand/v2"
	"testing"
	"time"
)

// dutyRig is a rig whose variable may be above 7 for a quarter of any 20 s.
func dutyRig(t *testing.T) *rig {
	l := oneVariable()
	l.Variables[0].SlewUp, l.Variables[0].SlewDown = 1000, 1000
	l.Duties = []DutyLimits{{Variable: 0, Above: 7, Fraction: 0.25, Window: 20 * time.Second}}
	return newRig(t, l, 6).drive(6).running()
}

// TestDuty: short pulses that are rare enough are allowed for ever, twice as many are
// not, and the run can be armed again only when enough of the window has passed.
func TestDuty(t *testing.T) {
	r := dutyRig(t)
	pulse := func(above, below time.Duration) {
		r.drive(8).pass(above)
		r.drive(6).pass(below)
	}
	for range 40 {
		pulse(time.Second, 4*time.Second) // a fifth
		r.want(Run)
	}
	for n := 0; n < 1000 && r.s.Mode == Run; n++ { // two fifths
		if n%25 < 10 {
			r.drive(8).tick(CommandNone)
		} else {
			r.drive(6).tick(CommandNone)
		}
	}
	r.want(Fallback)
	r.wantFirstOut(RuleExposure)
	r.tick(CommandResume)
	r.want(Fallback) // the window is used up
	r.pass(21 * time.Second)
	r.tick(CommandResume)
	r.want(Armed)
}

// TestDutyAgainstTheWholeHistory: over random histories, the run has fallen back at the
// latest when the time above in the last window was too long by more than a tick, and
// not as long as it was less in the last window and one slot.
func TestDutyAgainstTheWholeHistory(t *testing.T) {
	t.Logf("seed %d", *seedFlag)
	rng := rand.New(rand.NewPCG(*seedFlag, 21))
	fell := 0
	for range 30 {
		r := dutyRig(t)
		var history []bool // by tick
		inLast := func(n int) (d time.Duration) {
			for _, above := range history[max(0, len(history)-n):] {
				if above {
					d += r.l.Tick
				}
			}
			return d
		}
		limit, window, slot := 5*time.Second, int(20*time.Second/tick), int(time.Second/tick)
		for range 2000 {
			if rng.IntN(15) == 0 {
				r.drive([]float64{8, 6, 6, 5, 6, 5, 6}[rng.IntN(7)])
			}
			history = append(history, r.in.Variable[0].Written.Value > 7 || r.in.Variable[0].Readback.Value > 7)
			r.tick(CommandNone)
			if most := inLast(window + slot + 1); r.s.Mode == Fallback && most <= limit {
				t.Fatalf("at %v: fell back after %v above", r.now, most)
			}
			if least := inLast(window); r.s.Mode == Run && least > limit {
				t.Fatalf("at %v: still running after %v above", r.now, least)
			}
			if r.s.Mode == Fallback {
				fell++
				break
			}
		}
	}
	if fell == 0 || fell == 30 {
		t.Errorf("%d of 30 histories fell back: they show nothing", fell)
	}
}

// TestDutyCountsAPause: a computer that was asleep for an hour with the variable above
// the value was so all the time.
func TestDutyCountsAPause(t *testing.T) {
	r := dutyRig(t)
	r.drive(8).pass(time.Second)
	r.want(Run)
	r.now += time.Hour
	r.ticks(2)
	r.want(Fallback)
	r.wantFirstOut(RuleExposure)
}
