package safety

import (
	"testing"
	"time"
)

// responding is jumping, of which a sensor must follow: 2 up for 1 up, within 3 s.
func responding(moves float64) Limits {
	l := jumping()
	l.Variables[0].Tolerance = 0
	l.Sensors = []SensorLimits{{Low: -100, High: 100, MaxAge: time.Hour}}
	l.Responses = []ResponseLimits{{Variable: 0, Sensor: 0, Change: 1, Moves: moves, Within: 3 * time.Second}}
	return l
}

// see is a reading of the sensor now.
func (b *bench) see(x float64) { b.s.Sensor[0].Last = Sample{x, b.now, true} }

// write has the device acknowledge a place now.
func (b *bench) write(x float64) {
	b.in.Variable[0].Written = Sample{x, b.now, true}
	b.drive(x)
}

// TestResponseEdges: a change of the least size must show, by the least size, in its direction,
// until its time is over.
func TestResponseEdges(t *testing.T) {
	missing := active(RuleResponse)
	for name, c := range map[string]struct {
		moves, to float64
		after     func(b *bench)
		due       bool
	}{
		"up":                      {2, 1, func(*bench) {}, true},
		"down":                    {2, -1, func(*bench) {}, true},
		"too small a change":      {2, 0.99, func(*bench) {}, false},
		"too small a change down": {2, -0.99, func(*bench) {}, false},
		"shown":                   {2, 1, func(b *bench) { b.see(12) }, false},
		"shown down":              {2, -1, func(b *bench) { b.see(8) }, false},
		"the other way round":     {-2, 1, func(b *bench) { b.see(8) }, false},
		"not by enough":           {2, 1, func(b *bench) { b.see(11.99) }, true},
		"not by enough down":      {2, -1, func(b *bench) { b.see(8.01) }, true},
		"in the wrong direction":  {2, 1, func(b *bench) { b.see(7) }, true},
		"wrong direction down":    {2, -1, func(b *bench) { b.see(13) }, true},
		"not read":                {2, 1, func(b *bench) { b.s.Sensor[0].Last = Sample{12, b.now, false} }, true},
		"old":                     {2, 1, func(b *bench) { b.see(12); b.l.Sensors[0].MaxAge = -1 }, true},
		"taken back":              {2, 1, func(b *bench) { b.write(0.99) }, false},
		"taken back from below":   {2, -1, func(b *bench) { b.write(-0.99) }, false},
		"taken back by nothing":   {2, 1.5, func(b *bench) { b.write(1) }, true},
		"from below, by nothing":  {2, -1.5, func(b *bench) { b.write(-1) }, true},
		"device has let go":       {2, 1, func(b *bench) { b.in.Variable[0].Written.Known = false }, false},
		"not driven":              {2, 1, func(b *bench) { b.p.Drive[0] = false; b.step(CommandNone) }, false},
		"not read, the other way": {-2, 1, func(b *bench) { b.s.Sensor[0].Last = Sample{0, b.now, false} }, true},
		"let go, and back": {2, 1, func(b *bench) {
			b.in.Variable[0].Written.Known = false
			b.step(CommandNone)
			b.in.Variable[0].Written.Known = true
		}, false},
		"went on in its direction": {2, 1, func(b *bench) { b.write(3) }, true},
	} {
		b := newBench(t, responding(c.moves))
		b.see(10)
		b.write(0)
		b.step(CommandNone)
		b.step(CommandNone)
		b.write(c.to)
		b.step(CommandNone)
		due := b.now + 3*time.Second
		c.after(b)
		b.step(CommandNone)
		if c.due {
			b.edge(name, due, missing)
		} else if _, out := b.peek(due+time.Hour, CommandNone); missing(nil, &out) {
			t.Errorf("%s: still waited for", name)
		}
	}
}

// TestResponseIsCountedAnew: what has shown is the base of the next change; what was not seen
// before a change is no witness of it; a readback may be what shows.
func TestResponseIsCountedAnew(t *testing.T) {
	b := newBench(t, responding(2))
	b.see(10)
	b.write(0)
	b.step(CommandNone)
	b.step(CommandNone)
	b.write(1)
	b.step(CommandNone)
	b.see(12)
	b.step(CommandNone)
	b.step(CommandNone)
	b.write(2)
	b.step(CommandNone)
	due := b.now + 3*time.Second
	b.see(13.9)
	b.step(CommandNone)
	b.edge("the second change, from where the first one ended", due, active(RuleResponse))

	b = newBench(t, responding(2))
	b.write(0)
	b.s.Sensor[0].Last = Sample{}
	b.step(CommandNone)
	b.step(CommandNone)
	b.write(1)
	b.step(CommandNone)
	due = b.now + 3*time.Second
	b.see(100)
	b.step(CommandNone)
	b.edge("nothing was seen before", due, active(RuleResponse))

	l := responding(2)
	l.Responses[0].Sensor = -1
	b = newBench(t, l)
	b.write(0)
	b.step(CommandNone)
	b.step(CommandNone)
	b.write(1)
	b.step(CommandNone)
	due = b.now + 3*time.Second
	b.read(1)
	b.step(CommandNone)
	b.edge("half of it", due, active(RuleResponse))
	b.read(2)
	b.step(CommandNone)
	if _, out := b.peek(due+time.Hour, CommandNone); out.Active.Has(RuleResponse) {
		t.Error("the readback has shown it")
	}
}

// TestResponseBase: a change is one from a place that was acknowledged, and is seen against what
// was read last before it.
func TestResponseBase(t *testing.T) {
	b := newBench(t, responding(2))
	b.see(10)
	b.in.Variable[0].Written.Known = false
	b.drive(5)
	b.step(CommandNone)
	b.write(5)
	b.step(CommandNone)
	b.step(CommandNone)
	if _, out := b.peek(b.now+time.Hour, CommandNone); out.Active.Has(RuleResponse) {
		t.Error("the first acknowledgement is taken for a change")
	}
	b = newBench(t, responding(2))
	b.see(10)
	b.write(0)
	b.step(CommandNone)
	b.step(CommandNone)
	b.see(12) // by itself
	b.step(CommandNone)
	b.write(1)
	b.step(CommandNone)
	b.edge("what rose before it", b.now+3*time.Second, active(RuleResponse))
}

// givenBench is a bench with a dose variable that a sensor must follow, 2 up for a dose of 1 at
// least, and a second pump beside it.
func givenBench(t *testing.T) *bench {
	t.Helper()
	l := oneVariable()
	l.Variables = []VariableLimits{{Dose: true, High: 5, OnFault: RestOff, Shutdown: RestOff}, {Dose: true, High: 5, OnFault: RestOff, Shutdown: RestOff}}
	l.Sensors = []SensorLimits{{Low: -100, High: 100, MaxAge: time.Hour}}
	l.Responses = []ResponseLimits{{Variable: 0, Sensor: 0, Change: 1, Moves: 2, Within: 3 * time.Second}}
	l.Doses = []DoseLimits{{Variable: 0, PerDose: 5, MinInterval: 10 * time.Second}, {Variable: 1, PerDose: 5}}
	b := newBench(t, l)
	b.see(10)
	return b
}

// dose wants dose n of an amount of variable i, and passes ticks until it is out or a second
// has gone.
func (b *bench) dose(i int, n int64, amount float64) (out bool) {
	b.p.Drive[i], b.p.Dose[i], b.p.Destination[i] = true, n, amount
	for range 10 {
		b.see(b.s.Sensor[0].Last.Value)
		if b.step(CommandNone); b.out.Write[i] {
			return true
		}
	}
	return false
}

// outcome tells what became of the dose of variable i.
func (b *bench) outcome(i int, o DoseOutcome, delivered float64) {
	b.in.Variable[i].Dose, b.in.Variable[i].Delivered = o, delivered
	b.step(CommandNone)
	b.in.Variable[i].Dose, b.in.Variable[i].Delivered = DosePending, 0
}

// TestDoseResponseEdges: a dose of the least size must show by the least size, from what was
// seen when it went out.
func TestDoseResponseEdges(t *testing.T) {
	missing := active(RuleResponse)
	for name, c := range map[string]struct {
		amount float64
		after  func(b *bench)
		due    bool
	}{
		"nothing":        {1, func(*bench) {}, true},
		"shown":          {1, func(b *bench) { b.see(12) }, false},
		"half of it":     {1, func(b *bench) { b.see(11.9) }, true},
		"the other way":  {1, func(b *bench) { b.see(5) }, true},
		"not read":       {1, func(b *bench) { b.s.Sensor[0].Last = Sample{20, b.now, false} }, true},
		"a smaller dose": {0.9, func(*bench) {}, false},
	} {
		b := givenBench(t)
		if !b.dose(0, 1, c.amount) {
			t.Fatalf("%s: no dose; reasons %v", name, b.out.Reasons[0].Names())
		}
		b.outcome(0, DoseGiven, c.amount)
		due := b.now + 3*time.Second
		c.after(b)
		b.step(CommandNone)
		if c.due {
			b.edge(name, due, missing)
		} else if _, out := b.peek(due+time.Hour, CommandNone); missing(nil, &out) {
			t.Errorf("%s: still waited for", name)
		}
	}
	b := givenBench(t) // of another pump nothing must show
	if !b.dose(1, 1, 3) {
		t.Fatal("no dose")
	}
	b.outcome(1, DoseGiven, 3)
	b.never("another pump", 10*time.Second, missing)
	b = givenBench(t)
	b.dose(0, 1, 0.9) // too small to show
	b.outcome(0, DoseGiven, 0.9)
	b.dose(1, 1, 3)
	b.outcome(1, DoseGiven, 3)
	b.never("another pump, after a small dose", 10*time.Second, missing)
	b = givenBench(t)
	b.l.Responses[0].Moves = -2
	b.dose(0, 1, 1)
	b.outcome(0, DoseGiven, 1)
	unread := b.now + 3*time.Second
	b.s.Sensor[0].Last = Sample{}
	b.step(CommandNone)
	b.edge("unread is no fall", unread, missing)
	b = givenBench(t) // nothing was seen when it went out: nothing can show
	b.dose(0, 1, 2)
	b.s.Response[0].Seen.Known = false
	b.outcome(0, DoseGiven, 2)
	due := b.now + 3*time.Second
	b.see(50)
	b.step(CommandNone)
	b.edge("nothing was seen before", due, missing)
}

// TestDoseWaits: for the interval, for the one before to show, and for a reading that is newer
// than the wish; never where nothing is to be given.
func TestDoseWaits(t *testing.T) {
	b := givenBench(t)
	b.p.Drive[0], b.p.Dose[0], b.p.Destination[0] = true, 1, 2
	b.never("no reading since it is wanted", 2*time.Second, writes)
	b.s.Sensor[0].Last.At = b.s.Dose[0].WantedAt
	b.never("a reading of that moment", 2*time.Second, writes)
	b.s.Sensor[0].Last = Sample{10, b.s.Dose[0].WantedAt + 1, false}
	b.never("none that is one", 2*time.Second, writes)
	b.s.Sensor[0].Last.Known = true
	if b.step(CommandNone); !b.out.Write[0] || b.out.Setpoint[0] != 2 {
		t.Fatal("a reading after it")
	}
	b.outcome(0, DoseGiven, 2)
	given := b.now
	b.p.Dose[0], b.p.Destination[0] = 2, 1
	b.never("the one before has not shown", 2*time.Second, writes)
	if b.out.Destination[0] != 1 {
		t.Errorf("it waits with %v, want the new amount", b.out.Destination[0])
	}
	nothing := b.p
	nothing.Dose[0], nothing.Destination[0] = 3, 0
	if s, out := Step(&b.l, b.s, &b.in, &nothing, b.now+tick); s.Dose[0].Number != 3 || !out.Arrived[0] {
		t.Error("a dose of nothing waits for the one before to show")
	}
	b.see(14)
	b.step(CommandNone)
	b.s.Sensor[0].Last.At = given + time.Minute
	b.edge("the interval", given+10*time.Second-1, writes)
	s, out := b.peek(given+5*time.Second, CommandNone)
	if !out.Reasons[0].Has(RuleBudget) || s.Dose[0].Number != 1 {
		t.Errorf("reasons %v", out.Reasons[0].Names())
	}
	b.p.Dose[0], b.p.Destination[0] = 3, 0
	if b.step(CommandNone); b.s.Dose[0].Number != 3 || b.out.Write[0] || !b.out.Arrived[0] {
		t.Error("a dose of nothing waits")
	}
	b = givenBench(t) // set aside, nothing waits
	b.dose(0, 1, 2)
	b.outcome(0, DoseGiven, 2)
	b.l.Bypasses = []Bypass{{Rule: RuleResponse, Until: time.Hour}}
	b.now += time.Minute
	if !b.dose(0, 2, 1) {
		t.Error("it waits for what is set aside")
	}
	b.outcome(0, DoseGiven, 0.5)
	b.l.Bypasses = nil
	b.never("what was set aside is not due afterwards", 10*time.Second, active(RuleResponse))
}

// TestSetAsideIsForgotten: a response that was waited for when its rule was set aside is not due
// when that ends, though the next dose has not left yet.
func TestSetAsideIsForgotten(t *testing.T) {
	b := givenBench(t)
	b.dose(0, 1, 2)
	b.outcome(0, DoseGiven, 2)
	b.l.Bypasses = []Bypass{{Rule: RuleResponse, Until: time.Hour}}
	b.now += time.Minute
	b.in.Variable[0].CanWrite = false
	b.dose(0, 2, 1)
	b.l.Bypasses = nil
	b.never("due", 10*time.Second, active(RuleResponse))
}

// TestDoseWaitsForAReadback: where the readback shows a dose, one that was not read is none.
func TestDoseWaitsForAReadback(t *testing.T) {
	b := givenBench(t)
	b.l.Responses[0].Sensor = -1
	b.p.Drive[0], b.p.Dose[0], b.p.Destination[0] = true, 1, 2
	b.step(CommandNone)
	b.in.Variable[0].Readback = Sample{0, b.now + time.Second, false}
	b.never("unread", 3*time.Second, writes)
	b.in.Variable[0].Readback.Known = true
	if b.step(CommandNone); !b.out.Write[0] {
		t.Error("it was read since")
	}
}
