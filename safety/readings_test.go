package safety

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestSpikesAgainstTheMedian holds the spike rule against a median by sorting, over random
// readings at random times, and at its edge.
func TestSpikesAgainstTheMedian(t *testing.T) {
	t.Logf("seed %d", *seedFlag)
	rng := rand.New(rand.NewPCG(*seedFlag, 8))
	l := SensorLimits{Low: -100, High: 100, Rate: 2, MaxAge: time.Hour}
	found := 0
	for range 300 {
		var s SensorState
		var all []Sample
		now := time.Duration(0)
		for range 40 {
			now += time.Duration(rng.IntN(2000)) * time.Millisecond
			r := Sample{float64(rng.IntN(9) - 4), now, true}
			var got Verdict
			s, got = l.Accept(s, r)
			want := Valid
			if n := len(all); n >= window {
				last := slices.Clone(all[n-window:])
				slices.SortStableFunc(last, func(a, b Sample) int { return int(a.Value - b.Value) })
				// Of equal values any may be the median: their times differ, so all are tried.
				m := last[window/2]
				reach := []float64{}
				for _, x := range last {
					if x.Value == m.Value {
						reach = append(reach, 2*(now-x.At).Seconds())
					}
				}
				off := max(r.Value-m.Value, m.Value-r.Value)
				sure, maybe := off > slices.Max(reach), off > slices.Min(reach)
				switch {
				case sure:
					want = Spike
				case maybe:
					want = got
				}
			}
			if got != want {
				t.Fatalf("%+v after %+v: %v, want %v", r, all[max(0, len(all)-window):], got, want)
			}
			if all = append(all, r); got == Spike {
				found++
			} else if s.Last != r {
				t.Fatalf("%+v is believed, and %+v remembered", r, s.Last)
			}
		}
	}
	if found < 100 {
		t.Errorf("%d spikes", found)
	}
	var s SensorState
	for k := range window {
		s, _ = l.Accept(s, Sample{1, time.Duration(k) * time.Second, true})
	}
	for _, c := range []struct {
		value float64
		want  Verdict
	}{{9, Valid}, {-7, Valid}, {9.001, Spike}, {-7.001, Spike}} { // 2 per second, 4 s after the median
		if _, v := l.Accept(s, Sample{c.value, 6 * time.Second, true}); v != c.want {
			t.Errorf("%v: %v, want %v", c.value, v, c.want)
		}
	}
	s = SensorState{}
	for k, x := range []float64{0, 1, 1, 1, 1} { // of equal readings the one that came first is the median
		s, _ = l.Accept(s, Sample{x, time.Duration(k) * time.Second, true})
	}
	if _, v := l.Accept(s, Sample{8.5, 6 * time.Second, true}); v != Valid {
		t.Errorf("4 s after the median: %v", v)
	}
	var short SensorState // of the first readings nothing is known
	for k := range window {
		var v Verdict
		if short, v = l.Accept(short, Sample{float64(k%2) * 99, 0, true}); v != Valid {
			t.Errorf("reading %d: %v", k, v)
		}
	}
}

// TestStuckCounts: identical readings in a row, from the first of them.
func TestStuckCounts(t *testing.T) {
	l := SensorLimits{Low: 0, High: 10, Stuck: 3, MaxAge: time.Hour}
	var s SensorState
	for k, c := range []struct {
		value float64
		same  int
	}{{0, 1}, {0, 2}, {0, 3}, {0, 3}, {1, 1}, {1, 2}, {0, 1}} {
		s, _ = l.Accept(s, Sample{c.value, time.Duration(k), true})
		if s.Same != c.same {
			t.Errorf("reading %d: %d the same, want %d", k, s.Same, c.same)
		}
	}
	s.OutputMoved = true
	if s, _ = l.Accept(s, Sample{0, 9, true}); !s.OutputMoved || s.Same != 2 {
		t.Error("the same value forgets that an actuator moved")
	}
	if s, _ = l.Accept(s, Sample{1, 9, true}); s.OutputMoved {
		t.Error("another value does not")
	}
	if s, _ = l.Accept(SensorState{OutputMoved: true}, Sample{0, 0, true}); s.OutputMoved {
		t.Error("what moved before the first reading is no witness against it")
	}
	for _, x := range []float64{0, 10} { // the ends of the range are in it
		if _, v := l.Accept(SensorState{}, Sample{x, 0, true}); v != Valid {
			t.Errorf("%v: %v", x, v)
		}
	}
	if _, v := l.Accept(SensorState{}, Sample{1, 0, false}); v != OutOfRange {
		t.Errorf("nothing is read: %v", v)
	}
}

// TestDutyEdges: the fraction itself is allowed; only what is above the value counts, by the
// setpoint or by the readback; the whole of a pause counts, up to a window.
func TestDutyEdges(t *testing.T) {
	duty := func(t *testing.T, written, read Sample) *bench {
		t.Helper()
		l := jumping()
		l.Variables[0].Tolerance = 0
		l.Duties = []DutyLimits{{Variable: 0, Above: 7, Fraction: 0.25, Window: 20 * time.Second}}
		b := newBench(t, l)
		b.in.Variable[0].Written, b.in.Variable[0].Readback = written, read
		return b
	}
	below, above := Sample{7, 0, true}, Sample{7.1, 0, true}
	for name, c := range map[string]struct {
		written, read Sample
		counts        bool
	}{
		"at the value": {below, below, false}, "written": {above, below, true}, "read": {below, above, true},
		"nobody has said": {Sample{9, 0, false}, Sample{9, 0, false}, false},
	} {
		b := duty(t, c.written, c.read)
		at := b.now
		if c.counts {
			b.edge(name, at+5*time.Second, active(RuleExposure))
		} else if _, out := b.peek(at+15*time.Second, CommandNone); out.Active.Has(RuleExposure) {
			t.Errorf("%s: counted", name)
		}
	}
	b := duty(t, above, above) // an hour without a tick is a window, which passes
	b.at(b.now+time.Hour, CommandNone)
	b.in.Variable[0].Written, b.in.Variable[0].Readback = below, below
	if b.at(b.now+time.Second, CommandNone); !b.out.Active.Has(RuleExposure) {
		t.Error("the pause is forgotten")
	}
	b.at(b.now+20*time.Second, CommandNone)
	if b.at(b.now+2*time.Second, CommandNone); b.out.Active.Has(RuleExposure) {
		t.Error("the pause counts for longer than its window")
	}
	b = duty(t, above, above) // a clock that goes back empties nothing
	b.at(b.now+6*time.Second, CommandNone)
	if b.at(b.now-4*time.Second, CommandNone); !b.out.Active.Has(RuleExposure) {
		t.Error("a clock that goes back gives time")
	}
}

// TestSafeSettingsWhenFull: the oldest goes, except the first, in turn.
func TestSafeSettingsWhenFull(t *testing.T) {
	var k ProvenSettings
	for n := range safeSettingsMax + 2 {
		x := []float64{float64(n)}
		k.Add(x)
		x[0] = -1 // its own copy
	}
	for n := range safeSettingsMax + 2 {
		x, gone := []float64{float64(n)}, n == 1 || n == 2
		if changed := k.Shrink(x, []float64{1}, 1e-9)[0]; changed != gone {
			t.Errorf("setting %d is brought to %v", n, x[0])
		}
	}
	var one ProvenSettings // nearest by its own span, not by the other's
	one.Add([]float64{0, 0})
	one.Add([]float64{8, 0})
	x := []float64{5, 50}
	if one.Shrink(x, []float64{1, 1000}, 0.1); x[0] != 7.9 {
		t.Errorf("brought to %v, want near 8", x)
	}
	var two ProvenSettings // of two as near, the one that was known first
	two.Add([]float64{0})
	two.Add([]float64{10})
	if x := []float64{5}; two.Shrink(x, []float64{1}, 0.1) != nil && x[0] != 0.1 {
		t.Errorf("brought to %v, want near 0", x[0])
	}
	if (&ProvenSettings{}).Shrink([]float64{1}, []float64{1}, 1)[0] {
		t.Error("brought near nothing")
	}
}

// TestFinalAssert: what the rules above should have made impossible is never written.
func TestFinalAssert(t *testing.T) {
	l := jumping()
	l.Variables[0].SlewUp, l.Variables[0].SlewDown = 1, 4
	for _, c := range []struct {
		from, set float64
		good      bool
	}{
		{5, 5, true}, {5, 5.0999, true}, {5, 5.101, false}, {5, 4.6001, true}, {5, 4.599, false}, {5, 10, false}, {5, -2, false},
		{5, 5 + 1*tick.Seconds() + 10e-9, true}, {5, 5 - 4*tick.Seconds() - 10e-9, true}, {9.95, 10, true}, {9.95, 10.001, false}, {-1.9, -2, true}, {-1.9, -2.001, false},
		{5, math.NaN(), false}, {5, math.Inf(1), false}, {5, math.Inf(-1), false},
	} {
		b := newBench(t, l)
		b.s.Variable[0].Setpoint, b.s.Variable[0].Allowed = c.from, tick
		x := pass{l: &b.l, s: &b.s, in: &b.in, p: &b.p, out: &Output{}, now: b.now}
		if got := x.assertSetpoint(0, c.set); got != c.good || b.s.raised.Has(RuleAssert) == c.good {
			t.Errorf("%v from %v: %v, raised %v", c.set, c.from, got, b.s.raised.Has(RuleAssert))
		}
	}
}
