package safety

import (
	"math"
	"testing"
	"time"
)

// TestBooksAgainstAList holds the rolling windows against a list of what was given: an amount
// counts for its whole window and at most one slot longer, whatever the pauses.
func TestBooksAgainstAList(t *testing.T) {
	type entry struct {
		at     time.Duration
		amount float64
	}
	for _, pauses := range [][]time.Duration{
		{time.Minute}, {4 * time.Minute, 5 * time.Minute}, {61 * time.Minute}, {65 * time.Minute}, {66 * time.Minute, time.Second}, {13 * time.Hour},
		{23 * time.Hour, time.Hour, 2 * time.Hour}, {25 * time.Hour}, {26 * time.Hour, time.Minute}, {100 * time.Hour, 30 * time.Minute},
	} {
		var d DoseState
		var all []entry
		now, total := time.Duration(0), 0.0
		for k := range 200 {
			now += pauses[k%len(pauses)]
			d.roll(now)
			for name, w := range map[string]struct {
				window, slot time.Duration
				got          float64
			}{"hour": {time.Hour, hourSlot, sum(d.Hour[:])}, "day": {24 * time.Hour, daySlot, sum(d.Day[:])}} {
				least, most := 0.0, 0.0
				for _, e := range all {
					if now-e.at < w.window {
						least += e.amount
					}
					if now-e.at < w.window+w.slot {
						most += e.amount
					}
				}
				if w.got < least-1e-9 || w.got > most+1e-9 {
					t.Fatalf("pauses %v, at %v: %v in the %s, want %v to %v", pauses, now, w.got, name, least, most)
				}
			}
			amount := float64(k%7 + 1)
			d.book(amount)
			all = append(all, entry{now, amount})
			if total += amount; d.Total != total || d.Used != total {
				t.Fatalf("total %v, used %v, want %v", d.Total, d.Used, total)
			}
		}
		d.roll(now - time.Hour) // a clock that goes back empties nothing
		if d.HourSlot != int64(now/hourSlot) || d.DaySlot != int64(now/daySlot) || sum(d.Hour[:]) == 0 {
			t.Errorf("pauses %v: going back has emptied the hour", pauses)
		}
	}
}

// TestDeliverCountsFromTheEnd: a dose that may have run until a process ended counts from then,
// once, in all windows.
func TestDeliverCountsFromTheEnd(t *testing.T) {
	charged := func() DoseState {
		var d DoseState
		d.roll(time.Hour)
		d.book(7)
		d.Number, d.Amount, d.Open, d.Dosed, d.LastAt = 1, 7, true, true, time.Hour
		d.InHour, d.InDay = d.HourSlot, d.DaySlot
		return d
	}
	d := charged()
	d.Deliver(3 * time.Hour)
	if sum(d.Hour[:]) != 7 || sum(d.Day[:]) != 7 || d.Total != 7 || d.Used != 7 || d.LastAt != 3*time.Hour {
		t.Errorf("delivered: %+v", d)
	}
	d.roll(4*time.Hour - 1)
	if sum(d.Hour[:]) != 7 {
		t.Error("it left the hour as if it had been given when it was charged")
	}
	d.unbook() // it can still be taken off, from where it stands
	if sum(d.Hour[:]) != 0 || sum(d.Day[:]) != 0 || d.Total != 0 {
		t.Errorf("taken off: %+v", d)
	}
	d = charged()
	d.Deliver(time.Minute) // not before it was charged
	if d.LastAt != time.Hour || d.Total != 7 {
		t.Errorf("delivered before: %+v", d)
	}
	for name, change := range map[string]func(*DoseState){"over": func(d *DoseState) { d.Open = false }, "a place": func(d *DoseState) { d.Number = 0 }} {
		d := charged()
		change(&d)
		before := d
		if d.Deliver(3 * time.Hour); d != before {
			t.Errorf("%s: counted again: %+v", name, d)
		}
	}
}

// TestTakenOffWhereItStands: a dose that has left a window is not taken off what is in it now.
func TestTakenOffWhereItStands(t *testing.T) {
	for _, c := range []struct {
		after     time.Duration
		hour, day float64
	}{{0, 1, 1}, {time.Hour, 1, 1}, {time.Hour + hourSlot, 1, 1}, {24 * time.Hour, 1, 1}, {25 * time.Hour, 1, 1}} {
		var d DoseState
		d.book(7)
		d.Amount = 7
		d.roll(c.after)
		d.book(1)
		d.unbook()
		if sum(d.Hour[:]) != c.hour || sum(d.Day[:]) != c.day || d.Total != 1 || d.Used != 1 {
			t.Errorf("after %v: %v in the hour, %v in the day, want %v and %v", c.after, sum(d.Hour[:]), sum(d.Day[:]), c.hour, c.day)
		}
	}
}

// TestRecalledBooks: an account made anew from a record is that of what was given.
func TestRecalledBooks(t *testing.T) {
	var d DoseState
	d.Recall(time.Hour, 2)
	d.Recall(3*time.Hour, 3)
	if sum(d.Hour[:]) != 3 || sum(d.Day[:]) != 5 || d.Total != 5 || d.Used != 5 || !d.Dosed || d.LastAt != 3*time.Hour || d.Number != 2 {
		t.Errorf("%+v", d)
	}
}

// TestBudgetEdges: what fills a budget exactly is given, what is above it by more than tenths
// add up to is not.
func TestBudgetEdges(t *testing.T) {
	for name, set := range map[string]func(l *DoseLimits, x float64){
		"dose": func(l *DoseLimits, x float64) { l.PerDose = x - 2 }, "hour": func(l *DoseLimits, x float64) { l.Hour = x },
		"day": func(l *DoseLimits, x float64) { l.Day = x }, "run": func(l *DoseLimits, x float64) { l.Run = x },
		"reservoir": func(l *DoseLimits, x float64) { l.Reservoir = x },
	} {
		for _, c := range []struct {
			limit float64
			given bool
		}{{5, true}, {5 - 1e-12, name != "dose"}, {4.99, false}} {
			b := givenBench(t)
			b.l.Doses[1] = DoseLimits{Variable: 1, PerDose: 10}
			set(&b.l.Doses[1], c.limit)
			if b.s.Dose[1].book(2); b.dose(1, 1, 3) != c.given {
				t.Errorf("%s of %v: given %v; first-out %v", name, c.limit, !c.given, names(b.s.FirstOut))
			}
			if !c.given && (b.s.Mode != Hold || !b.s.FirstOut.Has(RuleBudget) || b.out.Arrived[1] || b.out.Reasons[1] == 0 && b.s.Dose[1].Failed == false) {
				t.Errorf("%s of %v: mode %v, failed %v", name, c.limit, b.s.Mode, b.s.Dose[1].Failed)
			}
		}
	}
}

// tank is doser on a bench, in which nothing flows out; the budgets are as wide as can be.
func tank(t *testing.T) *bench {
	t.Helper()
	l := doser()
	l.Doses[0] = DoseLimits{Variable: 0, PerDose: 90, MinInterval: time.Minute}
	return newBench(t, l)
}

// TestRiseIsChargedOnce: what a tank is to rise by is charged when it is wanted, and goes when
// that is durable; wanting it on costs nothing, another wish is another dose.
func TestRiseIsChargedOnce(t *testing.T) {
	b := tank(t)
	b.in.Durable = b.s.Generation
	b.drive(10)
	b.step(CommandNone)
	if d := b.s.Dose[0]; d.Total != 10 || !d.Open || b.out.Write[0] || !b.out.Reasons[0].Has(RuleBudget) {
		t.Fatalf("charged %v, open %v, written %v before that is durable", d.Total, d.Open, b.out.Write[0])
	}
	b.never("twice, not durable", 5*time.Second, func(s *State, out *Output) bool { return out.Write[0] || s.Dose[0].Total != 10 })
	b.in.Durable = b.s.Generation
	if b.step(CommandNone); !b.out.Write[0] || b.out.Setpoint[0] != 10 {
		t.Fatal("it is durable, and not written")
	}
	b.acknowledge()
	b.read(10)
	generation := b.s.Generation
	if b.step(CommandNone); b.s.Dose[0].Open || b.s.Generation == generation {
		t.Error("acknowledged, and open still, or not to be kept")
	}
	b.in.Durable = Undurable
	b.now += 2 * time.Minute
	b.never("the same wish", 5*time.Second, func(s *State, _ *Output) bool { return s.Dose[0].Total != 10 })
	b.p.ID++ // a new wish of the same place, which the water has left
	b.read(4)
	if b.step(CommandNone); b.s.Dose[0].Total != 16 {
		t.Errorf("charged %v, want 16: 6 have flowed out", b.s.Dose[0].Total)
	}
	b.now += 2 * time.Minute
	b.p.Destination[0] = 12
	if b.step(CommandNone); b.s.Dose[0].Total != 24 {
		t.Errorf("charged %v, want 24: another place is another dose", b.s.Dose[0].Total)
	}
	b.now += 2 * time.Minute
	b.in.Variable[0].Readback.Known = false
	b.drive(30)
	if b.step(CommandNone); b.s.Dose[0].Total != 54 {
		t.Errorf("charged %v, want 54: of a tank that is not known all of it is a dose", b.s.Dose[0].Total)
	}
}

// TestRiseEdges: the interval counts for what is more than the readback's tolerance.
func TestRiseEdges(t *testing.T) {
	risen := func(t *testing.T) *bench {
		t.Helper()
		b := tank(t)
		b.drive(10)
		b.step(CommandNone)
		b.acknowledge()
		b.read(10)
		b.step(CommandNone)
		return b
	}
	b := risen(t)
	last := b.s.Dose[0].LastAt
	b.drive(10.02)
	b.edge("the next one", last+time.Minute-1, func(s *State, _ *Output) bool { return s.Dose[0].Total > 10.001 })
	b = risen(t)
	b.l.Variables[0].Tolerance = 0.5
	b.drive(10.5)
	if b.step(CommandNone); b.s.Dose[0].Total != 10.5 {
		t.Errorf("%v charged: what is within the tolerance waits", b.s.Dose[0].Total)
	}
	b = risen(t)
	b.drive(3)
	if b.step(CommandNone); b.s.Dose[0].Total != 10 || !b.out.Write[0] {
		t.Error("to lower it is no dose, and waits for nothing")
	}
}

// TestRiseOutcomes: what becomes of a rise that is on its way.
func TestRiseOutcomes(t *testing.T) {
	for name, c := range map[string]struct {
		after         func(b *bench)
		open, unknown bool
	}{
		"nothing yet":               {func(*bench) {}, true, false},
		"acknowledged":              {func(b *bench) { b.in.Variable[0].Written = Sample{10, b.now, true} }, false, false},
		"acknowledged once, not so": {func(b *bench) { b.in.Variable[0].Written = Sample{10, b.now, false} }, true, false},
		"something else":            {func(b *bench) { b.in.Variable[0].Written = Sample{9, b.now, true} }, true, false},
		"let go":                    {func(b *bench) { b.in.Variable[0].Released = true }, false, false},
		"held":                      {func(b *bench) { b.step(CommandPause) }, true, false},
		"fallen back":               {func(b *bench) { b.step(CommandFail) }, false, false},
		"fallen back, no line":      {func(b *bench) { b.in.Variable[0].CanWrite = false; b.step(CommandFail) }, true, false},
		"lost":                      {func(b *bench) { b.in.Variable[0].Lost = true }, true, true},
		"let go, and lost":          {func(b *bench) { b.in.Variable[0].Released, b.in.Variable[0].Lost = true, true }, true, true},
		"lost, then acknowledged": {func(b *bench) {
			b.in.Variable[0].Lost = true
			b.step(CommandNone)
			b.in.Variable[0].Lost = false
			b.in.Variable[0].Written = Sample{10, b.now, true}
		}, true, true},
	} {
		b := tank(t)
		b.drive(10)
		b.step(CommandNone)
		if !b.s.Dose[0].Open {
			t.Fatal("no dose")
		}
		generation := b.s.Generation
		c.after(b)
		b.step(CommandNone)
		if d := b.s.Dose[0]; d.Open != c.open || d.Unknown != c.unknown {
			t.Errorf("%s: open %v, unknown %v", name, d.Open, d.Unknown)
		}
		if changed := !c.open || c.unknown; changed != (b.s.Generation > generation) {
			t.Errorf("%s: to be kept: %v", name, !changed)
		}
		if c.unknown && (b.s.Mode != Hold || !b.s.FirstOut.Has(RuleUnknownDose)) {
			t.Errorf("%s: mode %v, first-out %v", name, b.s.Mode, names(b.s.FirstOut))
		}
	}
	b := tank(t) // unknown, and set aside by nobody: nothing more goes out
	b.drive(10)
	b.step(CommandNone)
	b.s.Dose[0].Unknown, b.s.Dose[0].Open = true, false
	b.now += 2 * time.Minute
	b.never("more of it", time.Second, writes)
	b.drive(20)
	b.never("more", 5*time.Second, func(s *State, out *Output) bool { return out.Write[0] || s.Dose[0].Total != 10 })
}

// TestRiseOnTheWayToRest: nothing is charged, and nothing rises, on the way to a safe value.
func TestRiseOnTheWayToRest(t *testing.T) {
	l := doser()
	l.Variables[0].OnFault, l.Variables[0].Safe = RestSafe, 5
	for _, c := range []struct {
		at    float64
		moves bool
	}{{5, false}, {4, false}, {6, true}} {
		b := newBench(t, l)
		b.in.Variable[0].Written, b.in.Variable[0].Readback = Sample{c.at, b.now, true}, Sample{c.at, b.now, true}
		b.step(CommandFail)
		if c.at == 5 && !b.out.Arrived[0] {
			t.Error("it is at its safe value, and has not arrived")
		}
		if b.want(Fallback); b.out.Write[0] != c.moves || b.s.Dose[0].Total != 0 {
			t.Errorf("from %v: written %v, charged %v", c.at, b.out.Write[0], b.s.Dose[0].Total)
		}
	}
}

// TestLostRiseIsChargedAnew: what a device did with what it was granted is not known after a
// lost write: the rest of the way is charged from the readback, once that is over.
func TestLostRiseIsChargedAnew(t *testing.T) {
	b := tank(t)
	b.drive(10)
	b.step(CommandNone)
	b.acknowledge()
	b.read(10)
	b.step(CommandNone)
	b.now += 2 * time.Minute
	b.read(4)
	b.in.Variable[0].Lost = true
	if b.step(CommandNone); b.s.Dose[0].Total != 16 {
		t.Errorf("charged %v, want 16: 6 are to be given again", b.s.Dose[0].Total)
	}
	b = tank(t) // of one that is open nobody grants more
	b.in.Durable = b.s.Generation
	b.drive(10)
	b.step(CommandNone)
	b.in.Variable[0].Lost = true
	b.step(CommandNone)
	b.in.Variable[0].Lost = false
	if b.never("charged again", 3*time.Second, func(s *State, _ *Output) bool { return s.Dose[0].Total != 10 }); !b.s.Dose[0].Granted {
		t.Error("the open grant is withdrawn")
	}
}

// TestRiseIsNotSentAgain: what does not show of a variable with a budget is never repeated; it
// trips when another would have been sent a fourth time.
func TestRiseIsNotSentAgain(t *testing.T) {
	l := doser()
	l.Variables[0].Timeout = 5 * time.Second
	b := newBench(t, l)
	b.drive(10)
	b.step(CommandNone)
	b.acknowledge()
	b.never("sent again", 20*time.Second, writes)
	b.want(Run)
	b.never("sent again", 10*time.Second, writes)
	if !b.s.Latched.Has(RuleReadback) && !b.s.FirstOut.Has(RuleReadback) {
		t.Errorf("mode %v, first-out %v", b.s.Mode, names(b.s.FirstOut))
	}
}

// TestAmountOutcomes: what becomes of a dose, by what the layer hears of it and when.
func TestAmountOutcomes(t *testing.T) {
	const amount = 3
	type end struct {
		open, failed, unknown bool
		total                 float64
	}
	for name, c := range map[string]struct {
		after func(b *bench)
		want  end
	}{
		"pending":                 {func(b *bench) { b.step(CommandNone) }, end{true, false, false, amount}},
		"given":                   {func(b *bench) { b.outcome(1, DoseGiven, amount) }, end{false, false, false, amount}},
		"more than was asked for": {func(b *bench) { b.outcome(1, DoseGiven, 4) }, end{false, false, false, 4}},
		"less":                    {func(b *bench) { b.outcome(1, DoseGiven, 1) }, end{false, false, false, amount}},
		"an amount of nothing":    {func(b *bench) { b.outcome(1, DoseGiven, math.NaN()) }, end{false, false, false, amount}},
		"not given":               {func(b *bench) { b.outcome(1, DoseNotGiven, 0) }, end{false, true, false, 0}},
		"unknown":                 {func(b *bench) { b.outcome(1, DoseUnknown, 9) }, end{true, true, true, amount}},
		"lost":                    {func(b *bench) { b.in.Variable[1].Lost = true; b.step(CommandNone) }, end{true, true, true, amount}},
		"given, and then lost":    {func(b *bench) { b.in.Variable[1].Lost = true; b.outcome(1, DoseGiven, amount) }, end{false, false, false, amount}},
		"not given, and lost":     {func(b *bench) { b.in.Variable[1].Lost = true; b.outcome(1, DoseNotGiven, 0) }, end{false, true, false, 0}},
		"unknown, then given":     {func(b *bench) { b.outcome(1, DoseUnknown, 0); b.outcome(1, DoseGiven, 9) }, end{true, true, true, amount}},
		"over, then told again":   {func(b *bench) { b.outcome(1, DoseGiven, amount); b.outcome(1, DoseNotGiven, 0) }, end{false, false, false, amount}},
	} {
		b := givenBench(t)
		if !b.dose(1, 1, amount) {
			t.Fatal("no dose")
		}
		b.now += time.Hour
		generation := b.s.Generation
		c.after(b)
		d := b.s.Dose[1]
		if got := (end{d.Open, d.Failed, d.Unknown, d.Total}); got != c.want || d.Used != c.want.total || sum(d.Day[:]) != c.want.total {
			t.Errorf("%s: %+v, want %+v; %v in the day", name, got, c.want, sum(d.Day[:]))
		}
		b.step(CommandNone)
		if b.out.Failed[1] != c.want.failed && !c.want.unknown || b.out.Arrived[1] != (!c.want.open && !c.want.failed) {
			t.Errorf("%s: failed %v, arrived %v", name, b.out.Failed[1], b.out.Arrived[1])
		}
		over := name != "pending"
		if over != (b.s.Generation > generation) {
			t.Errorf("%s: to be kept: %v", name, !over)
		}
		if over && d.LastAt <= time.Hour && !(c.want.failed && !c.want.unknown) {
			t.Errorf("%s: counts from %v, when it was charged", name, d.LastAt)
		}
		if c.want.unknown && (b.s.Mode != Hold || !b.s.FirstOut.Has(RuleUnknownDose)) {
			t.Errorf("%s: mode %v", name, b.s.Mode)
		}
	}
}

// TestAmountThatWaits: one that is charged and not out yet is taken off the books when another
// is wanted, or none; while it is wanted it waits for its record and its line.
func TestAmountThatWaits(t *testing.T) {
	charged := func(t *testing.T) *bench {
		t.Helper()
		b := givenBench(t)
		b.in.Variable[1].CanWrite = false
		if b.dose(1, 1, 3) || b.s.Dose[1].Total != 3 || !b.s.Dose[1].Open {
			t.Fatal("not charged")
		}
		return b
	}
	b := charged(t)
	b.never("no line", 3*time.Second, func(_ *State, out *Output) bool { return out.Write[1] || out.Arrived[1] || out.Failed[1] })
	b.in.Variable[1].Lost = true // of what has not left nothing is lost
	b.never("lost before it left", 3*time.Second, func(s *State, _ *Output) bool { return !s.Dose[1].Open || s.Dose[1].Unknown })
	b.in.Variable[1].Lost, b.in.Variable[1].CanWrite = false, true
	if b.step(CommandNone); !b.out.Write[1] || b.out.Setpoint[1] != 3 || b.out.Destination[1] != 3 {
		t.Error("it is not given though its line is free")
	}
	b.never("twice", 3*time.Second, func(_ *State, out *Output) bool { return out.Write[1] })
	for name, want := range map[string]int64{"none": 0, "another": 2} {
		b := charged(t)
		b.p.Dose[1] = want
		if b.step(CommandNone); want == 0 && (b.s.Dose[1].Open || b.s.Dose[1].Total != 0) || want == 2 && b.s.Dose[1].Total != 3 {
			t.Errorf("%s is wanted: open %v, total %v", name, b.s.Dose[1].Open, b.s.Dose[1].Total)
		}
	}
	b = charged(t)
	b.p.Dose[1] = 0 // no dose is wanted: nothing is said of one
	if b.step(CommandNone); b.out.Arrived[1] || b.out.Failed[1] || b.out.Destination[1] != 0 {
		t.Errorf("said of no dose: %v %v", b.out.Arrived[1], b.out.Failed[1])
	}
	b = givenBench(t)
	b.dose(1, 5, 3)
	b.outcome(1, DoseGiven, 3)
	b.p.Dose[1] = 4 // a number that was passed over is never given
	b.never("an old number", 3*time.Second, func(s *State, out *Output) bool { return out.Write[1] || out.Arrived[1] || s.Dose[1].Number != 5 })
}

// TestAmountOutLasts: one that is out is waited for, whatever is wanted meanwhile.
func TestAmountOutLasts(t *testing.T) {
	for name, want := range map[string]int64{"none": 0, "another": 2} {
		b := givenBench(t)
		b.dose(1, 1, 3)
		b.p.Dose[1] = want
		b.never(name, 3*time.Second, func(s *State, out *Output) bool {
			return s.Dose[1].Number != 1 || !s.Dose[1].Open || s.Dose[1].Total != 3 || out.Write[1]
		})
	}
	b := givenBench(t) // one that is not out yet has no outcome
	b.in.Variable[1].CanWrite = false
	b.dose(1, 1, 3)
	if b.outcome(1, DoseGiven, 3); !b.s.Dose[1].Open {
		t.Error("over before it was out")
	}
	b = givenBench(t) // it counts from when it was over, and is taken off where it was charged
	b.now += 3 * time.Hour
	b.dose(1, 1, 3)
	b.now += 50 * time.Minute
	b.outcome(1, DoseGiven, 3)
	d := b.s.Dose[1]
	if d.roll(b.now + 50*time.Minute); sum(d.Hour[:]) != 3 {
		t.Error("it left the hour as if it had been given when it was charged")
	}
	b = givenBench(t)
	b.now += 3 * time.Hour
	b.dose(1, 1, 3)
	if b.outcome(1, DoseNotGiven, 0); sum(b.s.Dose[1].Hour[:]) != 0 || sum(b.s.Dose[1].Day[:]) != 0 {
		t.Errorf("not given, and in the books: %v", b.s.Dose[1])
	}
}

// TestBudgetsInAnyOrder: a budget belongs to its variable, wherever it stands.
func TestBudgetsInAnyOrder(t *testing.T) {
	b := givenBench(t)
	b.l.Doses[0], b.l.Doses[1] = b.l.Doses[1], b.l.Doses[0]
	if !b.dose(1, 1, 3) || b.out.Setpoint[1] != 3 || b.s.Dose[0].Total != 3 || b.s.Dose[1].Total != 0 {
		t.Errorf("charged %v and %v", b.s.Dose[0].Total, b.s.Dose[1].Total)
	}
}

// TestNoDoseSaysNothing: before the first dose, and of one that was not begun, nothing is said.
func TestNoDoseSaysNothing(t *testing.T) {
	b := givenBench(t)
	b.step(CommandPause)
	if b.out.Arrived[1] || b.out.Failed[1] {
		t.Error("said of none")
	}
	b = givenBench(t)
	b.dose(1, 1, 3)
	b.outcome(1, DoseGiven, 3)
	b.step(CommandPause)
	b.p.Dose[1] = 2
	if b.step(CommandNone); b.out.Arrived[1] || b.out.Failed[1] {
		t.Error("the one before is taken for it")
	}
}

// TestDoseAssertEdges: a dose of nothing, or of more than may be, is never out.
func TestDoseAssertEdges(t *testing.T) {
	for _, c := range []struct {
		amount float64
		good   bool
	}{{0, false}, {-1, false}, {1e-9, true}, {5, true}, {5.001, false}, {math.NaN(), false}, {math.Inf(1), false}} {
		b := givenBench(t)
		x := pass{l: &b.l, s: &b.s, in: &b.in, p: &b.p, out: &Output{}, now: b.now}
		if got := x.assertDose(1, c.amount); got != c.good || b.s.raised.Has(RuleAssert) == c.good {
			t.Errorf("%v: %v", c.amount, got)
		}
	}
	if over(1, 1+1e-9) || !over(1, 1+3e-9) || over(0, 1e9) {
		t.Error("the rounding of a budget")
	}
}

// TestAmountInAHold: nothing is begun, nothing goes out, and what becomes of one is still said.
func TestAmountInAHold(t *testing.T) {
	b := givenBench(t)
	b.dose(1, 1, 3)
	b.step(CommandPause)
	b.want(Hold)
	if b.outcome(1, DoseGiven, 3); !b.out.Arrived[1] {
		t.Error("given, and not said in the hold")
	}
	b.p.Dose[1] = 2
	b.never("begun in a hold", 3*time.Second, func(s *State, out *Output) bool { return out.Write[1] || s.Dose[1].Number != 1 })
}

// TestAmountNotFinite counts as refused, and three of them hold the run.
func TestAmountNotFinite(t *testing.T) {
	b := givenBench(t)
	for n := int64(1); n <= rejectedMax; n++ {
		b.p.ID++
		if b.dose(1, n, math.NaN()) || b.s.Dose[1].Total != 0 {
			t.Fatal("given")
		}
	}
	if b.step(CommandNone); b.s.Mode != Hold {
		t.Errorf("mode %v after %d that are no numbers", b.s.Mode, rejectedMax)
	}
}

// TestAmountShowsOnSensors: a dose is something that a stuck sensor should have shown.
func TestAmountShowsOnSensors(t *testing.T) {
	b := givenBench(t)
	b.s.Sensor[0].OutputMoved = false
	if b.dose(1, 1, 3); !b.s.Sensor[0].OutputMoved {
		t.Error("a dose moves nothing")
	}
}
