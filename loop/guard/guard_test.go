package guard

import (
	"errors"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/worker"
	"github.com/labtuner/tuner/safety"
)

func TestWallClockJumpIsToldAndChangesNothing(t *testing.T) {
	var w wallWatch
	year := 365 * 24 * time.Hour
	for _, c := range []struct{ mono, wall, want time.Duration }{
		{time.Second, time.Second, 0}, {2 * time.Second, 2*time.Second + 900*time.Millisecond, 0},
		{3 * time.Second, 3*time.Second + year, year}, {4 * time.Second, 4*time.Second + year, 0},
		{5 * time.Second, 5*time.Second - year, -2 * year}, {6 * time.Second, 6*time.Second - year, 0},
	} {
		if jump, told := w.look(c.mono, c.wall); told != (c.want != 0) || (jump-c.want).Abs() > time.Second {
			t.Errorf("at %v, wall %v: jump %v, want %v", c.mono, c.wall, jump, c.want)
		}
	}
}

// TestTimeOverRestarts: a restart counts the least time that may have passed.
func TestTimeOverRestarts(t *testing.T) {
	up := func(d time.Duration) func() time.Duration { return func() time.Duration { return d } }
	kept := controlstate.State{BootID: "x", Uptime: time.Hour}
	for _, c := range []struct {
		name string
		m    Machine
		want time.Duration
	}{
		{"the same boot", Machine{BootID: "x", Uptime: up(90 * time.Minute)}, 30 * time.Minute},
		{"another boot: at least since it", Machine{BootID: "y", Uptime: up(5 * time.Minute)}, 5 * time.Minute},
		{"a clock that went back", Machine{BootID: "x", Uptime: up(time.Minute)}, 0},
		{"nobody knows", Machine{}, 0},
	} {
		if got := Away(c.m, kept); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// hands is a clock that a test moves.
type hands struct{ now time.Time }

func (h *hands) Now() time.Time { return h.now }

// TestTimeIsKept: without anything to latch or to dose the control state is written all
// the same now and then, so that what it counts grows old after a crash.
func TestTimeIsKept(t *testing.T) {
	file, err := controlstate.Open(filepath.Join(t.TempDir(), "rig.control"), disk.Holder{})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	clock, pool := &hands{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}, worker.NewVirtual()
	g, err := New(Options{Plan: &plan.Options{Mode: plan.Live, Tick: time.Second}, Start: clock.now, Clock: clock, Control: file, Commands: (*control.Panel)(nil)}, pool)
	if err != nil {
		t.Fatal(err)
	}
	g.Save()
	first := file.State().Generation
	for range 3600 {
		clock.now = clock.now.Add(time.Second)
		g.SaveTime(clock.now)
		for _, r := range pool.Take() {
			g.Handle(r.Value)
		}
	}
	if n := file.State().Generation - first; n != 13 {
		t.Errorf("written %d times, the first at the start, and %v apart for an hour", n, saveEvery)
	}
}

// still shows the same readings for ever.
type still struct{ value float64 }

func (s still) Sensor(int) plan.Reading    { return plan.Reading{} }
func (s still) Odd(int) string             { return "" }
func (s still) OddSensor(int) plan.Reading { return plan.Reading{} }
func (s still) Variable(int) plan.Reading  { return plan.Reading{Value: s.value, Known: true} }
func (s still) Written(int) float64        { return s.value }
func (s still) Answer(plan.Channel) string { return "" }

// TestRehearsalChangesNothing: what commands would come to is asked for any number of times,
// and the layer is as it was, also where a device has come back with its actuator outside.
func TestRehearsalChangesNothing(t *testing.T) {
	v := plan.Variable{Name: "knob", Actuated: true, Tolerance: 0.1, High: 10, Start: 1, Limits: safety.VariableLimits{High: 10, SlewUp: 1, SlewDown: 1}}
	clock := &hands{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	g, err := New(Options{Plan: &plan.Options{Mode: plan.Live, Tick: time.Second, Variables: []plan.Variable{v}}, Start: clock.now, Clock: clock,
		Commands: (*control.Panel)(nil), Readings: still{12}}, worker.NewVirtual())
	if err != nil {
		t.Fatal(err)
	}
	told := Told{Now: clock.now, CameBack: safety.Set{1}}
	before := g.state
	for range 2 {
		if g.rehearse(told, safety.CommandArm); g.state != before {
			t.Fatal("a rehearsal changed the state")
		}
	}
	r := g.Tick(safety.CommandNone, &told)
	if !r.Out.Active.Has(safety.RuleOverride) || len(r.Said) != 1 {
		t.Errorf("the tick itself: %v, said %+v", g.Active(), r.Said)
	}
}

// TestOutageIsNobodys: only a fallback that is nobody's fault and goes away by itself is waited
// out: not while someone holds the run, nor with anything latched, nor for what came beside it.
func TestOutageIsNobodys(t *testing.T) {
	for name, c := range map[string]struct {
		first, latched []safety.Rule
		paused, want   bool
	}{
		"a sensor was silent":       {[]safety.Rule{safety.RuleStale}, nil, false, true},
		"all of them":               {outageRules[:], nil, false, true},
		"nothing came first":        {nil, nil, false, false},
		"though paused":             {[]safety.Rule{safety.RuleStale}, nil, true, false},
		"with something latched":    {[]safety.Rule{safety.RuleStale}, []safety.Rule{safety.RuleOverride}, false, false},
		"the policy":                {[]safety.Rule{safety.RulePolicy}, nil, false, false},
		"a constraint":              {[]safety.Rule{safety.RuleViolation}, nil, false, false},
		"a sensor, and exposure":    {[]safety.Rule{safety.RuleStale, safety.RuleExposure}, nil, false, false},
		"exposure, and another one": {[]safety.Rule{safety.RuleExposure, safety.RuleBudget}, nil, false, false},
	} {
		var g Guard
		g.state.Paused = c.paused
		for _, r := range c.first {
			g.state.FirstOut.Add(r, 1)
		}
		for _, r := range c.latched {
			g.state.Latched.Add(r, 0)
		}
		if got := g.Outage(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// knob is a guard of one variable from 0 to 10.
func knob(t *testing.T) *Guard {
	t.Helper()
	v := plan.Variable{Name: "knob", Actuated: true, High: 10, Limits: safety.VariableLimits{High: 10, SlewUp: 1, SlewDown: 1}}
	o := &plan.Options{Mode: plan.Live, Tick: time.Second, Variables: []plan.Variable{v}}
	g, err := New(Options{Plan: o, Start: noon, Clock: &hands{noon}, Commands: (*control.Panel)(nil), Readings: still{5}}, worker.NewVirtual())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestMakesSafeAfterAStop: a stop makes safe, what was there before it does not.
func TestMakesSafeAfterAStop(t *testing.T) {
	g := knob(t)
	for _, c := range []safety.Command{safety.CommandNone, safety.CommandStop} {
		g.Tick(c, &Told{Now: noon})
		if want := c == safety.CommandStop; g.MakesSafe() != want {
			t.Errorf("after %v: %v", c, g.MakesSafe())
		}
	}
}

// TestNarrowAroundWhereItStands: hard limits go no further than where an actuator stands and is wanted.
func TestNarrowAroundWhereItStands(t *testing.T) {
	for _, c := range []struct {
		stand Stand
		want  error
	}{
		{Stand{Written: 6}, nil},
		{Stand{Written: 6.5}, plan.ErrNotNarrower},
		{Stand{Written: 2, Wanted: 6, Driven: true}, nil},
		{Stand{Written: 2, Wanted: 1, Driven: true}, plan.ErrNotNarrower},
		{Stand{Written: 2, Wanted: 1}, nil},
		{Stand{Written: math.NaN()}, nil},
	} {
		if err := standsInside(knob(t), 0, &safety.VariableLimits{Low: 2, High: 6}, c.stand); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.stand, err, c.want)
		}
	}
}
