package safety

import (
	"math"
	"slices"
	"testing"
	"time"
)

// bench passes single ticks through the layer, at any moment, with nothing between the inputs
// and the outputs.
type bench struct {
	t   *testing.T
	l   Limits
	s   State
	in  Inputs
	p   Proposal
	now time.Duration
	out Output
}

// newBench is in Run after three ticks, every actuator read at 0 and written to 0.
func newBench(t *testing.T, l Limits) *bench {
	t.Helper()
	b := &bench{t: t, l: l}
	if err := b.l.Check(); err != nil {
		t.Fatal(err)
	}
	b.in.Ready, b.in.Durable = true, Undurable
	for i := range l.Variables {
		b.in.Variable[i] = VariableInput{Readback: Sample{Known: true}, Written: Sample{Known: true}, CanWrite: true, CanMakeSafe: true}
	}
	for _, c := range []Command{CommandNone, CommandArm, CommandStart} {
		b.step(c)
	}
	b.want(Run)
	return b
}

// step passes a tick after a tick.
func (b *bench) step(c Command) *Output { return b.at(b.now+b.l.Tick, c) }

// at passes a tick at a moment.
func (b *bench) at(now time.Duration, c Command) *Output {
	b.now, b.in.Command = now, c
	b.s, b.out = Step(&b.l, b.s, &b.in, &b.p, now)
	return &b.out
}

// peek is what a tick at a moment would come to.
func (b *bench) peek(now time.Duration, c Command) (State, Output) {
	in := b.in
	in.Command = c
	return Step(&b.l, b.s, &in, &b.p, now)
}

func (b *bench) want(m Mode) {
	b.t.Helper()
	if b.s.Mode != m {
		b.t.Fatalf("at %v: mode %v, want %v; active %v", b.now, b.s.Mode, m, names(b.out.Active))
	}
}

// edge fails unless something happens in a tick right after a moment, and not in one at it.
func (b *bench) edge(what string, at time.Duration, happens func(*State, *Output) bool) {
	b.t.Helper()
	for _, after := range []time.Duration{0, 1} {
		s, out := b.peek(at+after, CommandNone)
		if got := happens(&s, &out); got != (after == 1) {
			b.t.Errorf("%s: %v at %v and %d ns", what, got, at, after)
		}
	}
}

// never fails if something happens in any of the ticks of a time.
func (b *bench) never(what string, d time.Duration, happens func(*State, *Output) bool) {
	b.t.Helper()
	for end := b.now + d; b.now < end; {
		if b.step(CommandNone); happens(&b.s, &b.out) {
			b.t.Errorf("%s: happens at %v", what, b.now)
			return
		}
	}
}

// drive wants variable 0 at a place.
func (b *bench) drive(dest float64) {
	b.p.ID++
	b.p.Drive[0], b.p.Destination[0] = true, dest
}

// acknowledge has the device say now that it has what it was told.
func (b *bench) acknowledge() {
	b.in.Variable[0].Written = Sample{b.out.Setpoint[0], b.now, true}
}

// read is a readback of this moment.
func (b *bench) read(x float64) { b.in.Variable[0].Readback = Sample{x, b.now, true} }

func active(r Rule) func(*State, *Output) bool {
	return func(_ *State, out *Output) bool { return out.Active.Has(r) }
}

func writes(_ *State, out *Output) bool { return out.Write[0] }

func inMode(m Mode) func(*State, *Output) bool {
	return func(s *State, _ *Output) bool { return s.Mode == m }
}

// jumping is oneVariable with a readback, so fast that every way is one setpoint.
func jumping() Limits {
	l := oneVariable()
	v := &l.Variables[0]
	v.SlewUp, v.SlewDown, v.Tolerance = 1000, 1000, 0.1
	return l
}

// sent is a bench whose device has acknowledged 5 now, and is read at 0 still.
func sent(t *testing.T, l Limits) *bench {
	t.Helper()
	b := newBench(t, l)
	b.drive(5)
	if b.step(CommandNone); !b.out.Write[0] || b.out.Setpoint[0] != 5 {
		t.Fatalf("%+v written", b.out.Setpoint[0])
	}
	b.acknowledge()
	return b
}

// TestReadbackEdges: what does not show is sent again after its timeout, three times, and trips
// then.
func TestReadbackEdges(t *testing.T) {
	b := sent(t, jumping())
	for k := range resendMax {
		b.in.Variable[0].Readback.At = b.now
		b.edge("sent again", b.now+time.Second, writes)
		if b.at(b.now+time.Second+1, CommandNone); b.out.Setpoint[0] != 5 || b.out.Active.Has(RuleReadback) {
			t.Fatalf("repeat %d: %v written, active %v", k, b.out.Setpoint[0], names(b.out.Active))
		}
	}
	b.edge("trips", b.now+time.Second, active(RuleReadback))
	if b.at(b.now+time.Second+1, CommandNone); b.out.Write[0] && b.s.Mode == Run {
		t.Error("sent a fourth time")
	}
	b = sent(t, jumping()) // set aside, it is not sent a fourth time either
	b.l.Bypasses = []Bypass{{Rule: RuleReadback, Until: time.Hour}}
	for range resendMax {
		b.at(b.now+time.Second+1, CommandNone)
	}
	b.never("a fourth time", 8*time.Second, writes)
	l := jumping()
	l.Variables[0].Dwell = 3 * time.Second
	b = sent(t, l)
	b.edge("sent again within its dwell", b.now+time.Second, writes)
	b = sent(t, jumping()) // the outcome of a write is unknown, and the device says what it said
	at := b.now
	b.in.Variable[0].Lost = true
	if b.step(CommandNone); !b.out.Write[0] {
		t.Error("not sent again after a lost write")
	}
	b.acknowledge()
	b.in.Variable[0].Lost = false
	b.edge("sent again where it does not show", at+time.Second, writes)
	l = jumping()
	l.Variables[0].Lease = 3 * time.Second
	b = newBench(t, l) // taken over where it is, and refreshed: then it must show too
	b.in.Variable[0].Written, b.in.Variable[0].Readback = Sample{5, b.now, true}, Sample{0, b.now, true}
	b.drive(5)
	for n := 0; !b.out.Write[0] && n < 100; n++ {
		b.step(CommandNone)
	}
	b.l.Variables[0].Lease = 0
	b.edge("sent again after a refresh", b.now+time.Second, writes)
}

// TestReadbackIsNoWitness: where the readback says nothing of the setpoint, nothing is held
// against the actuator and nothing is sent again.
func TestReadbackIsNoWitness(t *testing.T) {
	held := func(_ *State, out *Output) bool { return !out.Active.Empty() || out.Write[0] }
	tripped := func(_ *State, out *Output) bool { return out.Active.Has(RuleReadback) || out.Active.Has(RuleOverride) }
	for name, c := range map[string]struct {
		change func(b *bench)
		bad    func(*State, *Output) bool
	}{
		"no readback":         {func(b *bench) { b.l.Variables[0].Tolerance = 0 }, held},
		"silent":              {func(b *bench) { b.in.Variable[0].Silent = true }, held},
		"not acknowledged":    {func(b *bench) { b.in.Variable[0].Written = Sample{0, b.now, true} }, tripped},
		"acknowledged before": {func(b *bench) { b.in.Variable[0].Written.Known = false }, tripped},
		"shown in its moment": {func(b *bench) { b.read(5) }, held},
		"shown at the edge":   {func(b *bench) { b.read(4.9) }, held},
		"shown, then unread": {func(b *bench) {
			b.read(5)
			b.step(CommandNone)
			b.in.Variable[0].Readback.Known = false
		}, active(RuleOverride)},
		"unknown since, in a hold": {func(b *bench) {
			b.in.Variable[0].Lost = true
			b.step(CommandPause)
			b.in.Variable[0].Lost = false
		}, tripped},
	} {
		b := sent(t, jumping())
		c.change(b)
		b.never(name, 8*time.Second, c.bad)
	}
	b := newBench(t, jumping()) // taken over where it is, and never moved
	b.in.Variable[0].Written, b.in.Variable[0].Readback = Sample{5, b.now, true}, Sample{0, b.now, true}
	b.drive(5)
	b.never("not moved", 8*time.Second, held)
}

// TestReadbackMustBeOne: an old value, or none, confirms nothing.
func TestReadbackMustBeOne(t *testing.T) {
	for name, r := range map[string]Sample{"old": {5, -1, true}, "unknown": {5, 1, false}, "not a number": {math.NaN(), 1, true}} {
		b := sent(t, jumping())
		r.At += b.now
		b.in.Variable[0].Readback = r
		b.edge(name+": sent again", b.now+time.Second, writes)
	}
}

// confirmed is a bench whose readback has shown 5 now.
func confirmed(t *testing.T, l Limits) *bench {
	t.Helper()
	b := sent(t, l)
	b.read(5)
	b.step(CommandNone)
	return b
}

// TestOverrideEdge: an actuator that was where it should be is moved by a hand for longer than
// its timeout.
func TestOverrideEdge(t *testing.T) {
	b := confirmed(t, jumping())
	b.read(3)
	b.step(CommandNone)
	off := b.now
	b.edge("held", off+time.Second, active(RuleOverride))
	b.at(off+time.Second/2, CommandNone)
	b.in.Variable[0].Written.At, b.in.Variable[0].Readback.Value = b.now+1, 5 // back, as read before the last refresh
	b.at(off+3*time.Second/4, CommandNone)
	b.read(3)
	b.step(CommandNone)
	b.edge("held, counted from the second time", b.now+time.Second, active(RuleOverride))
	b = confirmed(t, jumping())
	b.step(CommandPause)
	b.read(3)
	b.step(CommandNone)
	b.edge("held already, by a person", b.now+time.Second, active(RuleOverride))
}

// TestOverrideIsTakenOver: what a hand has done is where the run goes on from, as it was read,
// however old that is; where nothing is read, from what was acknowledged.
func TestOverrideIsTakenOver(t *testing.T) {
	for _, c := range []struct {
		known bool
		want  float64
	}{{true, 3}, {false, 5}} {
		b := confirmed(t, jumping())
		b.read(3)
		b.in.Variable[0].Readback.At = b.in.Variable[0].Written.At
		for range 12 {
			b.step(CommandNone)
		}
		b.want(Hold)
		b.in.Variable[0].Readback.Known = c.known
		b.l.Variables[0].SlewUp, b.l.Variables[0].SlewDown = 1e-6, 1e-6
		b.step(CommandResume)
		if b.step(CommandNone); math.Abs(b.s.Variable[0].Ramp-c.want) > 1e-6 {
			t.Errorf("read %v: goes on from %v, want %v", c.known, b.s.Variable[0].Ramp, c.want)
		}
	}
}

// TestExposureEdge counts from the tick that found it above its value.
func TestExposureEdge(t *testing.T) {
	l := jumping()
	l.Variables[0].Above, l.Variables[0].AboveTime = 2, 3*time.Second
	l.Variables = append(l.Variables, VariableLimits{Above: 2, AboveTime: time.Second}) // no actuator
	b := sent(t, l)
	b.in.Variable[1].Readback.Value = 9
	b.read(5)
	b.step(CommandNone)
	since := b.now
	b.edge("exposed", since+3*time.Second, active(RuleExposure))
	b.at(since+time.Second, CommandNone)
	for _, in := range []*Sample{&b.in.Variable[0].Written, &b.in.Variable[0].Readback} {
		in.Value = 2 // at the value is not above it
	}
	b.drive(2)
	b.never("at the value", 10*time.Second, active(RuleExposure))
}

// TestSafeValueUnconfirmed: on the way to safety what has not shown is written again after its
// timeout, for ever; what has shown, or cannot show, is not.
func TestSafeValueUnconfirmed(t *testing.T) {
	fallen := func(t *testing.T) *bench {
		t.Helper()
		b := confirmed(t, jumping())
		if b.step(CommandFail); !b.out.Write[0] || b.out.Setpoint[0] != 0 {
			t.Fatal("no safe value")
		}
		b.acknowledge()
		b.read(5)
		return b
	}
	b := fallen(t)
	for range 5 {
		b.edge("written again", b.now+time.Second, writes)
		b.at(b.now+time.Second+1, CommandNone)
	}
	for name, change := range map[string]func(b *bench){
		"no readback":       func(b *bench) { b.l.Variables[0].Tolerance = 0 },
		"unread":            func(b *bench) { b.in.Variable[0].Readback.Known = false },
		"read before":       func(b *bench) { b.in.Variable[0].Readback.At-- },
		"shown":             func(b *bench) { b.read(0.1) },
		"shown, then moved": func(b *bench) { b.read(0); b.step(CommandNone); b.read(5) },
		"never sent":        func(b *bench) { b.s.Variable[0].Setpoint = 5 },
	} {
		b := fallen(t)
		change(b)
		b.never(name, 5*time.Second, writes)
	}
}

// TestSafeValueShowsWhenAcknowledged: a readback near the safe value says nothing of it before the
// device has acknowledged it.
func TestSafeValueShowsWhenAcknowledged(t *testing.T) {
	for name, w := range map[string]Sample{"elsewhere": {5, 0, true}, "unknown": {0, 0, false}} {
		b := confirmed(t, jumping())
		b.step(CommandFail)
		b.in.Variable[0].Written = Sample{w.Value, b.now, w.Known}
		b.read(0)
		b.step(CommandNone)
		b.acknowledge()
		b.in.Variable[0].Written.Value = 0
		b.read(5)
		b.step(CommandNone)
		b.at(b.now+2*time.Second, CommandNone)
		if _, out := b.peek(b.now+2*time.Second, CommandNone); !out.Write[0] && !b.out.Write[0] {
			t.Errorf("%s: not written again", name)
		}
	}
}

// TestWhatWasShown: only a value that the device acknowledged, read later, is remembered as one
// that the readback has shown.
func TestWhatWasShown(t *testing.T) {
	for name, c := range map[string]struct{ written, read Sample }{
		"read before": {Sample{6, 10, true}, Sample{6, 9, true}}, "unread": {Sample{6, 10, true}, Sample{6, 11, false}},
		"not acknowledged": {Sample{6, 10, false}, Sample{6, 11, true}}, "elsewhere": {Sample{6, 10, true}, Sample{6.2, 11, true}},
	} {
		b := confirmed(t, jumping())
		b.in.Variable[0].Written, b.in.Variable[0].Readback = c.written, c.read
		if b.step(CommandNone); b.s.Variable[0].LastConfirmed.Value != 5 {
			t.Errorf("%s: %+v is remembered", name, b.s.Variable[0].LastConfirmed)
		}
	}
	b := confirmed(t, jumping())
	b.in.Variable[0].Written, b.in.Variable[0].Readback = Sample{6, 10, true}, Sample{6, 10, true}
	if b.step(CommandNone); b.s.Variable[0].LastConfirmed.Value != 6 {
		t.Error("read in the moment of the acknowledgement is read after it")
	}
}

// TestTakenOverElsewhere: an actuator that was moved is told its place again, also where that is
// what its device has acknowledged; one of which nothing is read is not.
func TestTakenOverElsewhere(t *testing.T) {
	moved := func(t *testing.T, read Sample) *bench {
		t.Helper()
		b := confirmed(t, jumping())
		b.p.Drive[0] = false
		b.step(CommandNone)
		read.At = b.in.Variable[0].Written.At + 2*time.Second
		b.in.Variable[0].Readback = read
		b.now = read.At
		b.drive(5)
		b.step(CommandNone)
		return b
	}
	if b := moved(t, Sample{3, 0, true}); !b.out.Write[0] || b.out.Setpoint[0] != 5 {
		t.Error("it stays where it was moved to")
	}
	if b := moved(t, Sample{3, 0, false}); b.out.Write[0] {
		t.Error("nothing is read, and it is told again")
	}
	b := newBench(t, jumping()) // a readback that never showed the place is no witness
	b.in.Variable[0].Readback.Value = 4
	b.s.Variable[0].LastConfirmed = Sample{}
	b.now += time.Minute
	b.in.Variable[0].Readback.At = b.now
	b.l.Variables[0].SlewUp = 1e-6
	b.drive(1)
	if b.step(CommandNone); b.s.Variable[0].Ramp > 1e-6 {
		t.Errorf("begun at %v, want 0", b.s.Variable[0].Ramp)
	}
	l := jumping() // a device that only takes destinations is told its place again on the way too
	v := &l.Variables[0]
	v.Stepped, v.SlewUp, v.Tolerance = true, 1, 0.01
	b = newBench(t, l)
	b.in.Variable[0].Written, b.s.Variable[0].LastConfirmed = Sample{3.1, b.now, true}, Sample{3.1, b.now, true}
	b.now += 2 * time.Second
	b.in.Variable[0].Readback = Sample{3, b.now, true}
	b.s.Last = b.now
	b.drive(9)
	if b.step(CommandNone); !b.out.Write[0] || b.out.Setpoint[0] != 3.1 {
		t.Errorf("written %v, %v, want 3.1, where its device takes it to be", b.out.Write[0], b.out.Setpoint[0])
	}
}

// TestRefreshOnTheWay: what only takes destinations is refreshed on the way; in a dwell what
// nobody has acknowledged is not.
func TestRefreshOnTheWay(t *testing.T) {
	l := jumping()
	v := &l.Variables[0]
	v.Lease, v.Stepped, v.Tolerance = 3*time.Second, true, 0
	b := sent(t, l)
	b.l.Variables[0].SlewUp = 0.001
	b.drive(9)
	b.at(b.now+2*time.Second, CommandNone)
	if !b.out.Write[0] || b.out.Setpoint[0] != 5 {
		t.Errorf("written %v, %v, want 5 again", b.out.Write[0], b.out.Setpoint[0])
	}
	l = jumping()
	l.Variables[0].Lease, l.Variables[0].Dwell = 3*time.Second, time.Minute
	b = confirmed(t, l)
	b.in.Variable[0].Written.Known = false
	b.drive(6)
	b.never("refreshed in a dwell", 10*time.Second, writes)
	b = newBench(t, l) // what was told to a device that had said nothing has moved it
	b.in.Variable[0].Written = Sample{5, b.now, false}
	b.drive(5)
	b.step(CommandNone)
	b.acknowledge()
	b.drive(6)
	b.never("in the dwell of its first setpoint", 10*time.Second, func(_ *State, out *Output) bool { return out.Setpoint[0] == 6 })
}

// TestSlewIsNotSaved: time spent on the way, or standing, is none to move in: a way that jumps is
// not followed.
func TestSlewIsNotSaved(t *testing.T) {
	for name, wait := range map[string]func(b *bench){
		"on the way": func(b *bench) {
			b.drive(9)
			for range 20 {
				b.step(CommandNone)
				b.acknowledge()
			}
		},
		"standing": func(b *bench) {
			b.drive(0)
			for range 100 {
				b.step(CommandNone)
			}
			b.drive(9)
		},
	} {
		l := oneVariable()
		b := newBench(t, l)
		wait(b)
		b.s.Variable[0].Ramp += 1
		if b.step(CommandNone); b.out.Write[0] || !b.out.Reasons[0].Has(RuleAssert) {
			t.Errorf("%s: %v written, from %v", name, b.out.Setpoint[0], b.s.Variable[0].Setpoint)
		}
	}
}

// TestNotFiniteFromTheStart: the first proposal is no number: the actuator stays where it is.
func TestNotFiniteFromTheStart(t *testing.T) {
	b := newBench(t, jumping())
	b.in.Variable[0].Written, b.in.Variable[0].Readback = Sample{5, b.now, true}, Sample{5, b.now, true}
	b.drive(math.NaN())
	b.never("moved", time.Second, func(_ *State, out *Output) bool { return out.Destination[0] != 5 || out.Write[0] })
}

// TestNotFiniteCounts: a proposal that was good and becomes none counts as one of three.
func TestNotFiniteCounts(t *testing.T) {
	b := newBench(t, jumping())
	b.drive(1)
	b.step(CommandNone)
	b.p.Destination[0] = math.NaN()
	b.never("one", time.Second, inMode(Hold))
	b.drive(math.NaN())
	b.never("two", time.Second, inMode(Hold))
	b.drive(math.NaN())
	b.step(CommandNone)
	b.step(CommandNone)
	b.want(Hold)
}

// TestRelease: the device is asked to let go until it has, by any line on the way to safety.
func TestRelease(t *testing.T) {
	l := jumping()
	l.Variables[0].OnFault = RestOff
	for name, c := range map[string]struct {
		command               Command
		write, safe, released bool
		want                  bool
	}{
		"run": {CommandNone, true, true, false, true}, "run, has let go": {CommandNone, true, true, true, false},
		"run, no line": {CommandNone, false, true, false, false}, "fallback, only safely": {CommandFail, false, true, false, true},
		"fallback, no line": {CommandFail, false, false, false, false}, "stop, only safely": {CommandStop, false, true, false, true},
		"stop, has let go": {CommandStop, true, true, true, false},
	} {
		b := newBench(t, l)
		b.p.Release[0] = true
		v := &b.in.Variable[0]
		v.CanWrite, v.CanMakeSafe, v.Released = c.write, c.safe, c.released
		if b.step(c.command); b.out.Release[0] != c.want {
			t.Errorf("%s: %v", name, b.out.Release[0])
		}
	}
}

// TestHeldInAFallback: what is to stay where it is is refreshed there too.
func TestHeldInAFallback(t *testing.T) {
	l := jumping()
	l.Variables[0].OnFault, l.Variables[0].Lease = RestHold, 3*time.Second
	b := confirmed(t, l)
	b.step(CommandFail)
	b.want(Fallback)
	if b.at(b.now+time.Second, CommandNone); !b.out.Write[0] || b.out.Setpoint[0] != 5 {
		t.Error("its lease ends")
	}
}

// TestConditions: an interlock's ends are inside it; what is missing is outside.
func TestConditions(t *testing.T) {
	for _, c := range []struct {
		s    Sample
		good bool
	}{{Sample{1, 0, true}, true}, {Sample{2, 0, true}, true}, {Sample{0.99, 0, true}, false}, {Sample{2.01, 0, true}, false},
		{Sample{1.5, 0, false}, false}, {Sample{math.NaN(), 0, true}, false}} {
		b := newBench(t, jumping())
		b.l.Sensors = []SensorLimits{{Low: 0, High: 10, MaxAge: time.Hour}}
		b.l.Interlocks = []Condition{{Sensor: 0, Low: 1, High: 2}}
		b.s.Sensor[0].Last = c.s
		if b.step(CommandNone); b.out.Active.Has(RuleInterlock) == c.good {
			t.Errorf("%+v: active %v", c.s, names(b.out.Active))
		}
	}
}

// TestNotWatched: what is not watched says nothing.
func TestNotWatched(t *testing.T) {
	b := newBench(t, jumping())
	b.l.Comms = time.Second
	b.l.Sensors = []SensorLimits{{Low: 0, High: 10, MaxAge: time.Second, Stuck: 20}}
	b.l.Links = []LinkLimits{{}}
	b.s.Sensor[0] = SensorState{OutOfRange: rangeMax, Same: 3, OutputMoved: true}
	b.never("not watched", 5*time.Second, func(_ *State, out *Output) bool { return !out.Active.Empty() })
	b.l.Links[0].Watched, b.l.Comms = true, 0
	b.never("no limit", 5*time.Second, func(_ *State, out *Output) bool { return !out.Active.Empty() })
	b.l.Sensors[0].Watched, b.l.Sensors[0].MaxAge = true, time.Hour
	if b.step(CommandNone); !b.out.Active.Has(RuleStale) || !b.out.Active.Has(RuleRange) {
		t.Errorf("never read: active %v", names(b.out.Active))
	}
}

// TestQuantiseAtTheEnds: a grid point outside the bounds is none; one at them is.
func TestQuantiseAtTheEnds(t *testing.T) {
	for _, c := range []struct{ low, high, safe, v, want float64 }{
		{-2, 10, 10, 9.5, 9.5}, {-2, 10, -2, -1.5, -1.5}, {-3, 10, -3, -2, -3}, {-2, 12, 12, 10, 12}, {-2, 10, 0, 7, 6}, {-9, 10, 0, -7, -6}, {-9, 10, 1, 1, 3},
	} {
		l := VariableLimits{Low: c.low, High: c.high, Safe: c.safe, Resolution: 3}
		if got := l.quantise(c.v); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestCausesInOrder: each cause once, until the caller has had enough.
func TestCausesInOrder(t *testing.T) {
	var c Causes
	for _, x := range [][2]int{{int(RuleStop), 0}, {int(RuleStale), 31}, {int(RuleStale), 2}} {
		c.Add(Rule(x[0]), x[1])
	}
	var got [][2]int
	for r, i := range c.All() {
		got = append(got, [2]int{int(r), i})
	}
	if want := [][2]int{{int(RuleStale), 2}, {int(RuleStale), 31}, {int(RuleStop), 0}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	n := 0
	for range c.All() {
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d", n)
	}
}

// TestTakeOverEdges: an actuator that its device says stands at 5 is begun with from there,
// unless a readback that had shown it there has shown it elsewhere for longer than one takes.
func TestTakeOverEdges(t *testing.T) {
	for name, c := range map[string]struct {
		change func(v *VariableInput)
		want   float64
	}{
		"elsewhere":              {func(*VariableInput) {}, 3},
		"not for long enough":    {func(v *VariableInput) { v.Readback.At-- }, 5},
		"within the tolerance":   {func(v *VariableInput) { v.Readback.Value = 4.95 }, 5},
		"at the tolerance":       {func(v *VariableInput) { v.Readback.Value = 5.1 }, 5},
		"unread":                 {func(v *VariableInput) { v.Readback.Known = false }, 5},
		"acknowledges something": {func(v *VariableInput) { v.Written.Value = 6 }, 6},
		"acknowledges nothing":   {func(v *VariableInput) { v.Written.Known = false }, 3},
		"nothing known":          {func(v *VariableInput) { v.Written.Known, v.Readback.Known = false, false }, 0},
	} {
		b := confirmed(t, jumping())
		b.l.Variables[0].SlewUp, b.l.Variables[0].SlewDown = 1e-6, 1e-6
		b.p.Drive[0] = false
		b.step(CommandNone)
		in := &b.in.Variable[0]
		in.Readback = Sample{3, in.Written.At + b.l.Variables[0].Timeout + 1, true}
		c.change(in)
		b.drive(4)
		b.now = in.Written.At + 2*time.Second
		if b.step(CommandNone); math.Abs(b.s.Variable[0].Ramp-c.want) > 1e-6 {
			t.Errorf("%s: begun at %v, want %v", name, b.s.Variable[0].Ramp, c.want)
		}
	}
}

// TestDwellEdge: the next change goes when the dwell is over, not before.
func TestDwellEdge(t *testing.T) {
	l := jumping()
	l.Variables[0].Dwell = 3 * time.Second
	b := confirmed(t, l)
	moved := b.s.Variable[0].MovedAt
	b.drive(6)
	b.edge("moved", moved+3*time.Second-1, writes)
}

// TestDwellOfALostWrite: a change whose outcome is not known may have been carried out, so
// the next one keeps its distance from it.
func TestDwellOfALostWrite(t *testing.T) {
	l := jumping()
	l.Variables[0].Dwell = 3 * time.Second
	b := confirmed(t, l)
	b.drive(6)
	b.at(b.s.Variable[0].MovedAt+3*time.Second, CommandNone)
	b.in.Variable[0].Written.Known, b.in.Variable[0].Lost = false, true
	b.drive(5)
	b.step(CommandNone)
	told := b.now
	b.in.Variable[0].Lost = false
	b.edge("moved after a loss", told+3*time.Second-1, writes)
}

// TestDwellOfALateWrite: a change that left late, or was answered late, keeps the next one away
// from when it left; that it is written again for the lease does not.
func TestDwellOfALateWrite(t *testing.T) {
	for name, c := range map[string]struct{ left, answered, from time.Duration }{
		"at once":       {0, 0, 0},
		"left late":     {700 * time.Millisecond, 750 * time.Millisecond, 700 * time.Millisecond},
		"answered late": {0, 2 * time.Second, 2*time.Second - 100*time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			l := jumping()
			l.Tick, l.Variables[0].Dwell = 100*time.Millisecond, 3*time.Second
			b := confirmed(t, l)
			b.drive(6)
			b.at(b.s.Variable[0].MovedAt+3*time.Second, CommandNone)
			given, in := b.now, &b.in.Variable[0]
			for b.drive(5); b.now+l.Tick < given+c.answered; {
				in.CanWrite = false
				b.step(CommandNone)
			}
			in.CanWrite, in.Written = true, Sample{6, given + c.left, true}
			b.step(CommandNone)
			in.Written.At += 2500 * time.Millisecond // the lease
			b.edge("moved", given+c.from+3*time.Second-1, writes)
		})
	}
}

// TestLostWriteIsNoStand: after a write of which nobody knows whether it was carried out, what the
// device acknowledged before is no place where it stands, whatever came in between: a setpoint
// of that value is sent, as a change that dwells. Once it is acknowledged it stands there.
func TestLostWriteIsNoStand(t *testing.T) {
	for name, between := range map[string]func(b *bench){
		"at once":      func(*bench) {},
		"after a hold": func(b *bench) { b.step(CommandPause); b.step(CommandResume) },
		"after a rest": func(b *bench) { b.p.Drive[0] = false; b.step(CommandNone) },
		"after a moment without any acknowledgement": func(b *bench) {
			before := b.in.Variable[0].Written
			b.in.Variable[0].Written = Sample{before.Value, b.now, false}
			b.step(CommandNone)
			b.in.Variable[0].Written = before
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := jumping()
			l.Variables[0].Dwell = 3 * time.Second
			b := confirmed(t, l)
			b.drive(6)
			b.at(b.s.Variable[0].MovedAt+3*time.Second, CommandNone)
			b.in.Variable[0].Lost, b.in.Variable[0].CanWrite = true, false
			b.step(CommandNone)
			lost := b.now
			b.in.Variable[0].Lost, b.in.Variable[0].CanWrite = false, true
			between(b)
			b.drive(5) // what it acknowledged before the 6
			b.edge("sent", lost+3*time.Second-1, writes)
			sent := max(lost+3*time.Second, b.now+b.l.Tick)
			if b.at(sent, CommandNone); !b.out.Write[0] || b.out.Arrived[0] {
				t.Fatal("taken as standing there")
			}
			b.acknowledge()
			if b.step(CommandNone); b.out.Write[0] || !b.out.Arrived[0] {
				t.Error("sent again after it was acknowledged")
			}
			b.drive(7)
			b.edge("moved", sent+3*time.Second-1, writes)
		})
	}
}

// TestLostSafeValueIsSentAgain: a trip does not take a value that was acknowledged before a lost
// write for the safe value's arrival, also where it could not be sent in the tick of the loss.
func TestLostSafeValueIsSentAgain(t *testing.T) {
	b := confirmed(t, jumping())
	b.in.Variable[0].Written = Sample{b.l.Variables[0].Safe, b.now, true}
	v := &b.in.Variable[0]
	v.Lost, v.CanWrite, v.CanMakeSafe = true, false, false
	b.step(CommandStop)
	v.Lost = false
	b.step(CommandNone)
	v.CanMakeSafe = true
	if b.step(CommandNone); !b.out.Write[0] || b.out.Setpoint[0] != b.l.Variables[0].Safe {
		t.Error("the safe value was not sent")
	}
}

// TestTakenBackBeforeItLeft: a setpoint that was given out and has not left, neither answered
// nor lost, is no place to go on from: a fallback begins where the device stands. That nothing is
// acknowledged for a moment answers nothing.
func TestTakenBackBeforeItLeft(t *testing.T) {
	for _, acknowledged := range []bool{true, false} {
		l := jumping()
		l.Variables[0].OnFault, l.Variables[0].Safe = RestSafe, 0
		b := confirmed(t, l)
		b.l.Variables[0].SlewUp, b.l.Variables[0].SlewDown = 1/l.Tick.Seconds(), 1/l.Tick.Seconds()
		b.drive(9)
		if b.step(CommandNone); !b.out.Write[0] || b.out.Setpoint[0] != 6 {
			t.Fatalf("driven to %v", b.out.Setpoint[0])
		}
		in := &b.in.Variable[0]
		before := in.Written
		in.CanWrite = false
		if !acknowledged {
			in.Written = Sample{before.Value, b.now + l.Tick, false}
		}
		b.step(CommandFail)
		in.CanWrite, in.Written = true, before
		if b.step(CommandNone); b.s.Mode != Fallback || !b.out.Write[0] || b.out.Setpoint[0] != 4 {
			t.Errorf("%v: %v written (%v), want 4: one step from the 5 where it stands", b.s.Mode, b.out.Setpoint[0], b.out.Write[0])
		}
	}
}

// TestTakenBackStandsWhereItStood: once a setpoint was taken back before it left, the device stands at
// what it had acknowledged, and is told nothing to stay there.
func TestTakenBackStandsWhereItStood(t *testing.T) {
	b := confirmed(t, jumping())
	b.drive(6)
	b.step(CommandNone)
	b.drive(5)
	if b.step(CommandNone); b.out.Write[0] || !b.out.Arrived[0] {
		t.Errorf("written %v, arrived %v", b.out.Write[0], b.out.Arrived[0])
	}
}

// TestTakenBackToWhereAHandLeftIt: an actuator was taken over where a hand had moved it, which its
// device knows nothing of, and the first setpoint from there was taken back. A hold with a lease says
// the hand's place, not what the device acknowledged before.
func TestTakenBackToWhereAHandLeftIt(t *testing.T) {
	l := jumping()
	l.Variables[0].Lease = 6 * time.Second
	b := confirmed(t, l)
	b.p.Drive[0] = false
	b.step(CommandNone)
	b.now += 2 * time.Second
	b.s.Last = b.now
	b.read(7)
	b.drive(8)
	if b.step(CommandNone); !b.out.Write[0] || b.out.Setpoint[0] != 8 {
		t.Fatalf("driven to %v (%v)", b.out.Setpoint[0], b.out.Write[0])
	}
	b.step(CommandPause)
	for range 30 {
		if b.out.Write[0] {
			break
		}
		b.read(7)
		b.step(CommandNone)
	}
	if !b.out.Write[0] || b.out.Setpoint[0] != 7 {
		t.Errorf("held at %v (%v), want 7", b.out.Setpoint[0], b.out.Write[0])
	}
}

// TestTakenBackAfterAHand: a setpoint has not left; before that is known nobody drives the actuator, a
// hand moves it, and it is taken over there. That its device must be told is not forgotten.
func TestTakenBackAfterAHand(t *testing.T) {
	b := confirmed(t, jumping())
	b.drive(6)
	b.step(CommandNone)
	b.in.Variable[0].CanWrite = false
	b.p.Drive[0] = false
	b.step(CommandNone)
	b.now += 2 * time.Second
	b.read(7)
	b.drive(5)
	if b.step(CommandNone); b.out.Write[0] {
		t.Fatal("written while nothing can be")
	}
	b.in.Variable[0].CanWrite = true
	if b.step(CommandNone); !b.out.Write[0] || b.out.Setpoint[0] != 5 {
		t.Errorf("written %v (%v), want 5: it acknowledged 5, and stands at 7", b.out.Setpoint[0], b.out.Write[0])
	}
}

// TestWayWithoutAcknowledgement: a device that never says what it has is driven on; what was given out
// is not taken for taken back.
func TestWayWithoutAcknowledgement(t *testing.T) {
	b := newBench(t, oneVariable())
	b.in.Variable[0].Written.Known = false
	b.l.Variables[0].SlewUp = 1 / b.l.Tick.Seconds()
	b.drive(9)
	for want := 1.0; want <= 3; want++ {
		if b.step(CommandNone); !b.out.Write[0] || math.Abs(b.out.Setpoint[0]-want) > 1e-9 {
			t.Fatalf("written %v (%v), want %v", b.out.Setpoint[0], b.out.Write[0], want)
		}
	}
}

// TestTripWhileASetpointIsOnItsWay: a safe value that the device had acknowledged before is sent
// all the same where another setpoint has been given out since: it may be on its way.
func TestTripWhileASetpointIsOnItsWay(t *testing.T) {
	b := newBench(t, jumping())
	safe := b.l.Variables[0].Safe
	b.in.Variable[0].Written, b.in.Variable[0].Readback = Sample{safe, b.now, true}, Sample{safe, b.now, true}
	b.drive(safe)
	b.step(CommandNone)
	b.drive(5)
	if b.step(CommandNone); !b.out.Write[0] {
		t.Fatal("not driven")
	}
	b.in.Variable[0].CanWrite = false
	if b.step(CommandStop); !b.out.Write[0] || b.out.Setpoint[0] != safe || b.out.Arrived[0] {
		t.Errorf("written %v (%v), arrived %v, want the safe value", b.out.Setpoint[0], b.out.Write[0], b.out.Arrived[0])
	}
	b.acknowledge()
	if b.step(CommandNone); !b.out.Arrived[0] || b.out.Write[0] {
		t.Errorf("acknowledged: arrived %v, written %v", b.out.Arrived[0], b.out.Write[0])
	}
}

// TestLeaseEdge: a setpoint is refreshed so early that the next tick is not later than a third
// of its lease; one that nobody has acknowledged is not.
func TestLeaseEdge(t *testing.T) {
	l := jumping()
	l.Variables[0].Lease = 3 * time.Second
	b := confirmed(t, l)
	due := b.s.Variable[0].IssuedAt + time.Second - l.Tick
	b.edge("refreshed", due-1, writes)
	b.l.Variables[0].Lease = 0
	b.never("no lease", 5*time.Second, writes)
	b.l.Variables[0].Lease, b.in.Variable[0].CanWrite = 3*time.Second, false
	b.never("no line", 5*time.Second, writes)
}

// TestAtMostTwoTicks: a pause is no room for one large step.
func TestAtMostTwoTicks(t *testing.T) {
	for _, c := range []struct{ dt, want time.Duration }{{0, 0}, {-time.Hour, 0}, {tick / 2, tick / 2}, {2 * tick, 2 * tick}, {2*tick + 1, 2 * tick}, {time.Hour, 2 * tick}} {
		b := newBench(t, oneVariable())
		b.drive(10)
		s, _ := b.peek(b.now+c.dt, CommandNone)
		if got := s.Variable[0].Ramp; math.Abs(got-c.want.Seconds()) > 1e-12 {
			t.Errorf("after %v: at %v, want %v", c.dt, got, c.want.Seconds())
		}
	}
}

// TestTimeEdges: each limit on time holds up to its end, and not longer.
func TestTimeEdges(t *testing.T) {
	l := jumping()
	l.HoldMax, l.Comms = 5*time.Second, 7*time.Second
	l.Sensors = []SensorLimits{{Low: 0, High: 10, MaxAge: 2 * time.Second, Watched: true},
		{Low: 0, High: 10, MaxAge: time.Hour, With: 2, Tolerance: 1, AgreeTime: 3 * time.Second}, {Low: 0, High: 10, MaxAge: time.Hour}}
	l.Links = []LinkLimits{{Watched: true}}
	b := newBench(t, Limits{Tick: l.Tick, Variables: l.Variables, HoldMax: l.HoldMax})
	b.l = l
	hear := func(i int, x float64) { b.s.Sensor[i].Last = Sample{x, b.now, true} }
	hear(0, 1)
	hear(1, 1)
	hear(2, 2)
	b.in.Heard[0] = Sample{At: b.now, Known: true}
	b.edge("stale", b.now+2*time.Second, active(RuleStale))
	b.edge("silent", b.now+7*time.Second, active(RuleComms))
	b.in.Heard[0].Known = false
	if _, out := b.peek(b.now, CommandNone); !out.Active.Has(RuleComms) {
		t.Error("a link that was never heard of is taken for one that was")
	}
	b.l.Links, b.l.Sensors[0].Watched = nil, false
	b.never("agree at the tolerance", 5*time.Second, active(RuleDisagree))
	for _, x := range []float64{3.01, 0.99} {
		hear(1, x)
		hear(2, 2)
		b.step(CommandNone)
		b.edge("disagree", b.now+3*time.Second, active(RuleDisagree))
		hear(1, 3)
		b.step(CommandNone)
	}
	hear(1, 9)
	b.step(CommandNone)
	b.l.Sensors[2].MaxAge = time.Second // one of the two is old: no word against the other
	b.never("one is old", 5*time.Second, active(RuleDisagree))
	b.l.Sensors[2].MaxAge, b.l.Sensors[1].MaxAge = time.Hour, time.Second
	b.never("the other is old", 5*time.Second, active(RuleDisagree))

	b = newBench(t, jumping())
	b.in.Faults.Add(RuleStale, 0)
	b.step(CommandNone)
	b.want(Hold)
	b.step(CommandNone)
	b.edge("held for too long", b.s.FaultedAt+b.l.HoldMax, inMode(Fallback))
	b.in.Faults = Causes{}
	b.in.Faults.Add(RuleRecord, 0) // a disk says nothing about the instrument
	b.never("held for the disk", 20*time.Second, inMode(Fallback))
	b.in.Faults = Causes{}
	b.step(CommandPause)
	b.never("paused", 20*time.Second, inMode(Fallback))

	b = newBench(t, jumping())
	b.step(CommandEnd)
	b.s = State{}
	b.step(CommandNone)
	b.step(CommandArm)
	b.want(Armed)
	b.edge("armed for too long", b.s.Since+armedMax, inMode(Idle))

	b = newBench(t, jumping())
	b.l.Bypasses = []Bypass{{Rule: RuleStale, Until: time.Hour}, {Rule: RuleReadback, Until: time.Hour}}
	b.in.Faults.Add(RuleStale, 0)
	b.in.Faults.Add(RuleReadback, 0)
	b.in.Faults.Add(RuleOverride, 0)
	for _, r := range []Rule{RuleStale, RuleReadback, RuleOverride} {
		b.edge("bypassed", time.Hour-1, active(r))
	}
}

// TestTripWaitsForItsLatch: where a trip waits for its latch to be durable, not longer than it
// may.
func TestTripWaitsForItsLatch(t *testing.T) {
	b := confirmed(t, jumping())
	b.l.DurableWait = 2 * time.Second
	b.in.Durable = b.s.Generation
	b.in.Faults.Add(RuleInterlock, 0)
	if b.step(CommandNone); b.out.Write[0] {
		t.Error("written before the latch is durable")
	}
	b.want(Tripped)
	b.edge("written", b.s.Since+2*time.Second-1, writes)
	b.in.Durable = b.s.Generation
	if b.step(CommandNone); !b.out.Write[0] || b.out.Setpoint[0] != 0 {
		t.Error("the latch is durable, and nothing is written")
	}
}

// TestSafeValueAtOnce: what has the safe value written, and when it counts as reached.
func TestSafeValueAtOnce(t *testing.T) {
	tripped := func(t *testing.T) *bench {
		t.Helper()
		b := confirmed(t, jumping())
		b.in.Faults.Add(RuleInterlock, 0)
		b.step(CommandNone)
		b.acknowledge()
		b.read(0)
		b.step(CommandNone)
		if b.out.Write[0] || !b.out.Arrived[0] || b.out.Destination[0] != 0 {
			t.Fatalf("%+v", b.out)
		}
		return b
	}
	for name, c := range map[string]struct {
		change         func(b *bench)
		write, arrived bool
	}{
		"unknown":                  {func(b *bench) { b.in.Variable[0].Lost = true }, true, false},
		"elsewhere":                {func(b *bench) { b.in.Variable[0].Written.Value = 1 }, true, false},
		"forgotten":                {func(b *bench) { b.in.Variable[0].Written.Known = false }, true, false},
		"leased":                   {func(b *bench) { b.l.Variables[0].Lease = 3 * tick }, true, true},
		"unknown, and no line":     {func(b *bench) { v := &b.in.Variable[0]; v.Lost, v.CanWrite, v.CanMakeSafe = true, false, false }, false, false},
		"unknown, and only safely": {func(b *bench) { v := &b.in.Variable[0]; v.Lost, v.CanWrite = true, false }, true, false},
	} {
		b := tripped(t)
		c.change(b)
		if b.step(CommandNone); b.out.Write[0] != c.write || b.out.Arrived[0] != c.arrived || c.write && b.out.Setpoint[0] != 0 {
			t.Errorf("%s: written %v, arrived %v", name, b.out.Write[0], b.out.Arrived[0])
		}
	}
	b := tripped(t) // at rest, and nothing was driven
	b.s.Variable[0].Changed = false
	if b.step(CommandNone); b.out.Write[0] {
		t.Error("it is where it should be, and is written")
	}
	b = tripped(t) // at rest for an hour, then moved by hand before anything is driven again
	b.s.Variable[0].Changed = false
	b.now += time.Hour
	b.read(4)
	if b.step(CommandNone); !b.out.Write[0] {
		t.Error("it has left its safe value while it was not driven")
	}
}

// TestHoldWrites: in a hold only a lease is refreshed, with what stands.
func TestHoldWrites(t *testing.T) {
	for name, c := range map[string]struct {
		change func(b *bench)
		want   float64 // NaN: nothing is written
	}{
		"as it stands":            {func(*bench) {}, 5},
		"no line":                 {func(b *bench) { b.in.Variable[0].CanWrite = false }, math.NaN()},
		"nothing acknowledged":    {func(b *bench) { b.in.Variable[0].Written.Known = false }, math.NaN()},
		"not due":                 {func(b *bench) { b.s.Variable[0].IssuedAt = b.now }, math.NaN()},
		"outside its bounds":      {func(b *bench) { b.in.Variable[0].Written.Value = 10.2 }, math.NaN()},
		"at the tolerance of one": {func(b *bench) { b.in.Variable[0].Written.Value = 10.1 }, 10},
		"a setpoint that has not left": {func(b *bench) {
			b.in.Variable[0].Written.Value = 4
		}, 4},
		"taken over from a hand": {func(b *bench) { v := &b.s.Variable[0]; v.Setpoint, v.Ramp, v.Resend = 3, 3, true }, 3},
		"lost, and moved": {func(b *bench) {
			b.in.Variable[0].Lost = true
			b.in.Variable[0].Readback = Sample{2, b.in.Variable[0].Written.At + 2*time.Second, true}
		}, 2},
		"moved by a hand": {func(b *bench) {
			b.s.Variable[0].Known, b.s.Variable[0].Overridden = false, true
			b.in.Variable[0].Readback.Value = 2
		}, 2},
		"lost, and taken over": {func(b *bench) {
			v := &b.s.Variable[0]
			v.Setpoint, v.Ramp, v.Resend, b.in.Variable[0].Lost = 3, 3, true, true
		}, 5},
		"moved by a hand, nothing acknowledged": {func(b *bench) {
			b.s.Variable[0].Known, b.s.Variable[0].Overridden = false, true
			b.in.Variable[0].Readback.Value, b.in.Variable[0].Written.Known = 2, false
		}, math.NaN()},
		"moved by a hand to nowhere": {func(b *bench) {
			b.s.Variable[0].Known, b.s.Variable[0].Overridden = false, true
			b.in.Variable[0].Readback.Known = false
		}, math.NaN()},
	} {
		l := jumping()
		l.Variables[0].Lease = 3 * time.Second
		b := confirmed(t, l)
		b.step(CommandPause)
		b.now = b.s.Variable[0].IssuedAt + time.Second - 2*l.Tick
		c.change(b)
		b.step(CommandNone)
		if got := b.out.Setpoint[0]; b.out.Write[0] == math.IsNaN(c.want) || b.out.Write[0] && got != c.want {
			t.Errorf("%s: written %v %v, want %v", name, b.out.Write[0], got, c.want)
		}
		if b.out.Write[0] && b.s.Variable[0].Ramp != c.want {
			t.Errorf("%s: the way goes on from %v", name, b.s.Variable[0].Ramp)
		}
	}
}

// TestSetIsReadAnew: what a set held before it was read is gone, in either form of the record.
func TestSetIsReadAnew(t *testing.T) {
	for text, want := range map[string][]int{"5": {0, 2}, "[0,1,0,0]": {64}} {
		var s, fresh Set
		s.Add(100)
		s.Add(1)
		for _, i := range want {
			fresh.Add(i)
		}
		if err := s.UnmarshalJSON([]byte(text)); err != nil || s != fresh {
			t.Errorf("%s: %v, error %v", text, s, err)
		}
	}
}
