package safety

import (
	"testing"
	"time"
)

// truths lists every combination of n booleans.
func truths(n int) [][]bool {
	out := make([][]bool, 1<<n)
	for k := range out {
		out[k] = make([]bool, n)
		for i := range n {
			out[k][i] = k>>i&1 == 1
		}
	}
	return out
}

// everyMoment calls f for every moment there is.
func everyMoment(f func(conditions)) {
	for c := range commandCount {
		for asked := ReactNot; asked <= ReactStop; asked++ {
			for _, b := range truths(7) {
				f(conditions{command: c, asked: asked, ready: b[0], permitted: b[1], held: b[2], expired: b[3], paused: b[4], clear: b[5], ending: b[6]})
			}
		}
	}
}

// edge is a line of the table of transitions, written from the documents and not
// from the code: from a mode, in a moment that fits, to another. The first line
// that fits counts; none means that the mode stays.
type edge struct {
	from, to Mode
	when     func(conditions) bool
}

func is(c Command) func(conditions) bool { return func(t conditions) bool { return t.command == c } }

var edges = []edge{
	{Init, Idle, func(t conditions) bool { return t.ready }},
	{Idle, Armed, func(t conditions) bool { return t.command == CommandArm && t.permitted }},
	{Armed, Idle, is(CommandEnd)},
	{Armed, Idle, is(CommandFail)},
	{Armed, Idle, func(t conditions) bool { return t.expired }},
	{Armed, Run, func(t conditions) bool { return t.command == CommandStart && t.permitted }},
	{Run, Fallback, is(CommandEnd)},
	{Run, Fallback, is(CommandFail)},
	{Run, Fallback, func(t conditions) bool { return t.asked == ReactFall || t.held }},
	{Run, Hold, func(t conditions) bool { return t.asked == ReactHold || t.paused }},
	{Hold, Fallback, is(CommandEnd)},
	{Hold, Fallback, is(CommandFail)},
	{Hold, Fallback, func(t conditions) bool { return t.asked == ReactFall || t.held }},
	{Hold, Run, func(t conditions) bool { return t.asked != ReactHold && !t.paused }},
	{Fallback, Armed, func(t conditions) bool { return t.command == CommandResume && t.permitted && !t.ending }},
	{Tripped, Idle, func(t conditions) bool { return t.command == CommandReset && t.clear }},
	{Stopped, Idle, func(t conditions) bool { return t.command == CommandReset && t.clear }},
}

// expected is the mode after m by the table: a stop from anywhere, then a trip from
// whatever is armed, then the table.
func expected(m Mode, t conditions) Mode {
	if t.command == CommandStop || t.asked == ReactStop && m != Stopped { // Stopped has its own line
		return Stopped
	}
	if t.asked == ReactTrip && (m == Armed || m == Run || m == Hold || m == Fallback) {
		return Tripped
	}
	for _, e := range edges {
		if e.from == m && e.when(t) {
			return e.to
		}
	}
	return m
}

func TestEveryTransition(t *testing.T) {
	n := 0
	for m := range modeCount {
		everyMoment(func(x conditions) {
			n++
			want := expected(m, x)
			if got := m.next(x); got != want {
				t.Errorf("%v, %+v: %v, want %v", m, x, got, want)
			}
		})
	}
	t.Logf("%d transitions", n)
}

// TestNoWayBackWithoutReset: whatever happens, nothing leads out of Tripped and
// Stopped but a reset, nothing but Armed leads to Run from disarmed modes, and
// nothing is reached from a reset but Idle.
func TestNoWayBackWithoutReset(t *testing.T) {
	everyMoment(func(x conditions) {
		for _, m := range []Mode{Tripped, Stopped} {
			to := m.next(x)
			if to != m && to != Stopped && (x.command != CommandReset || to != Idle) {
				t.Errorf("%v, %+v: %v", m, x, to)
			}
		}
		for _, m := range []Mode{Init, Idle, Fallback, Tripped, Stopped} {
			if to := m.next(x); to == Run || to == Hold {
				t.Errorf("%v, %+v: %v", m, x, to)
			}
		}
	})
}

// TestNoPathInTheGraph walks the graph of modes without the reset's edges.
func TestNoPathInTheGraph(t *testing.T) {
	var reach [modeCount][modeCount]bool
	for m := range modeCount {
		everyMoment(func(x conditions) {
			if x.command != CommandReset {
				reach[m][m.next(x)] = true
			}
		})
	}
	for k := range modeCount {
		for i := range modeCount {
			for j := range modeCount {
				reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
			}
		}
	}
	for _, m := range []Mode{Tripped, Stopped} {
		for to := range modeCount {
			if reach[m][to] && to != Tripped && to != Stopped {
				t.Errorf("%v leads to %v without a reset", m, to)
			}
		}
	}
	if !reach[Init][Run] || !reach[Fallback][Run] {
		t.Error("Run cannot be reached at all")
	}
}

func TestStartNeedsArmAndPermission(t *testing.T) {
	l := oneVariable()
	l.Sensors = []SensorLimits{{Low: 0, High: 1, MaxAge: time.Second}}
	l.Permissives = []Condition{{Sensor: 0, Low: 0.5, High: 1}}
	r := newRig(t, l, 0)
	r.in.Ready = false
	r.ticks(3)
	r.want(Init)
	r.in.Ready = true
	r.tick(CommandStart)
	r.want(Idle)
	r.tick(CommandStart)
	r.want(Idle)
	r.tick(CommandArm)
	r.want(Idle)
	if !r.out.Refused.Has(RulePermissive) {
		t.Errorf("refused for %v", names(r.out.Refused))
	}
	r.read[0] = 1
	r.tick(CommandArm)
	r.want(Armed)
	r.read[0] = 0
	r.tick(CommandStart)
	r.want(Armed)
	r.read[0] = 1
	r.pass(armedMax + time.Second)
	r.want(Idle)
	r.tick(CommandArm)
	r.tick(CommandStart)
	r.want(Run)
}

func TestPermissive(t *testing.T) {
	l := oneVariable()
	l.Sensors = []SensorLimits{{Low: 0, High: 1, MaxAge: time.Second}}
	l.Permissives = []Condition{{Sensor: 0, Low: 0.5, High: 1}}
	r := newRig(t, l, 0)
	r.read[0] = 1
	r.running()
	r.read[0] = 0 // of no matter once it runs
	r.ticks(5)
	r.want(Run)
	delete(r.read, 0)
	r.pass(5 * time.Second)
	r.want(Run)
}

func TestInterlock(t *testing.T) {
	for name, open := range map[string]func(*rig){
		"open":     func(r *rig) { r.read[0] = 0 },
		"cut wire": func(r *rig) { delete(r.read, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			l := oneVariable()
			l.Sensors = []SensorLimits{{Low: 0, High: 1, MaxAge: time.Second}}
			l.Interlocks = []Condition{{Sensor: 0, Low: 0.5, High: 1}}
			r := newRig(t, l, 5)
			r.tick(CommandNone)
			if r.tick(CommandArm); !r.out.Refused.Has(RuleInterlock) {
				t.Errorf("refused for %v", names(r.out.Refused))
			}
			r.want(Idle)
			r.read[0] = 1
			r.tick(CommandArm)
			r.tick(CommandStart)
			r.drive(6).pass(2 * time.Second)
			r.want(Run)
			open(r)
			began := r.now
			for r.s.Mode != Tripped && r.now < began+10*time.Second {
				r.tick(CommandNone)
			}
			r.wantFirstOut(RuleInterlock)
			if late := r.now - began; late > l.Sensors[0].MaxAge+2*tick {
				t.Errorf("tripped after %v", late)
			}
			if r.in.Variable[0].Written.Value != 0 {
				t.Errorf("at %v, want the safe value at once", r.in.Variable[0].Written.Value)
			}
			// The cause stays, then goes; only a reset helps, and it starts nothing.
			r.tick(CommandReset)
			r.want(Tripped)
			r.read[0] = 1
			r.ticks(20)
			r.want(Tripped)
			r.tick(CommandResume)
			r.want(Tripped)
			r.tick(CommandReset)
			r.want(Idle)
			writes := r.writes[0]
			r.ticks(50)
			if r.want(Idle); r.writes[0] != writes {
				t.Error("written after a reset")
			}
		})
	}
}

func TestStopActsFromEveryMode(t *testing.T) {
	for m := range modeCount {
		r := newRig(t, oneVariable(), 5)
		r.drive(9).running()
		r.ticks(10)
		r.s.Mode = m
		out := r.tick(CommandStop)
		if r.want(Stopped); !out.Write[0] || out.Setpoint[0] != 0 {
			t.Errorf("from %v: written %v %v", m, out.Write[0], out.Setpoint[0])
		}
		for c := range commandCount {
			if c != CommandReset && c != CommandStop {
				r.tick(c)
				r.want(Stopped)
			}
		}
		r.tick(CommandReset)
		r.want(Idle)
	}
}

func TestTripWaitsForItsLatchButNotForEver(t *testing.T) {
	l := oneVariable()
	l.Sensors = []SensorLimits{{Low: 0, High: 1, MaxAge: time.Second}}
	l.Interlocks = []Condition{{Sensor: 0, Low: 0.5, High: 1}}
	for _, durable := range []bool{true, false} {
		r := newRig(t, l, 5)
		r.read[0] = 1
		r.drive(5).running()
		r.in.Durable = r.s.Generation
		r.read[0] = 0
		if out := r.tick(CommandNone); out.Write[0] {
			t.Error("written before the latch is durable")
		}
		r.want(Tripped)
		if saved := r.s.Save(); !saved.Latched.Has(RuleInterlock) || !saved.FirstOut.Has(RuleInterlock) || saved.Generation <= r.in.Durable {
			t.Errorf("nothing to save: %+v", saved)
		}
		began := r.now
		if durable {
			r.in.Durable = r.s.Generation
		}
		for !r.out.Write[0] && r.now < began+time.Second {
			r.tick(CommandNone)
		}
		want := l.DurableWait
		if durable {
			want = tick
		}
		if r.now-began != want || r.out.Setpoint[0] != 0 {
			t.Errorf("durable %v: %v written after %v, want %v", durable, r.out.Setpoint[0], r.now-began, want)
		}
	}
}

// TestLatchesSurviveARestart: a crash is no reset.
func TestLatchesSurviveARestart(t *testing.T) {
	r := newRig(t, oneVariable(), 5)
	r.drive(9).running()
	r.tick(CommandStop)
	r.s = Boot(r.s.Save())
	for c := range commandCount {
		if c != CommandReset {
			r.tick(c)
			r.want(Stopped)
		}
	}
	if !r.s.FirstOut.Has(RuleStop) {
		t.Error("the first-out is lost")
	}
	r.tick(CommandReset)
	r.want(Idle)
	r.s = Boot(r.s.Save())
	r.running()
}

func TestPauseDoesNotExpire(t *testing.T) {
	r := newRig(t, oneVariable(), 5)
	r.drive(9).running()
	r.tick(CommandPause)
	at := r.in.Variable[0].Written.Value
	r.pass(time.Minute)
	r.want(Hold)
	if x := r.in.Variable[0].Written.Value; x != at {
		t.Errorf("moved from %v to %v while held", at, x)
	}
	r.tick(CommandResume)
	r.pass(10 * time.Second)
	if r.want(Run); r.in.Variable[0].Written.Value != 9 {
		t.Errorf("at %v, want the destination 9", r.in.Variable[0].Written.Value)
	}
}

func TestStaleSensorHoldsThenFalls(t *testing.T) {
	l := oneVariable()
	l.Sensors = []SensorLimits{{Low: 0, High: 1, MaxAge: time.Second, Watched: true}}
	r := newRig(t, l, 5)
	r.read[0] = 1
	r.drive(9).running()
	delete(r.read, 0)
	r.pass(time.Second)
	r.want(Run)
	r.ticks(2)
	r.want(Hold)
	r.wantFirstOut(RuleStale)
	r.read[0] = 1
	r.ticks(2)
	r.want(Run) // by itself
	if !r.s.FirstOut.Empty() {
		t.Errorf("first-out %v after all is well", names(r.s.FirstOut))
	}
	delete(r.read, 0)
	r.pass(time.Second + l.HoldMax)
	r.want(Hold)
	from := r.in.Variable[0].Written.Value
	r.ticks(3)
	r.want(Fallback)
	if x := r.in.Variable[0].Written.Value; x >= from || x < from-3*0.4 {
		t.Errorf("falls from %v to %v in 3 ticks, want 4 per second", from, x)
	}
	r.pass(5 * time.Second)
	if x := r.in.Variable[0].Written.Value; x != 0 {
		t.Errorf("at %v, want the safe value", x)
	}
	r.tick(CommandResume)
	r.want(Fallback) // still stale
	r.read[0] = 1
	r.ticks(2)
	r.tick(CommandResume)
	r.want(Armed) // never straight to Run
	r.tick(CommandStart)
	r.want(Run)
	l.StaleFalls = true
	r = newRig(t, l, 5)
	r.read[0] = 1
	r.running()
	delete(r.read, 0)
	r.pass(time.Second + 2*tick)
	r.want(Fallback)
}

func TestEndGoesToShutdownStatesAndCanBeHurried(t *testing.T) {
	l := oneVariable()
	l.Variables[0].Shutdown, l.Variables[0].OnFault = RestSafe, RestHold
	r := newRig(t, l, 8)
	r.drive(8).running()
	r.tick(CommandEnd)
	r.want(Fallback)
	r.ticks(2)
	if x := r.in.Variable[0].Written.Value; x < 8-3*0.4-1e-9 || x >= 8 {
		t.Errorf("at %v on the way to rest", x)
	}
	r.tick(CommandResume)
	r.want(Fallback) // an ending run is not resumed
	r.tick(CommandHurry)
	r.want(Stopped)
	if x := r.in.Variable[0].Written.Value; x != 0 {
		t.Errorf("hurried to %v, want 0", x)
	}
	s := Boot(r.s.Save())
	if s.Mode != Init || !s.Latched.Empty() {
		t.Errorf("a new process begins in %v with %v", s.Mode, names(s.Latched))
	}
}

func TestBypassExpires(t *testing.T) {
	l := oneVariable()
	l.Sensors = []SensorLimits{{Low: 0, High: 1, MaxAge: time.Second}}
	l.Interlocks = []Condition{{Sensor: 0, Low: 0.5, High: 1}}
	l.Bypasses = []Bypass{{Rule: RuleInterlock, Until: 10 * time.Second}}
	r := newRig(t, l, 5)
	r.read[0] = 0
	r.drive(5).running()
	r.pass(9 * time.Second)
	if r.want(Run); !r.out.Bypassed.Has(RuleInterlock) {
		t.Error("the bypass is not to be seen")
	}
	r.pass(time.Second)
	r.want(Tripped)
	// What looks at values, doses, the record or the stop cannot be named.
	for _, rule := range []Rule{RuleAssert, RuleFinite, RuleBounds, RuleSlew, RuleBudget, RuleUnknownDose, RuleWatchdog,
		RuleRecord, RuleBypass, RuleStop, RuleShutdown, RuleCount, 255} {
		l.Bypasses = []Bypass{{Rule: rule, Until: time.Hour}}
		if l.Check() == nil {
			t.Errorf("%v can be bypassed", rule)
		}
	}
}
