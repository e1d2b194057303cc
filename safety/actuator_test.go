package safety

import (
	"testing"
	"time"
)

// withReadback are limits of an actuator whose readback must come within 0.1 in a
// second.
func withReadback() Limits {
	l := oneVariable()
	l.Variables[0].Tolerance = 0.1
	return l
}

func TestReadbackIsSentAgainThenTrips(t *testing.T) {
	r := newRig(t, withReadback(), 5)
	r.drive(5.5).running()
	r.pass(2 * time.Second)
	r.want(Run)
	r.deaf = true
	r.drive(5.7).ticks(3) // two tenths, then it stands
	writes, began := r.writes[0], r.now
	for r.s.Mode == Run && r.now < began+time.Minute {
		r.tick(CommandNone)
	}
	r.want(Tripped)
	r.wantFirstOut(RuleReadback)
	// Three repeats, and the safe value of the trip, which is sent again only a timeout later.
	if n := r.writes[0] - writes; n != resendMax+1 {
		t.Errorf("written %d times more, want %d", n, resendMax+1)
	}
	if took := r.now - began; took < 3*time.Second || took > 5*time.Second {
		t.Errorf("tripped after %v, want about 4 timeouts of 1 s", took)
	}
}

// TestSafeValueIsSentUntilItShows: an acknowledgement is not enough. On the way to safety
// a lost setpoint is sent again every readback timeout, for as long as it takes, at a trip,
// a stop and in a fallback; once it has shown, nothing more is sent.
func TestSafeValueIsSentUntilItShows(t *testing.T) {
	for _, c := range []struct {
		name string
		mode Mode
		fail func(r *rig)
	}{
		{"trip", Tripped, func(r *rig) { r.in.Faults.Add(RuleInterlock, 0) }},
		{"stop", Stopped, func(r *rig) { r.tick(CommandStop) }},
		{"fallback", Fallback, func(r *rig) { r.in.Faults.Add(RulePolicy, 0) }},
	} {
		r := newRig(t, withReadback(), 5)
		r.drive(5.5).running()
		r.pass(2 * time.Second)
		r.want(Run)
		r.deaf = true
		c.fail(r)
		r.pass(5 * time.Second) // 5.5 at 4 per second: told 0 by then
		r.want(c.mode)
		writes := r.writes[0]
		r.pass(10 * time.Second)
		if n := r.writes[0] - writes; n < 8 || n > 10 {
			t.Errorf("%s: sent %d times in 10 timeouts", c.name, n)
		}
		r.deaf = false
		r.pass(2 * time.Second)
		if at := r.in.Variable[0].Readback.Value; at != 0 {
			t.Errorf("%s: at %v, want the safe value 0", c.name, at)
		}
		// A person moves it by hand afterwards.
		writes, r.in.Variable[0].Readback.Value = r.writes[0], 3
		r.pass(10 * time.Second)
		if n := r.writes[0] - writes; n != 0 {
			t.Errorf("%s: driven against a hand, %d times", c.name, n)
		}
	}
}

func TestSlowActuatorDoesNotTrip(t *testing.T) {
	r := newRig(t, withReadback(), 5)
	r.drive(9).running()
	r.deaf = true
	for range 600 {
		// The actuator follows with a lag of nine ticks, less than its timeout.
		if w := r.in.Variable[0].Written; w.Known && r.now-w.At > 9*tick {
			r.in.Variable[0].Readback.Value = w.Value
		}
		r.tick(CommandNone)
	}
	r.want(Run)
	if r.in.Variable[0].Readback.Value != 9 {
		t.Errorf("at %v", r.in.Variable[0].Readback.Value)
	}
}

func TestOverrideIsAdopted(t *testing.T) {
	l := withReadback()
	l.Variables[0].Lease = 2 * time.Second
	r := newRig(t, l, 5)
	r.drive(6).running()
	r.pass(3 * time.Second)
	// A person turns the knob to 3.
	r.in.Variable[0].Readback.Value = 3
	r.deaf = true
	r.pass(time.Second)
	r.want(Run)
	r.ticks(3)
	r.want(Hold)
	r.wantFirstOut(RuleOverride)
	r.deaf = false
	writes := r.writes[0]
	r.pass(3 * time.Second)
	r.want(Hold)
	// The lease is kept, at the place that the hand chose.
	if x := r.in.Variable[0].Written.Value; x != 3 || r.writes[0] == writes {
		t.Errorf("held at %v with %d writes", x, r.writes[0]-writes)
	}
	r.tick(CommandResume)
	if r.want(Run); !near(r.in.Variable[0].Written.Value, 3.1) {
		t.Errorf("goes on from %v, want 3 + 0.1", r.in.Variable[0].Written.Value)
	}
	r.pass(5 * time.Second)
	if r.in.Variable[0].Readback.Value != 6 {
		t.Errorf("at %v, want the destination 6", r.in.Variable[0].Readback.Value)
	}
}

// TestOverrideWithoutLease: the destination is written anew although it is what the
// device acknowledged last.
func TestOverrideWithoutLease(t *testing.T) {
	r := newRig(t, withReadback(), 5)
	r.drive(6).running()
	r.pass(3 * time.Second)
	r.in.Variable[0].Readback.Value = 5.85
	r.deaf = true
	r.pass(2 * time.Second)
	r.want(Hold)
	r.deaf = false
	r.tick(CommandResume)
	r.pass(2 * time.Second)
	if x := r.in.Variable[0].Readback.Value; x != 6 {
		t.Errorf("at %v, want 6", x)
	}
}

func TestNoiseOfTheReadbackIsNoOverride(t *testing.T) {
	r := newRig(t, withReadback(), 5)
	r.drive(6).running()
	r.pass(3 * time.Second)
	for k := range 1000 {
		// Out of tolerance for nine ticks of ten.
		r.in.Variable[0].Readback.Value = 6.2
		if k%10 == 0 {
			r.in.Variable[0].Readback.Value = 6.05
		}
		r.tick(CommandNone)
		r.want(Run)
	}
}

func TestResponse(t *testing.T) {
	l := oneVariable()
	l.Sensors = []SensorLimits{{Low: -100, High: 100, MaxAge: time.Second}}
	l.Responses = []ResponseLimits{{Variable: 0, Sensor: 0, Change: 1, Moves: 2, Within: 3 * time.Second}}
	for _, c := range []struct {
		name string
		gain float64
		dest float64
		dead bool
		want Mode
	}{
		{"rises", 4, 9, false, Run}, {"falls", 4, 1, false, Run}, {"a change that is too small", 0, 5.9, false, Run},
		{"wrong sign", -4, 9, false, Tripped}, {"too little", 0.3, 9, false, Tripped},
		{"wrong sign, falling", -4, 1, false, Tripped}, {"probe out of the tank", 4, 9, true, Tripped},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, l, 5)
			r.read[0] = 0
			r.drive(5).running()
			r.ticks(5)
			r.drive(c.dest)
			if c.dead {
				delete(r.read, 0)
			}
			for range 100 {
				if _, ok := r.read[0]; ok {
					r.read[0] = c.gain * (r.in.Variable[0].Readback.Value - 5)
				}
				r.tick(CommandNone)
			}
			r.want(c.want)
			if c.want == Tripped {
				r.wantFirstOut(RuleResponse)
			}
		})
	}
}

func TestResponseIsForgottenWhenTheChangeIsTakenBack(t *testing.T) {
	l := oneVariable()
	l.Responses = []ResponseLimits{{Variable: 0, Sensor: -1, Change: 1, Moves: 0.5, Within: 3 * time.Second}}
	r := newRig(t, l, 5)
	r.deaf = true
	r.drive(5).running()
	r.drive(6.2).pass(2 * time.Second)
	r.drive(5).pass(20 * time.Second)
	r.want(Run)
	r.drive(7).pass(6 * time.Second)
	r.want(Tripped)
}

func TestExposure(t *testing.T) {
	l := oneVariable()
	l.Variables[0].Above, l.Variables[0].AboveTime = 7, 2*time.Second
	r := newRig(t, l, 6)
	r.drive(6).running()
	for range 3 {
		r.drive(7.2).pass(1900 * time.Millisecond)
		r.drive(6.5).pass(time.Second)
		r.want(Run) // in a row it was less
	}
	r.drive(8).pass(3 * time.Second)
	r.pass(time.Second)
	r.want(Fallback)
	r.wantFirstOut(RuleExposure)
	r.pass(3 * time.Second)
	if x := r.in.Variable[0].Written.Value; x != 0 {
		t.Errorf("at %v", x)
	}
}

// TestExposureOutlastsAResume: who resumes a fallback before the variable has come down does
// not give it the whole time again.
func TestExposureOutlastsAResume(t *testing.T) {
	l := oneVariable()
	l.Variables[0].Above, l.Variables[0].AboveTime, l.Variables[0].SlewDown = 5, 2*time.Second, 1
	r := newRig(t, l, 9)
	r.drive(9).running()
	for r.s.Mode == Run {
		r.tick(CommandNone)
	}
	r.wantFirstOut(RuleExposure)
	r.tick(CommandResume)
	r.tick(CommandStart)
	r.want(Run)
	r.ticks(2)
	r.want(Fallback)
	r.wantFirstOut(RuleExposure)
}

func TestRestStates(t *testing.T) {
	l := oneVariable()
	v := l.Variables[0]
	l.Variables = []VariableLimits{v, v, v, {}}
	l.Variables[1].OnFault, l.Variables[2].OnFault = RestHold, RestOff
	for _, c := range []struct {
		command Command
		fault   Rule
		want    Mode
	}{{CommandStop, RuleCount, Stopped}, {CommandNone, RulePolicy, Fallback}, {CommandNone, RuleWatchdog, Tripped}} {
		r := newRig(t, l, 5)
		for i := range 3 {
			r.p.Drive[i], r.p.Destination[i] = true, 7
		}
		r.running()
		r.pass(3 * time.Second)
		writes := r.writes
		if c.fault < RuleCount {
			r.in.Faults.Add(c.fault, 0)
		}
		r.tick(c.command)
		r.pass(5 * time.Second)
		r.want(c.want)
		in := &r.in.Variable
		if in[0].Written.Value != 0 || in[1].Written.Value != 7 || !in[2].Released || r.writes[1] != writes[1] || r.writes[3] != 0 {
			t.Errorf("%v: %+v %+v %+v, writes %v", c.want, in[0], in[1], in[2], r.writes[:4])
		}
	}
}

// TestStopGoesWhereOnStopSays: a person's stop brings an actuator where OnStop says, any other way of
// being taken away does not; without a word of its own a stop is like a fault.
func TestStopGoesWhereOnStopSays(t *testing.T) {
	for name, c := range map[string]struct {
		onFault, onStop Rest
		commands        []Command
		trip            bool
		safe            bool
	}{
		"stop":               {RestHold, RestSafe, []Command{CommandStop}, false, true},
		"stop during an end": {RestHold, RestSafe, []Command{CommandEnd, CommandStop}, false, true},
		"stop, to be held":   {RestSafe, RestHold, []Command{CommandStop}, false, false},
		"stop, no word":      {RestSafe, RestNone, []Command{CommandStop}, false, true},
		"hurried end":        {RestSafe, RestSafe, []Command{CommandEnd, CommandHurry}, false, false},
		"trip":               {RestHold, RestSafe, []Command{CommandNone}, true, false},
		"fallback":           {RestHold, RestSafe, []Command{CommandFail}, false, false},
	} {
		l := jumping() // shutdown: RestHold
		l.Variables[0].OnFault, l.Variables[0].OnStop = c.onFault, c.onStop
		b := confirmed(t, l)
		if c.trip {
			b.in.Faults.Add(RuleInterlock, 0)
		}
		written := false
		for _, command := range append(c.commands, CommandNone) {
			b.step(command)
			written = written || b.out.Write[0] && b.out.Setpoint[0] == 0
		}
		if written != c.safe {
			t.Errorf("%s: mode %v, safe value written %v, want %v", name, b.s.Mode, written, c.safe)
		}
		if c.commands[len(c.commands)-1] == CommandStop != b.s.MakesSafe() {
			t.Errorf("%s: MakesSafe() = %v", name, b.s.MakesSafe())
		}
	}
}

// TestMovedWhileNobodyDroveIt: an actuator that a hand has moved in IDLE, after this
// process had written to it, or while a step left it alone, is taken over where it stands
// and not where it was told to be.
func TestMovedWhileNobodyDroveIt(t *testing.T) {
	t.Run("idle", func(t *testing.T) {
		r := newRig(t, withReadback(), 5)
		r.drive(5.5).running()
		r.pass(2 * time.Second)
		r.tick(CommandStop)
		r.pass(2 * time.Second)
		r.tick(CommandReset)
		r.want(Idle)
		r.pass(2 * time.Second)
		r.in.Variable[0].Readback.Value = 7
		r.pass(time.Second)
		r.drive(6).running()
		if x := r.in.Variable[0].Written.Value; !near(x, 7-0.4) {
			t.Errorf("first written %v, want 7 less a tick of 4 per second", x)
		}
	})
	t.Run("left alone", func(t *testing.T) {
		r := newRig(t, withReadback(), 5)
		r.drive(5.5).running()
		r.pass(2 * time.Second)
		r.p.Drive[0] = false
		r.pass(2 * time.Second)
		r.in.Variable[0].Readback.Value = 2
		r.pass(time.Second)
		r.drive(5.5).tick(CommandNone)
		if x := r.in.Variable[0].Written.Value; !near(x, 2.1) {
			t.Errorf("first written %v, want 2 and a tick of 1 per second", x)
		}
		r.pass(5 * time.Second)
		if x := r.in.Variable[0].Readback.Value; x != 5.5 {
			t.Errorf("at %v, want the destination 5.5", x)
		}
	})
	t.Run("then a trip", func(t *testing.T) {
		l := withReadback()
		l.Variables[0].Safe = 1
		r := newRig(t, l, 5)
		r.running()
		r.tick(CommandStop)
		r.pass(2 * time.Second) // at its safe value
		r.tick(CommandReset)
		r.in.Variable[0].Readback.Value = 7
		r.pass(2 * time.Second)
		r.running()
		r.in.Faults.Add(RuleInterlock, 0)
		r.pass(time.Second)
		r.want(Tripped)
		if x := r.in.Variable[0].Readback.Value; x != 1 {
			t.Errorf("at %v after the trip, want the safe value 1", x)
		}
	})
	t.Run("stuck", func(t *testing.T) { // a readback that never showed the place is no witness
		l := withReadback()
		l.Variables[0].Safe = 1
		r := newRig(t, l, 5)
		r.drive(8).running()
		r.pass(5 * time.Second)
		r.deaf = true // from here on it reads 8
		r.tick(CommandStop)
		r.pass(5 * time.Second)
		if x := r.in.Variable[0].Written.Value; x != 1 {
			t.Fatalf("stopped at %v, want the safe value 1", x)
		}
		r.tick(CommandReset)
		r.pass(5 * time.Second)
		r.running()
		if x := r.in.Variable[0].Written.Value; !near(x, 1.1) {
			t.Errorf("first written %v, want 1 and a tick of 1 per second", x)
		}
	})
	t.Run("slow", func(t *testing.T) { // on its way it has not left any place
		r := newRig(t, withReadback(), 5)
		r.drive(9).running()
		r.deaf = true
		r.pass(500 * time.Millisecond)
		r.p.Drive[0] = false
		r.tick(CommandNone)
		before := r.in.Variable[0].Written.Value
		r.drive(9).tick(CommandNone)
		if x := r.in.Variable[0].Written.Value; !near(x, before+0.1) {
			t.Errorf("goes on with %v, want %v", x, before+0.1)
		}
	})
}

// TestMovedOutsideTheBounds: a hand that has moved an actuator outside its hard bounds is
// not driven against while the run is held, also not by a lease; acknowledged, it comes back
// by one setpoint at the nearest bound, and from there under slew.
func TestMovedOutsideTheBounds(t *testing.T) {
	l := withReadback()
	l.Variables[0].Lease = 2 * time.Second
	r := newRig(t, l, 5)
	r.drive(6).running()
	r.pass(3 * time.Second)
	r.in.Variable[0].Readback.Value = 13
	r.deaf = true
	r.pass(1300 * time.Millisecond)
	r.want(Hold)
	writes := r.writes[0]
	r.pass(4 * time.Second)
	r.want(Hold)
	if n := r.writes[0] - writes; n != 0 {
		t.Errorf("%d setpoints against a hand", n)
	}
	r.deaf = false
	for k, want := range []float64{9.6, 9.2, 8.8} {
		r.tick([]Command{CommandResume, CommandNone, CommandNone}[k])
		if x := r.in.Variable[0].Written.Value; !near(x, want) {
			t.Errorf("setpoint %d: %v, want %v", k, x, want)
		}
	}
	// Held by something else, the edge of the bounds is within the tolerance of the readback.
	r = newRig(t, l, 5)
	r.drive(10).running()
	r.pass(8 * time.Second)
	r.in.Variable[0].Readback.Value = 10.05
	r.tick(CommandPause)
	writes = r.writes[0]
	r.deaf = true
	r.pass(4 * time.Second)
	if n := r.writes[0] - writes; n < 4 || r.in.Variable[0].Written.Value != 10 {
		t.Errorf("paused at the bound: %d refreshes of %v", n, r.in.Variable[0].Written.Value)
	}
}
