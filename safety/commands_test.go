package safety

import (
	"testing"
	"time"
)

// atFive is a bench whose actuator goes to 0 by a fault and stays where it is at the end.
func atFive(t *testing.T) *bench {
	t.Helper()
	return confirmed(t, jumping()) // fault: RestSafe, shutdown: RestHold
}

// TestTripDuringShutdownKeepsNothing: on the way to the shutdown state the actuator is left where
// it is; a trip, or a stop, on that way brings it to its fault state.
func TestTripDuringShutdownKeepsNothing(t *testing.T) {
	for name, act := range map[string]func(b *bench){
		"trip": func(b *bench) { b.in.Faults.Add(RuleInterlock, 0); b.step(CommandNone) },
		"stop": func(b *bench) { b.step(CommandStop) },
	} {
		b := atFive(t)
		b.step(CommandEnd)
		if b.want(Fallback); b.out.Write[0] || !b.s.Ending {
			t.Fatalf("%s: the shutdown writes %v", name, b.out.Setpoint[0])
		}
		if act(b); !b.out.Write[0] || b.out.Setpoint[0] != 0 || b.s.Ending {
			t.Errorf("%s: mode %v, written %v, %v", name, b.s.Mode, b.out.Write[0], b.out.Setpoint[0])
		}
	}
	b := atFive(t) // a hurried end is still an end: its shutdown state counts
	b.step(CommandEnd)
	b.step(CommandHurry)
	if b.want(Stopped); b.out.Write[0] || !b.s.Ending {
		t.Errorf("hurried: written %v", b.out.Setpoint[0])
	}
	b = atFive(t) // an end that was asked for in a hold is one
	b.step(CommandPause)
	b.step(CommandEnd)
	if b.want(Fallback); !b.s.Ending {
		t.Error("ended in a hold: fault states count")
	}
	b.step(CommandEnd)
	if !b.s.Ending {
		t.Error("asked for twice, it is none")
	}
	b = atFive(t) // a run that has fallen back is brought to its fault state, and ends there
	b.step(CommandFail)
	if b.step(CommandEnd); b.s.Ending {
		t.Error("an end after a fallback leaves the actuator where it is")
	}
}

// TestHurryOnlyAtTheEnd: there is nothing to hurry in a run, and nothing is latched by it.
func TestHurryOnlyAtTheEnd(t *testing.T) {
	for name, act := range map[string]func(b *bench){
		"run":  func(*bench) {},
		"hold": func(b *bench) { b.step(CommandPause) },
	} {
		b := atFive(t)
		act(b)
		before := b.s.Mode
		if b.step(CommandHurry); b.s.Mode != before || !b.s.Latched.Empty() {
			t.Errorf("%s: mode %v, latched %v", name, b.s.Mode, names(b.s.Latched))
		}
	}
}

// TestPause: a person holds a run that runs, or is held, and nothing else; a resume ends that.
func TestPause(t *testing.T) {
	b := atFive(t)
	b.in.Faults.Add(RuleStale, 0)
	b.step(CommandNone)
	b.want(Hold)
	b.step(CommandPause)
	b.in.Faults = Causes{}
	b.step(CommandNone)
	b.want(Hold) // the fault has gone, the person not
	b.step(CommandResume)
	b.want(Run)
	b.step(CommandFail)
	if b.step(CommandPause); b.s.Paused {
		t.Error("a run that has fallen back is paused")
	}
	b = atFive(t)
	b.step(CommandPause)
	b.step(CommandStop)
	b.in.Faults = Causes{}
	b.step(CommandReset)
	if b.want(Idle); b.s.Paused || b.s.Ending {
		t.Error("a reset leaves it paused")
	}
	b = atFive(t)
	b.step(CommandEnd)
	b.step(CommandStop)
	b.s.Ending = true
	b.step(CommandReset)
	if b.want(Idle); b.s.Ending {
		t.Error("a reset leaves it ending")
	}
}

// TestRefusedIsSaid: what keeps a command from being followed is said where the command was
// refused, and only there.
func TestRefusedIsSaid(t *testing.T) {
	permitted := func(t *testing.T) *bench {
		t.Helper()
		b := newBench(t, jumping())
		b.l.Sensors = []SensorLimits{{Low: 0, High: 10, MaxAge: time.Hour}}
		b.l.Permissives = []Condition{{Sensor: 0, Low: 1, High: 2}}
		b.s.Sensor[0].Last = Sample{0, b.now, true}
		return b
	}
	for name, c := range map[string]struct {
		before  []Command
		command Command
		refused bool
	}{
		"arm, idle":         {[]Command{CommandStop, CommandReset}, CommandArm, true},
		"start, idle":       {[]Command{CommandStop, CommandReset}, CommandStart, true},
		"start, running":    {nil, CommandStart, false},
		"resume, fallen":    {[]Command{CommandFail}, CommandResume, true},
		"resume, tripped":   {[]Command{CommandStop}, CommandResume, false},
		"pause, fallen":     {[]Command{CommandFail}, CommandPause, false},
		"nothing, stopped":  {[]Command{CommandStop}, CommandNone, false},
		"reset, fallen":     {[]Command{CommandFail}, CommandReset, false},
		"resume, and ended": {[]Command{CommandEnd}, CommandResume, true},
	} {
		b := permitted(t)
		for _, x := range c.before {
			b.step(x)
		}
		if b.step(c.command); b.out.Refused.Has(RulePermissive) != c.refused {
			t.Errorf("%s: refused %v in %v", name, names(b.out.Refused), b.s.Mode)
		}
	}
	b := newBench(t, jumping()) // held by a fault
	b.in.Faults.Add(RuleStale, 0)
	b.step(CommandNone)
	if b.step(CommandResume); !b.out.Refused.Has(RuleStale) {
		t.Errorf("resume in a hold: refused %v", names(b.out.Refused))
	}
	b = newBench(t, jumping())
	b.in.Faults.Add(RuleInterlock, 0)
	b.step(CommandNone)
	if b.step(CommandReset); !b.out.Refused.Has(RuleInterlock) || b.s.Mode != Tripped {
		t.Errorf("reset of a trip that lasts: refused %v", names(b.out.Refused))
	}
	b.in.Faults = Causes{}
	b.in.Faults.Add(RuleInterlock, 0)
	b.step(CommandStop)
	b.want(Stopped)
	if b.step(CommandReset); !b.out.Refused.Has(RuleInterlock) {
		t.Errorf("reset of a stop: refused %v", names(b.out.Refused))
	}
}

// TestAcknowledge: a resume of a run that is held, or has fallen back, forgets what an
// acknowledgement clears, and what was counted; each change is to be kept.
func TestAcknowledge(t *testing.T) {
	b := atFive(t)
	b.s.Dose[3].Unknown, b.s.Dose[3].Open, b.s.Dose[3].Granted = true, true, true
	b.s.Variable[0].Tries, b.s.Variable[0].Rejected = 2, 2
	for r := range RuleCount {
		b.s.Latched[r] = Set{1}
	}
	before := b.s.Generation
	b.s.acknowledge()
	for r := range RuleCount {
		if got, want := b.s.Latched.Has(r), About(r).Clear != ClearAck; got != want {
			t.Errorf("%v is latched: %v", r, got)
		}
	}
	if d := b.s.Dose[3]; d.Unknown || d.Open || d.Granted || b.s.Variable[0].Tries != 0 || b.s.Variable[0].Rejected != 0 {
		t.Errorf("%+v, tries %d, rejected %d", d, b.s.Variable[0].Tries, b.s.Variable[0].Rejected)
	}
	if b.s.Generation == before {
		t.Error("not to be kept")
	}
	b = atFive(t) // in a fallback too, from which the run can be armed again
	b.s.Latched.Add(RuleOverride, 0)
	b.step(CommandFail)
	if b.step(CommandResume); b.s.Mode != Armed || !b.s.Latched.Empty() {
		t.Errorf("a fallback is acknowledged: mode %v, latched %v", b.s.Mode, names(b.s.Latched))
	}
	for _, what := range []string{"latch", "dose"} { // each alone
		var s State
		if what == "latch" {
			s.Latched.Add(RuleOverride, 0)
		} else {
			s.Dose[0].Unknown = true
		}
		if s.acknowledge(); s.Generation == 0 {
			t.Errorf("a %s that was acknowledged is not to be kept", what)
		}
	}
	var s State // nothing to acknowledge is nothing to keep
	s.Latched.Add(RuleInterlock, 0)
	if s.acknowledge(); s.Generation != 0 || !s.Latched.Has(RuleInterlock) {
		t.Error("an acknowledgement clears a trip")
	}
	s.Dose[0].Unknown = true
	if s.reset(); !s.Latched.Empty() || s.Dose[0].Unknown || s.Generation < 2 {
		t.Errorf("reset: latched %v, unknown %v, generation %d", names(s.Latched), s.Dose[0].Unknown, s.Generation)
	}
	var empty State
	if empty.reset(); empty.Generation == 0 {
		t.Error("a reset is to be kept")
	}
}

// TestReactions: what silence asks for, by what is silent.
func TestReactions(t *testing.T) {
	l := Limits{Links: []LinkLimits{{}, {Doses: true}, {}}}
	one := func(r Rule, subject int) (c Causes) { c.Add(r, subject); return c }
	for name, c := range map[string]struct {
		causes Causes
		falls  bool
		want   Reaction
	}{
		"nothing":              {Causes{}, true, ReactNot},
		"stale":                {one(RuleStale, 0), false, ReactHold},
		"stale, which falls":   {one(RuleStale, 0), true, ReactFall},
		"a range, where it is": {one(RuleRange, 0), true, ReactHold},
		"a link":               {one(RuleComms, 0), false, ReactHold},
		"a link that doses":    {one(RuleComms, 1), false, ReactFall},
		"the one after it":     {one(RuleComms, 2), false, ReactHold},
		"another rule of it":   {one(RuleInstrument, 1), false, About(RuleInstrument).Reaction},
	} {
		l.StaleFalls = c.falls
		if got := l.reaction(&c.causes); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	l.Bypasses = []Bypass{{Rule: RuleStop, Until: time.Hour}, {Rule: RuleStale, Until: time.Hour}}
	c := one(RuleStop, 0)
	if aside := l.bypass(&c, 0); aside.Has(RuleStop) || !c.Has(RuleStop) || !aside.Has(RuleStale) {
		t.Error("a stop is set aside")
	}
	c = one(RuleOverride, 0)
	if l.bypass(&c, 0); !c.Has(RuleOverride) {
		t.Error("a bypass of a sensor lets an override pass")
	}
}

// TestLatches: what clears by itself is not latched, and each new one is to be kept once.
func TestLatches(t *testing.T) {
	for r := range RuleCount {
		var s State
		var c Causes
		c.Add(r, 3)
		s.latch(&c)
		s.latch(&c)
		kept := About(r).Clear != ClearAuto
		if s.Latched.Has(r) != kept || s.Generation != map[bool]uint64{true: 1}[kept] || !s.FirstOut.Has(r) {
			t.Errorf("%v: latched %v, generation %d", r, s.Latched.Has(r), s.Generation)
		}
		var later Causes
		later.Add(RuleInterlock, 0)
		if s.latch(&later); r != RuleInterlock && s.FirstOut.Has(RuleInterlock) {
			t.Errorf("%v came first, and an interlock is reported", r)
		}
	}
}

// TestBootModes: a new process is in the mode of the gravest thing that it has inherited, and
// says what came first, if only that anything is latched.
func TestBootModes(t *testing.T) {
	for name, c := range map[string]struct {
		latched []Rule
		want    Mode
	}{
		"nothing": {nil, Init}, "a hold": {[]Rule{RuleOverride}, Init}, "a trip": {[]Rule{RuleInterlock}, Tripped}, "a stop": {[]Rule{RuleStop}, Stopped},
		"a stop, then a trip": {[]Rule{RuleStop, RuleWatchdog}, Stopped}, "a trip, then a stop": {[]Rule{RuleAssert, RuleStop}, Stopped},
		"a trip that comes after a stop by its number": {[]Rule{RuleStop, RuleInterlock, RuleAssert}, Stopped},
		"the end of a run": {[]Rule{RuleShutdown}, Init},
	} {
		var saved Saved
		for _, r := range c.latched {
			saved.Latched.Add(r, 0)
		}
		s := Boot(saved)
		if s.Mode != c.want || !s.Latched.Empty() && s.FirstOut != s.Latched {
			t.Errorf("%s: mode %v, first-out %v", name, s.Mode, names(s.FirstOut))
		}
		saved.FirstOut.Add(RuleStale, 1)
		if s := Boot(saved); !s.FirstOut.Has(RuleStale) || len(names(s.FirstOut)) != 1 {
			t.Errorf("%s: first-out %v, and it was a stale sensor", name, names(s.FirstOut))
		}
	}
	saved := Saved{At: 3 * time.Hour}
	d := &saved.Dose[2]
	d.roll(time.Hour)
	d.book(4)
	d.Number, d.Amount, d.Open, d.InHour, d.InDay, d.LastAt = 1, 4, true, d.HourSlot, d.DaySlot, time.Hour
	if s := Boot(saved); s.Dose[2].LastAt != 3*time.Hour || sum(s.Dose[2].Hour[:]) != 4 || !s.Dose[2].Unknown || !s.Latched.Has(RuleUnknownDose) {
		t.Errorf("an open dose: %+v", s.Dose[2])
	}
}

// TestLatchesOnlyWhereItDrives: what is found while nothing is driven, or after a trip, is not
// held against a run that may begin later.
func TestLatchesOnlyWhereItDrives(t *testing.T) {
	b := newBench(t, jumping())
	b.step(CommandStop)
	b.step(CommandReset)
	b.want(Idle)
	b.in.Faults.Add(RuleInterlock, 0)
	if b.step(CommandNone); !b.s.Latched.Empty() {
		t.Error("latched while idle")
	}
	b = newBench(t, jumping())
	b.in.Faults.Add(RuleInterlock, 0)
	b.step(CommandNone)
	b.want(Tripped)
	b.in.Faults = Causes{}
	b.in.Faults.Add(RuleWatchdog, 0)
	if b.step(CommandNone); b.s.Latched.Has(RuleWatchdog) {
		t.Error("what came after a trip is latched with it")
	}
	b = newBench(t, jumping()) // what held a run is forgotten when it runs again
	b.in.Faults.Add(RuleStale, 0)
	b.step(CommandNone)
	if b.want(Hold); !b.s.FirstOut.Has(RuleStale) {
		t.Error("no first-out")
	}
	b.in.Faults = Causes{}
	b.step(CommandNone)
	if b.step(CommandNone); !b.s.FirstOut.Empty() {
		t.Error("the first-out outlives its hold")
	}
	b = newBench(t, jumping()) // what holds in an armed run came first too
	b.step(CommandFail)
	b.step(CommandResume)
	b.want(Armed)
	b.in.Faults.Add(RuleStale, 0)
	if b.step(CommandNone); !b.s.FirstOut.Has(RuleStale) {
		t.Error("no first-out while armed")
	}
	b = newBench(t, jumping()) // whatever holds at a stop, or at a hurried end, is latched
	b.step(CommandStop)
	b.in.Faults.Add(RuleInterlock, 0)
	if b.step(CommandHurry); !b.s.Latched.Has(RuleInterlock) {
		t.Error("not latched by a hurried end")
	}
	b = newBench(t, jumping()) // but not while something is latched, whose cause has gone
	b.s.Latched.Add(RuleOverride, 0)
	b.s.FirstOut.Add(RuleOverride, 0)
	b.step(CommandNone)
	if b.s.FirstOut.Empty() {
		t.Error("the first-out of a latch is forgotten")
	}
}

// TestStartForgets: a run takes its actuators over anew, also those that it drove before.
func TestStartForgets(t *testing.T) {
	b := atFive(t)
	b.step(CommandFail)
	b.acknowledge()
	b.read(0)
	b.s.Variable[0].Known = true
	b.step(CommandResume)
	b.want(Armed)
	b.p.Drive[0], b.p.Release[0] = false, false
	b.step(CommandStart)
	if b.want(Run); b.s.Variable[0].Known {
		t.Errorf("it goes on from %v", b.s.Variable[0].Ramp)
	}
}

// TestOutOfActuators: what is no actuator is never written, and one that is not driven any more
// is forgotten in every mode in which nothing is.
func TestOutOfActuators(t *testing.T) {
	l := jumping()
	l.Variables = append(l.Variables, VariableLimits{})
	b := newBench(t, l)
	b.p.Drive[1], b.p.Destination[1] = true, 3
	bad := func(_ *State, out *Output) bool { return out.Write[1] || out.Release[1] || out.Arrived[1] }
	b.never("run", time.Second, bad)
	b.step(CommandFail)
	b.never("fallback", time.Second, bad)
	b.step(CommandStop)
	b.never("stopped", time.Second, bad)
	b = newBench(t, jumping())
	b.drive(5)
	b.step(CommandNone)
	b.s.Mode = Armed
	if b.step(CommandNone); b.s.Variable[0].Known {
		t.Error("driven no more, and remembered")
	}
}
