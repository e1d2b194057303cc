package safety

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/labtuner/tuner/scripts/testsize"
)

var daysFlag = flag.Float64("days", float64(testsize.Of(1, 3)), "how many virtual days TestDaysOfFaults simulates")

// faultClass is a way to fail, and what must come of it.
type faultClass struct {
	name string
	rule Rule
	// begin breaks something, end mends it.
	begin, end func(*rig)
	// safe says that the reaction is complete.
	safe func(*rig) bool
	// bound is the longest time from the fault to there, as it is published.
	bound time.Duration
}

// held, resting and fallen are complete reactions.
func held(r *rig) bool    { return r.s.Mode == Hold }
func resting(r *rig) bool { return r.s.Mode >= Tripped && r.in.Variable[0].Written.Value == 0 }
func fallen(r *rig) bool  { return r.s.Mode == Fallback && r.in.Variable[0].Written.Value == 0 }

// classes of faults of an instrument that is looked at once a second: a knob from -2
// to 10 at 1 up and 4 down per second, readback within 5 s.
func classes() []faultClass {
	second := time.Second
	stop := func(r *rig) { r.in.Command = CommandStop }
	none := func(*rig) {}
	return []faultClass{
		{"sensor silent", RuleStale, func(r *rig) { delete(r.read, 0) }, func(r *rig) { r.read[0] = 20 }, held, 3*second + 2*second},
		{"sensor out of range", RuleRange, func(r *rig) { r.read[0] = 500 }, func(r *rig) { r.read[0] = 20 }, held, 3*second + second},
		{"interlock open", RuleInterlock, func(r *rig) { r.read[1] = 0 }, func(r *rig) { r.read[1] = 1 }, resting, 2 * second},
		{"interlock silent", RuleInterlock, func(r *rig) { delete(r.read, 1) }, func(r *rig) { r.read[1] = 1 }, resting, 3*second + 2*second},
		{"link lost", RuleComms, func(r *rig) { r.silent, r.in.Variable[0].CanWrite = true, false },
			func(r *rig) { r.silent, r.in.Variable[0].CanWrite = false, true }, held, 30*second + 2*second},
		{"moved by hand", RuleOverride, func(r *rig) { r.in.Variable[0].Readback.Value -= 3; r.deaf = true }, func(r *rig) { r.deaf = false }, held, 5*second + 2*second},
		{"actuator dead", RuleReadback, func(r *rig) { r.deaf = true; r.drive(farFrom(r.in.Variable[0].Readback.Value)) }, func(r *rig) { r.deaf = false },
			resting, 12*second + 4*5*second + 6*second},
		{"policy failed", RulePolicy, func(r *rig) { r.in.Faults.Add(RulePolicy, 0) }, func(r *rig) { r.in.Faults = Causes{} }, fallen, 10*second/4 + 3*second},
		{"stop", RuleStop, stop, none, resting, second},
	}
}

// farFrom is a destination that cannot be mistaken for x: of an actuator that need not
// move nobody can tell that it is dead.
func farFrom(x float64) float64 {
	if x < 4 {
		return 9
	}
	return -1
}

// slowRig is the instrument of classes.
func slowRig(t *testing.T) *rig {
	l := oneVariable()
	l.Tick, l.HoldMax, l.Comms = time.Second, 30*time.Second, 30*time.Second
	l.Variables[0].Tolerance, l.Variables[0].Timeout = 0.1, 5*time.Second
	l.Sensors = []SensorLimits{{Low: 0, High: 100, MaxAge: 3 * time.Second, Watched: true, Rate: 10}, {Low: 0, High: 1, MaxAge: 3 * time.Second}}
	l.Links = []LinkLimits{{Watched: true}}
	l.Interlocks = []Condition{{Sensor: 1, Low: 0.5, High: 1}}
	r := newRig(t, l, 1)
	r.read[0], r.read[1] = 20, 1
	return r
}

// TestDaysOfFaults lives through virtual days in which everything fails again and
// again, at random times. It publishes the time from each class of fault to safety,
// and how often something held or tripped with no fault at all.
func TestDaysOfFaults(t *testing.T) {
	t.Logf("seed %d, %v days", *seedFlag, *daysFlag)
	rng := rand.New(rand.NewPCG(*seedFlag, 2))
	r, all := slowRig(t), classes()
	latency := make([][]time.Duration, len(all))
	healthy, falseAlarms := time.Duration(0), 0
	r.running()
	end := time.Duration(*daysFlag * 24 * float64(time.Hour))
	for r.now < end {
		for n := rng.IntN(1800); n >= 0; n-- {
			if n%30 == 0 {
				r.drive(-2 + 12*rng.Float64())
			}
			r.read[0] = 20 + rng.NormFloat64()
			r.tick(CommandNone)
			healthy += r.l.Tick
			if r.s.Mode != Run {
				falseAlarms++
				t.Errorf("at %v, without a fault: %v, first-out %v", r.now, r.s.Mode, names(r.s.FirstOut))
				r.recover()
			}
		}
		k := rng.IntN(len(all))
		latency[k] = append(latency[k], r.suffer(all[k]))
	}
	for k, c := range all {
		slices.Sort(latency[k])
		n := len(latency[k])
		if n == 0 {
			t.Errorf("%s: never happened", c.name)
			continue
		}
		t.Logf("%-20s %4d times, to safety p50 %v, p99 %v, max %v; bound %v", c.name, n, latency[k][n/2], latency[k][n*99/100], latency[k][n-1], c.bound)
	}
	t.Logf("%d false alarms in %.0f hours without a fault", falseAlarms, healthy.Hours())
}

// suffer lets a fault happen, checks what comes of it, and mends everything.
func (r *rig) suffer(c faultClass) time.Duration {
	r.t.Helper()
	// Whether an actuator has been moved by a hand can only be told of one that
	// stands; the others may fail at any time.
	for n := 0; c.rule == RuleOverride && n < 15; n++ {
		r.tick(CommandNone)
	}
	began := r.now
	c.begin(r)
	command := r.in.Command
	for first := true; !c.safe(r); first = false {
		if r.now-began > c.bound {
			r.t.Fatalf("%s at %v: not safe after %v, in %v, first-out %v", c.name, began, c.bound, r.s.Mode, names(r.s.FirstOut))
		}
		if !first {
			command = CommandNone
		}
		r.tick(command)
	}
	if !r.s.FirstOut.Has(c.rule) {
		r.t.Fatalf("%s at %v: first-out %v", c.name, began, names(r.s.FirstOut))
	}
	took := r.now - began
	c.end(r)
	r.recover()
	return took
}

// recover does what a person would: mend, reset, resume, start.
func (r *rig) recover() {
	r.t.Helper()
	r.p.Drive[0] = false
	for range 100 {
		r.read[0] = 20
		c := map[Mode]Command{Hold: CommandResume, Fallback: CommandResume, Tripped: CommandReset, Stopped: CommandReset,
			Idle: CommandArm, Armed: CommandStart}[r.s.Mode]
		if r.tick(c); r.s.Mode == Run {
			return
		}
	}
	r.t.Fatalf("at %v: does not recover from %v: %v", r.now, r.s.Mode, names(r.out.Refused))
}
