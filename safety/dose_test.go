package safety

import (
	"math/rand/v2"
	"testing"
	"time"
)

// doser is a tank: the setpoint is a concentration, a dose its rise.
func doser() Limits {
	l := oneVariable()
	l.Variables[0] = VariableLimits{Low: 0, High: 100, SlewUp: 1000, SlewDown: 1000, OnFault: RestOff, Shutdown: RestOff, Tolerance: 0.01, Timeout: time.Hour}
	l.Doses = []DoseLimits{{Variable: 0, PerDose: 50, Hour: 100, Day: 150, Run: 170, MinInterval: time.Minute}}
	l.HoldMax = 1000 * time.Hour
	l.Tick = time.Second
	return l
}

// water takes out what was dosed.
func (r *rig) water(x float64) *rig {
	r.in.Variable[0].Readback.Value = x
	return r
}

func TestBudgets(t *testing.T) {
	dose := func(r *rig, amount float64) {
		r.water(0).drive(amount)
		r.pass(3 * time.Second)
	}
	r := newRig(t, doser(), 0)
	r.drive(0).running()
	dose(r, 51)
	r.want(Hold) // more than one dose may be
	r.wantFirstOut(RuleBudget)
	if r.in.Variable[0].Written.Value != 0 {
		t.Errorf("given: %v", r.in.Variable[0].Written.Value)
	}
	r.drive(0).tick(CommandResume)
	r.want(Run)
	dose(r, 50)
	if r.in.Variable[0].Written.Value != 50 || r.s.Dose[0].Total != 50 {
		t.Errorf("given: %v, booked %v", r.in.Variable[0].Written.Value, r.s.Dose[0].Total)
	}
	dose(r, 40) // too soon: it waits, and is given when the interval is over
	if r.want(Run); r.s.Dose[0].Total != 50 {
		t.Error("given too soon")
	}
	r.water(0).pass(time.Minute)
	if r.s.Dose[0].Total != 90 {
		t.Errorf("booked %v after the interval", r.s.Dose[0].Total)
	}
	r.pass(time.Minute)
	dose(r, 20)
	r.want(Hold) // 110 in an hour
	r.drive(0).pass(55 * time.Minute)
	r.water(0).drive(20).tick(CommandResume)
	r.ticks(3)
	r.want(Hold) // not yet over by the clock
	r.drive(0).pass(10 * time.Minute)
	r.water(0).drive(20).tick(CommandResume)
	r.ticks(3)
	r.want(Run)
	if r.s.Dose[0].Total != 110 {
		t.Errorf("booked %v", r.s.Dose[0].Total)
	}
	r.pass(time.Minute)
	dose(r, 45)
	r.want(Hold) // 155 in a day
	r.drive(0).pass(25 * time.Hour)
	r.water(0).drive(45).tick(CommandResume)
	r.ticks(3)
	r.want(Run)
	r.pass(time.Minute)
	dose(r, 20)
	r.want(Hold) // 175 in the run
}

func TestLoweringIsNoDose(t *testing.T) {
	r := newRig(t, doser(), 40)
	r.drive(40).running()
	for k := range 40 {
		r.drive(40 - float64(k)).ticks(2)
		r.want(Run)
	}
	if r.s.Dose[0].Total != 0 {
		t.Errorf("booked %v", r.s.Dose[0].Total)
	}
}

func TestDoseWaitsForItsRecord(t *testing.T) {
	r := newRig(t, doser(), 0)
	r.drive(0).running()
	r.in.Durable = r.s.Generation
	r.drive(30).ticks(20)
	if r.writes[0] > 1 || r.in.Variable[0].Written.Value != 0 {
		t.Errorf("given before it was durable: %v", r.in.Variable[0].Written.Value)
	}
	r.in.Durable = r.s.Generation
	r.ticks(2)
	if r.in.Variable[0].Written.Value != 30 || r.s.Dose[0].Total != 30 {
		t.Errorf("at %v, booked %v", r.in.Variable[0].Written.Value, r.s.Dose[0].Total)
	}
}

func TestUnknownDoseIsNeverRepeated(t *testing.T) {
	r := newRig(t, doser(), 0)
	r.drive(0).running()
	r.ticks(2)
	r.drive(30).tick(CommandNone)
	// The write went out and nobody knows what became of it.
	r.in.Variable[0].Written, r.in.Variable[0].Lost = Sample{Value: 0, Known: true}, true
	r.water(0)
	writes := r.writes[0]
	r.ticks(100)
	r.want(Hold)
	r.wantFirstOut(RuleUnknownDose)
	if r.writes[0] != writes || r.s.Dose[0].Total != 30 {
		t.Errorf("written %d times more, booked %v", r.writes[0]-writes, r.s.Dose[0].Total)
	}
	// A person has looked: what is asked for now is a new dose.
	r.tick(CommandResume)
	r.pass(time.Minute)
	if r.want(Run); r.s.Dose[0].Total != 60 {
		t.Errorf("booked %v, want 60", r.s.Dose[0].Total)
	}
}

func TestCrashBetweenIntentAndOutcome(t *testing.T) {
	r := newRig(t, doser(), 0)
	r.drive(0).running()
	r.ticks(2)
	r.drive(30).tick(CommandNone) // charged, given, not acknowledged
	s := Boot(r.s.Save())
	if !s.Dose[0].Unknown || s.Dose[0].Total != 30 || !s.Latched.Has(RuleUnknownDose) {
		t.Fatalf("after the crash: %+v", s.Dose[0])
	}
	r.s = s
	r.tick(CommandNone)
	r.tick(CommandArm)
	r.want(Idle)
	r.tick(CommandResume)
	r.tick(CommandArm)
	r.want(Armed)
}

// TestWindowsHoldAcrossCrashes doses at random, crashes at random between any two
// ticks, and adds up what went out in every window by itself.
func TestWindowsHoldAcrossCrashes(t *testing.T) {
	const seed = 7
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	l := doser()
	l.Tick = 30 * time.Second
	l.Doses[0].Run, l.Doses[0].Day = 1e6, 400
	r := newRig(t, l, 0)
	type given struct {
		at     time.Duration
		amount float64
	}
	var all []given
	window := func(w time.Duration) (total float64) {
		for _, g := range all {
			if r.now-g.at < w {
				total += g.amount
			}
		}
		return total
	}
	crashes, last := 0, time.Duration(-1)
	for range 20000 {
		switch {
		case rng.IntN(200) == 0:
			r.s = Boot(r.s.Save())
			crashes++
		case r.s.Mode == Idle:
			r.tick(CommandResume)
			r.tick(CommandArm)
		case r.s.Mode == Armed:
			r.tick(CommandStart)
		case r.s.Mode == Hold:
			r.tick(CommandResume)
		}
		if rng.IntN(3) == 0 {
			r.water(0).drive(rng.Float64() * 60)
		}
		before := r.in.Variable[0].Readback.Value
		r.tick(CommandNone)
		if x := r.out.Setpoint[0]; r.out.Write[0] && x > before {
			if last >= 0 && r.now-last < time.Minute && x-before > 0.01 {
				t.Fatalf("at %v: %v after the last dose", r.now, r.now-last)
			}
			last = r.now
			all = append(all, given{r.now, x - before})
			if all[len(all)-1].amount > 50 || window(time.Hour) > 100 || window(24*time.Hour) > 400 {
				t.Fatalf("at %v: dose %v, hour %v, day %v", r.now, x-before, window(time.Hour), window(24*time.Hour))
			}
		}
	}
	if len(all) < 100 || crashes < 50 {
		t.Errorf("%d doses, %d crashes: too few to show anything", len(all), crashes)
	}
}
