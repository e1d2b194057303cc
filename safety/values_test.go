package safety

import (
	"fmt"
	"math"
	"testing"
	"time"
)

func TestWayToDestination(t *testing.T) {
	// Slew 1 up and 4 down per second at 0.1 s: steps of 0.1 and 0.4. The actuator is
	// taken over at 5 in the tick of the start.
	r := newRig(t, oneVariable(), 5)
	r.drive(5.25)
	r.running()
	for k, want := range []float64{5.2, 5.25} {
		if out := r.tick(CommandNone); !near(out.Setpoint[0], want) {
			t.Errorf("tick %d: setpoint %v, want %v", k, out.Setpoint[0], want)
		}
	}
	if out := r.tick(CommandNone); !out.Arrived[0] || out.Write[0] {
		t.Errorf("arrived %v, written again %v", out.Arrived[0], out.Write[0])
	}
	out := r.drive(1).tick(CommandNone)
	if !near(out.Setpoint[0], 4.85) || out.Reasons[0].Names()[0] != "slew" || out.Arrived[0] {
		t.Errorf("down: setpoint %v, reasons %v", out.Setpoint[0], out.Reasons[0].Names())
	}
}

func TestPauseDoesNotBecomeOneLargeStep(t *testing.T) {
	for _, c := range []struct {
		name  string
		after time.Duration
		want  float64
	}{{"clock stands still", 0, 0.1}, {"clock goes back", -time.Hour, 0.1}, {"an hour's pause counts as two ticks", time.Hour, 0.3}} {
		r := newRig(t, oneVariable(), 0)
		r.drive(10).running()
		if x := r.in.Variable[0].Written.Value; !near(x, 0.1) {
			t.Fatalf("%s: begun at %v", c.name, x)
		}
		_, out := Step(&r.l, r.s, &r.in, &r.p, r.now+c.after)
		if out.Write[0] && !near(out.Setpoint[0], c.want) {
			t.Errorf("%s: setpoint %v, want %v", c.name, out.Setpoint[0], c.want)
		}
	}
}

func TestNotFiniteKeepsTheLastSetpoint(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		r := newRig(t, oneVariable(), 3)
		r.drive(3).running()
		out := r.drive(bad).tick(CommandNone)
		if out.Write[0] || !out.Reasons[0].Has(RuleFinite) || r.s.Variable[0].Ramp != 3 {
			t.Errorf("%v: written %v, reasons %v, way %v", bad, out.Write[0], out.Reasons[0].Names(), r.s.Variable[0].Ramp)
		}
		// A comparison clamp would have let NaN through and lost the rate limit.
		if out := r.drive(10).tick(CommandNone); !near(out.Setpoint[0], 3.1) {
			t.Errorf("after %v: setpoint %v, want 3.1", bad, out.Setpoint[0])
		}
	}
}

func TestThreeBadProposalsInARowHold(t *testing.T) {
	r := newRig(t, oneVariable(), 3)
	r.drive(3).running()
	for range 2 {
		r.drive(math.NaN()).ticks(10) // ten ticks of one proposal count once
	}
	r.drive(4).ticks(2)
	for range 3 {
		r.want(Run)
		r.drive(math.NaN()).ticks(2)
	}
	r.want(Hold)
	r.wantFirstOut(RuleFinite)
	r.ticks(3)
	r.want(Hold)
	r.drive(4).tick(CommandResume)
	r.want(Run)
}

func TestTakeOverWithoutABump(t *testing.T) {
	r := newRig(t, oneVariable(), 7)
	r.drive(2).running()
	if x := r.in.Variable[0].Written.Value; !near(x, 6.6) {
		t.Errorf("begun at %v, want 7 - 0.4", x)
	}
	r.p.Drive[0] = false
	if out := r.tick(CommandNone); out.Write[0] || r.s.Variable[0].Known {
		t.Error("a variable that is not driven is written or remembered")
	}
	r.in.Variable[0].Written, r.in.Variable[0].Readback.Value = Sample{}, 4
	if out := r.drive(2).tick(CommandNone); !near(out.Setpoint[0], 3.6) {
		t.Errorf("taken over again at %v, want 4 - 0.4", out.Setpoint[0])
	}
	r = newRig(t, oneVariable(), math.NaN())
	r.running()
	r.drive(0)
	if out := r.tick(CommandNone); !out.Reasons[0].Has(RuleStart) || out.Setpoint[0] != 0 || !out.Write[0] {
		t.Errorf("without readback: setpoint %v, reasons %v, want the safe value 0", out.Setpoint[0], out.Reasons[0].Names())
	}
}

func TestLostWriteBeginsAgainWhereItStands(t *testing.T) {
	r := newRig(t, oneVariable(), 0)
	r.drive(10).running().ticks(10)
	stands := r.in.Variable[0].Written.Value
	r.in.Variable[0].CanWrite = false
	r.ticks(20)
	r.in.Variable[0].CanWrite, r.in.Variable[0].Lost = true, true
	if out := r.tick(CommandNone); !near(out.Setpoint[0], stands+0.1) {
		t.Errorf("setpoint %v after a lost write at %v", out.Setpoint[0], stands)
	}
}

func TestQuantise(t *testing.T) {
	l := oneVariable()
	l.Variables[0].Resolution = 0.25
	r := newRig(t, l, 1)
	r.drive(2.1)
	r.running()
	got := []float64{}
	for !r.out.Arrived[0] {
		if r.tick(CommandNone); r.out.Write[0] {
			got = append(got, r.out.Setpoint[0])
		}
	}
	if want := "[1.25 1.5 1.75 2 2.1]"; fmt.Sprint(got) != want {
		t.Errorf("setpoints %v, want %v", got, want)
	}
	// Above the safe value they are rounded down, below it up.
	if q := l.Variables[0].quantise(1.2); q != 1 {
		t.Errorf("1.2 becomes %v", q)
	}
	if q := l.Variables[0].quantise(-1.2); q != -1 {
		t.Errorf("-1.2 becomes %v", q)
	}
}

func TestSteppedIsWrittenAtTheEndOfTheWay(t *testing.T) {
	l := oneVariable()
	l.Variables[0].Stepped = true
	r := newRig(t, l, 1)
	r.drive(2).running()
	began := r.now
	for !r.out.Write[0] {
		r.tick(CommandNone)
	}
	if r.out.Setpoint[0] != 2 || r.now-began < 800*time.Millisecond {
		t.Errorf("setpoint %v after %v", r.out.Setpoint[0], r.now-began)
	}
}

// TestDwellAndLease: changes keep their distance, refreshes come within a third of
// the lease, in Run and in Hold.
func TestDwellAndLease(t *testing.T) {
	l := oneVariable()
	l.Variables[0].Dwell, l.Variables[0].Lease = 500*time.Millisecond, time.Second
	r := newRig(t, l, 0)
	r.drive(2).running()
	changed, written, value := r.now, r.now, r.in.Variable[0].Written.Value
	watch := func() {
		if !r.out.Write[0] {
			return
		}
		if gap := r.now - written; gap > l.Variables[0].Lease/3 {
			t.Errorf("%v between two writes at %v", gap, r.now)
		}
		written = r.now
		if x := r.out.Setpoint[0]; x != value {
			if gap := r.now - changed; gap < 500*time.Millisecond {
				t.Errorf("%v between two changes at %v", gap, r.now)
			}
			if x > value+0.1+1*(r.now-changed).Seconds()+1e-9 {
				t.Errorf("from %v to %v in %v", value, x, r.now-changed)
			}
			changed, value = r.now, x
		}
	}
	for range 60 {
		r.tick(CommandNone)
		watch()
	}
	if value != 2 {
		t.Fatalf("at %v after 6 s, want 2", value)
	}
	r.tick(CommandPause)
	r.want(Hold)
	for range 60 {
		watch()
		r.tick(CommandNone)
	}
	if r.now-written > l.Variables[0].Lease/3 || value != 2 {
		t.Errorf("held at %v, last written %v ago", value, r.now-written)
	}
}

// TestDwellOutlastsAResume: a fallback that is acknowledged at once arms and starts the run
// anew, and the device's dwell goes on through it.
func TestDwellOutlastsAResume(t *testing.T) {
	l := oneVariable()
	l.Variables[0].Dwell = time.Second
	r := newRig(t, l, 0)
	r.drive(2).running().pass(5 * time.Second)
	r.tick(CommandFail)
	r.want(Fallback)
	changed, value := r.now, r.in.Variable[0].Written.Value
	commands := append([]Command{CommandResume, CommandStart}, make([]Command, 20)...)
	for _, c := range commands {
		r.tick(c)
		if x := r.out.Setpoint[0]; r.out.Write[0] && x != value {
			if gap := r.now - changed; gap < time.Second {
				t.Errorf("%v between two changes at %v", gap, r.now)
			}
			changed, value = r.now, x
		}
	}
	r.want(Run)
	if value != 2 {
		t.Errorf("at %v after two more seconds, want 2", value)
	}
}

// TestHoldSaysWhatTheDeviceHas: a setpoint that was given out in the tick before a hold, and
// did not leave, is not what a lease has written again.
func TestHoldSaysWhatTheDeviceHas(t *testing.T) {
	l := oneVariable()
	l.Variables[0].Lease = time.Second
	r := newRig(t, l, 0)
	r.drive(2).running().ticks(5)
	stood := r.in.Variable[0].Written
	readback := r.in.Variable[0].Readback
	r.tick(CommandNone)
	if r.out.Setpoint[0] == stood.Value {
		t.Fatal("it was not on its way")
	}
	r.in.Variable[0].Written, r.in.Variable[0].Readback = stood, readback
	r.tick(CommandPause)
	r.want(Hold)
	said := 0
	for range 20 {
		if r.out.Write[0] {
			said++
			if x := r.out.Setpoint[0]; x != stood.Value {
				t.Fatalf("%v is written in a hold, the device stands at %v", x, stood.Value)
			}
		}
		r.tick(CommandNone)
	}
	if said == 0 {
		t.Error("its lease was not kept")
	}
	r.tick(CommandResume)
	r.pass(5 * time.Second)
	r.want(Run)
	if x := r.in.Variable[0].Written.Value; x != 2 {
		t.Errorf("at %v after the hold, want 2", x)
	}
}

func TestFinalAssertTripsAndNeedsANewProcess(t *testing.T) {
	r := newRig(t, oneVariable(), 0)
	r.drive(5).running()
	r.ticks(3)
	// A defect as no rule makes it: the way has jumped.
	r.s.Variable[0].Ramp = 9
	if out := r.drive(9).tick(CommandNone); out.Write[0] || !out.Reasons[0].Has(RuleAssert) {
		t.Errorf("written %v, reasons %v", out.Setpoint[0], out.Reasons[0].Names())
	}
	r.tick(CommandNone)
	r.want(Tripped)
	r.wantFirstOut(RuleAssert)
	r.tick(CommandReset)
	r.want(Tripped)
	r.s = Boot(r.s.Save())
	r.tick(CommandNone)
	r.want(Tripped)
	r.tick(CommandReset)
	r.want(Idle)
}

func TestClampSaysWhatStepDoes(t *testing.T) {
	l := oneVariable()
	for _, c := range []struct {
		x, want float64
		rule    string
	}{{3, 3, "[]"}, {11, 10, "[hard-bounds]"}, {-3, -2, "[hard-bounds]"}, {math.NaN(), 1, "[not-finite]"}} {
		got, why := l.Variables[0].Clamp(c.x, 1)
		if got != c.want || fmt.Sprint(why.Names()) != c.rule {
			t.Errorf("Clamp(%v) = %v %v, want %v %s", c.x, got, why.Names(), c.want, c.rule)
		}
	}
}
