package safety

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/labtuner/tuner/scripts/testsize"
)

// feeder is a pump that adds at most 5 mL at once, by 0.1, and an EC probe that sees it.
func feeder() Limits {
	return Limits{Tick: time.Second, HoldMax: 1000 * time.Hour, DurableWait: 2 * time.Second,
		Variables: []VariableLimits{{Dose: true, High: 5, Resolution: 0.1, OnFault: RestOff, Shutdown: RestOff}},
		Sensors:   []SensorLimits{{Low: 0, High: 100, MaxAge: 10 * time.Second}},
		Doses:     []DoseLimits{{Variable: 0, PerDose: 5, Hour: 12, Day: 20, Run: 40, Reservoir: 30, MinInterval: time.Minute}}}
}

// shown makes a dose of 1 or more raise the probe by 0.5 within ten minutes.
func shown(l Limits, moves float64) Limits {
	l.Responses = []ResponseLimits{{Variable: 0, Sensor: 0, Change: 1, Moves: moves, Within: 10 * time.Minute}}
	return l
}

// pump is the far side of a feeder: what it has been given, and what it says of it.
type pump struct {
	*rig
	given []float64
	// says is what becomes of a dose in the tick after it went out.
	says DoseOutcome
	// perML is what the probe sees of 1 mL.
	perML float64
}

func newPump(t *testing.T, l Limits) *pump {
	p := &pump{rig: newRig(t, l, 0), says: DoseGiven, perML: 1}
	p.in.Variable[0].Readback = Sample{}
	p.read[0] = 10
	return p
}

// pass lets time pass: the pump takes what it is told and answers in the next tick.
func (p *pump) pass(d time.Duration) {
	p.t.Helper()
	for range max(int(d/p.l.Tick), 1) {
		p.step(CommandNone)
	}
}

func (p *pump) step(c Command) {
	p.t.Helper()
	p.rig.tick(c)
	in := &p.in.Variable[0]
	in.Written, in.Dose, in.Delivered = Sample{}, DosePending, 0
	if p.out.Write[0] {
		p.given = append(p.given, p.out.Setpoint[0])
		p.read[0] += p.perML * p.out.Setpoint[0]
		in.Dose, in.Delivered, in.Released = p.says, p.out.Setpoint[0], false
	}
}

// want asks for a dose under the next number.
func (p *pump) dose(amount float64) *pump {
	p.p.ID++
	p.p.Drive[0], p.p.Destination[0] = true, amount
	p.p.Dose[0]++
	return p
}

func (p *pump) total() (sum float64) {
	for _, x := range p.given {
		sum += x
	}
	return sum
}

func TestDoseIsGivenOnce(t *testing.T) {
	p := newPump(t, feeder())
	p.running()
	p.says = DosePending
	p.dose(2).pass(time.Minute)
	if len(p.given) != 1 || p.out.Arrived[0] {
		t.Fatalf("given %v while its outcome was awaited, arrived %v", p.given, p.out.Arrived[0])
	}
	p.in.Variable[0].Dose, p.in.Variable[0].Delivered = DoseGiven, 2
	p.pass(time.Hour)
	if len(p.given) != 1 || !p.out.Arrived[0] || p.out.Failed[0] {
		t.Errorf("given %v, arrived %v, failed %v", p.given, p.out.Arrived[0], p.out.Failed[0])
	}
	p.p.Dose[0] = 0
	p.pass(time.Minute)
	p.p.Dose[0] = 1 // what was dealt with comes again
	p.pass(time.Hour)
	if len(p.given) != 1 {
		t.Errorf("given again: %v", p.given)
	}
	p.says = DoseGiven
	p.dose(2).pass(time.Minute)
	p.p.Dose[0] = 1
	p.pass(2 * time.Minute)
	p.p.Dose[0] = 2
	p.dose(0).pass(time.Minute)
	if len(p.given) != 2 || !p.out.Arrived[0] || p.s.Dose[0].Total != 4 {
		t.Errorf("given %v, booked %v", p.given, p.s.Dose[0].Total)
	}
}

func TestDosesAreCut(t *testing.T) {
	l := feeder().Variables[0]
	for _, c := range []struct {
		ask, get float64
		why      []string
	}{
		{0, 0, nil}, {0.1, 0.1, nil}, {0.3, 0.3, nil}, {4.999, 4.9, []string{"resolution"}}, {5, 5, nil}, {0.05, 0, []string{"resolution"}},
		{6, 5, []string{"hard-bounds"}}, {-1, 0, []string{"hard-bounds"}}, {math.NaN(), 0, []string{"not-finite"}},
		{math.Inf(1), 0, []string{"not-finite"}},
	} {
		got, why := l.Clamp(c.ask, 3)
		if math.Abs(got-c.get) > 1e-12 || got > max(c.ask, 0) || len(why.Names()) != len(c.why) || len(c.why) > 0 && why.Names()[0] != c.why[0] {
			t.Errorf("%v: %v because of %v, want %v, %v", c.ask, got, why.Names(), c.get, c.why)
		}
	}
	p := newPump(t, feeder())
	p.running()
	p.dose(7.77).pass(time.Minute)
	if p.dose(math.NaN()).pass(time.Minute); p.total() != 5 {
		t.Errorf("given %v", p.given)
	}
}

func TestDoseBudgets(t *testing.T) {
	p := newPump(t, feeder())
	p.running()
	give := func(amount float64) { p.dose(amount).pass(2 * time.Minute) }
	refused := func(what string) {
		t.Helper()
		p.want(Hold)
		p.wantFirstOut(RuleBudget)
		if !p.out.Failed[0] {
			t.Errorf("%s: the dose is still to come", what)
		}
		p.step(CommandResume)
		p.pass(time.Hour + 10*time.Minute)
		p.want(Run)
	}
	give(5)
	give(5)
	give(3) // 13 in an hour
	refused("hour")
	if p.total() != 10 {
		t.Fatalf("given %v", p.given)
	}
	give(5)
	give(5)
	p.pass(time.Hour + 10*time.Minute)
	give(1) // 21 in a day
	refused("day")
	p.pass(26 * time.Hour)
	give(5)
	give(5)
	p.pass(2 * time.Hour)
	give(5) // 35 of a bottle with 30
	refused("reservoir")
	if p.total() != 30 {
		t.Fatalf("given %v", p.given)
	}
	p.s.Dose[0].Used = 0 // filled up
	p.pass(26 * time.Hour)
	give(5)
	give(5)
	p.pass(2 * time.Hour)
	give(1) // 41 in the run
	refused("run")
	l := feeder()
	l.Doses[0].PerDose = 4
	p = newPump(t, l)
	p.running()
	give(4.5)
	refused("per dose")
	if len(p.given) != 0 {
		t.Errorf("given %v", p.given)
	}
}

func TestDosesKeepTheirInterval(t *testing.T) {
	p := newPump(t, feeder())
	p.running()
	p.dose(2).pass(3 * time.Second)
	at := p.now
	p.dose(2)
	for len(p.given) < 2 {
		if p.want(Run); p.now-at > 2*time.Minute {
			t.Fatal("never given")
		}
		p.step(CommandNone)
	}
	// The interval runs from when the first was known to be given, a tick after it.
	if p.now-at < time.Minute-3*time.Second {
		t.Errorf("after %v", p.now-at)
	}
}

func TestDoseOfAmountWaitsForItsRecord(t *testing.T) {
	p := newPump(t, feeder())
	p.running()
	p.in.Durable = p.s.Generation
	p.dose(3).pass(time.Minute)
	if len(p.given) != 0 || p.s.Dose[0].Total != 3 || !p.s.Dose[0].Open {
		t.Fatalf("given %v before its charge was durable; %+v", p.given, p.s.Dose[0])
	}
	p.in.Durable = p.s.Generation
	p.pass(time.Second)
	if len(p.given) != 1 {
		t.Errorf("given %v", p.given)
	}
}

func TestUnknownDoseCountsAndHolds(t *testing.T) {
	p := newPump(t, feeder())
	p.running()
	p.says = DoseUnknown
	p.dose(3).pass(time.Minute)
	p.want(Hold)
	p.wantFirstOut(RuleUnknownDose)
	if len(p.given) != 1 || p.s.Dose[0].Total != 3 || !p.out.Failed[0] && p.s.Mode == Run {
		t.Fatalf("given %v, booked %v", p.given, p.s.Dose[0].Total)
	}
	p.says = DoseGiven
	p.step(CommandResume)
	p.pass(time.Hour)
	if p.want(Run); len(p.given) != 1 || !p.out.Failed[0] || p.out.Arrived[0] {
		t.Errorf("given %v after the acknowledgement", p.given)
	}
	p.dose(1).pass(time.Hour)
	if len(p.given) != 2 || p.s.Dose[0].Total != 4 {
		t.Errorf("given %v, booked %v", p.given, p.s.Dose[0].Total)
	}
}

func TestDoseThatWasNotGivenIsTakenOffTheBooks(t *testing.T) {
	p := newPump(t, feeder())
	p.running()
	p.says = DoseNotGiven
	p.dose(3).pass(time.Hour)
	d := &p.s.Dose[0]
	if p.want(Run); len(p.given) != 1 || d.Total != 0 || d.Used != 0 || sum(d.Hour[:]) != 0 || sum(d.Day[:]) != 0 || !p.out.Failed[0] {
		t.Fatalf("given %v, %+v, failed %v", p.given, *d, p.out.Failed[0])
	}
	// One that never went out, because nobody wants it any more.
	p.in.Variable[0].CanWrite = false
	p.dose(3).pass(time.Minute)
	if d = &p.s.Dose[0]; !d.Open || d.Total != 3 {
		t.Fatalf("%+v", *d)
	}
	n := p.p.Dose[0]
	p.p.Dose[0] = 0
	p.pass(time.Second)
	p.p.Dose[0] = n
	p.in.Variable[0].CanWrite = true
	p.pass(time.Minute)
	if d = &p.s.Dose[0]; d.Open || d.Total != 0 || len(p.given) != 1 {
		t.Errorf("%+v, given %v", *d, p.given)
	}
	// A pump that has given more than it was told.
	p.says = DosePending
	p.dose(1).pass(time.Minute)
	p.in.Variable[0].Dose, p.in.Variable[0].Delivered = DoseGiven, 4
	p.pass(time.Second)
	if d = &p.s.Dose[0]; d.Total != 4 {
		t.Errorf("booked %v, want 4", d.Total)
	}
}

// TestNoDoseOutsideRun: in no other mode does anything go out, or is anything held, sent
// again or driven to a rest state but by stopping.
func TestNoDoseOutsideRun(t *testing.T) {
	for mode := range modeCount {
		p := newPump(t, feeder())
		p.running()
		p.dose(2).pass(2 * time.Minute)
		p.dose(2)
		p.s.Mode, p.s.Paused = mode, mode == Hold
		if mode == Init {
			p.in.Ready = false
		}
		given := len(p.given)
		p.pass(time.Minute)
		if mode != Run && len(p.given) != given {
			t.Errorf("%v: given %v", mode, p.given)
		}
		if stops := mode >= Fallback; p.out.Release[0] != stops && !p.in.Variable[0].Released {
			t.Errorf("%v: stopped: %v", mode, p.out.Release[0])
		}
	}
}

func TestDoseMustShow(t *testing.T) {
	for _, c := range []struct {
		perML, moves float64
		trips        bool
	}{{1, 0.5, false}, {0, 0.5, true}, {-1, 0.5, true}, {-1, -0.5, false}, {1, -0.5, true}} {
		p := newPump(t, shown(feeder(), c.moves))
		p.perML = c.perML
		p.running()
		p.dose(2).pass(time.Minute)
		p.dose(2).pass(5 * time.Minute)
		if given := len(p.given); given != map[bool]int{true: 1, false: 2}[c.trips] {
			t.Errorf("%+v: given %v: the second waits for the first to show", c, p.given)
		}
		if p.want(Run); !c.trips {
			p.pass(time.Hour)
			p.want(Run)
			continue
		}
		p.pass(6 * time.Minute)
		p.want(Tripped)
		p.wantFirstOut(RuleResponse)
	}
	// A dose that is too small to show is not waited for, and none is given blind.
	p := newPump(t, shown(feeder(), 0.5))
	p.perML = 0
	p.running()
	p.dose(0.9).pass(time.Hour)
	if p.want(Run); len(p.given) != 1 {
		t.Errorf("given %v", p.given)
	}
	delete(p.read, 0)
	p.pass(time.Minute)
	p.dose(2).pass(time.Hour)
	if len(p.given) != 1 {
		t.Errorf("given %v without a reading of what should show it", p.given)
	}
}

// TestFinalAssertOfADose: an amount that should be impossible is never given.
func TestFinalAssertOfADose(t *testing.T) {
	for _, amount := range []float64{50, -1, math.NaN(), math.Inf(1)} {
		p := newPump(t, feeder())
		p.running()
		p.in.Variable[0].CanWrite = false
		p.dose(3).pass(time.Minute)
		p.s.Dose[0].Amount = amount // nothing in the layer does this
		p.in.Variable[0].CanWrite = true
		p.pass(10 * time.Second)
		p.want(Tripped)
		if p.wantFirstOut(RuleAssert); len(p.given) != 0 {
			t.Errorf("given %v", p.given)
		}
	}
}

func TestBadDoseLimits(t *testing.T) {
	for name, spoil := range map[string]func(*Limits){
		"low":        func(l *Limits) { l.Variables[0].Low = -1 },
		"high":       func(l *Limits) { l.Variables[0].High = 0 },
		"infinite":   func(l *Limits) { l.Variables[0].High = math.Inf(1) },
		"resolution": func(l *Limits) { l.Variables[0].Resolution = 6 },
		"safe":       func(l *Limits) { l.Variables[0].OnFault = RestSafe },
		"safe: end":  func(l *Limits) { l.Variables[0].Shutdown = RestSafe },
		"safe: stop": func(l *Limits) { l.Variables[0].OnStop = RestSafe },
		"lease":      func(l *Limits) { l.Variables[0].Lease = time.Hour },
		"no budget":  func(l *Limits) { l.Doses = nil },
		"two":        func(l *Limits) { l.Doses = append(l.Doses, l.Doses[0]) },
		"zero":       func(l *Limits) { l.Doses[0].PerDose = 0 },
		"response":   func(l *Limits) { *l = shown(*l, 0) },
	} {
		l := feeder()
		spoil(&l)
		if l.Check() == nil {
			t.Errorf("%s: not refused", name)
		}
	}
}

// TestAmountsHoldAcrossCrashes doses at random against a pump that may be slow, refuse
// or say nothing, kills the process between any two ticks, when what was last written
// may not be on the disk yet, and adds up what the pump has been given by itself.
func TestAmountsHoldAcrossCrashes(t *testing.T) {
	const seed = 11
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 2))
	l := feeder()
	l.Tick = 20 * time.Second
	l.Doses[0] = DoseLimits{Variable: 0, PerDose: 4, Hour: 10, Day: 60, Run: 1e9, Reservoir: 1e9, MinInterval: 2 * time.Minute}
	p := newPump(t, l)
	p.in.Durable = 0
	type event struct {
		at     time.Duration
		amount float64
		number int64
	}
	var all []event
	window := func(now, w time.Duration) (total float64) {
		for k := len(all) - 1; k >= 0 && now-all[k].at < w; k-- {
			total += all[k].amount
		}
		return total
	}
	disk, pending := p.s.Save(), p.s.Save()
	crashes, unknown, busy := 0, 0, 0
	var outcome DoseOutcome
	ticks := testsize.Of(30_000, 250_000)
	for range ticks {
		if rng.IntN(150) == 0 {
			disk.At = p.now
			p.s, p.in.Durable, busy, outcome = Boot(disk), disk.Generation, 0, DosePending
			p.p = Proposal{}
			pending = p.s.Save()
			crashes++
		}
		command := CommandNone
		switch p.s.Mode {
		case Idle:
			command = [...]Command{CommandResume, CommandArm}[rng.IntN(2)]
		case Armed:
			command = CommandStart
		case Hold:
			command = CommandResume
		}
		p.p.Drive[0] = true
		if d := &p.s.Dose[0]; rng.IntN(4) == 0 {
			p.p.ID++
			p.p.Dose[0], p.p.Destination[0] = d.Number+1, rng.Float64()*5
		} else if rng.IntN(10) == 0 {
			p.p.Dose[0] = 0
		}
		in := &p.in.Variable[0]
		in.Dose, in.Delivered, in.CanWrite = DosePending, 0, busy == 0
		if busy > 0 {
			if busy--; busy == 0 {
				in.Dose = outcome
				in.Delivered = p.s.Dose[0].Amount
			}
		}
		p.rig.tick(command)
		in.Written = Sample{}
		if p.out.Write[0] {
			d := &p.s.Dose[0]
			busy, outcome = 1+rng.IntN(30), [...]DoseOutcome{DoseGiven, DoseGiven, DoseGiven, DoseNotGiven, DoseUnknown}[rng.IntN(5)]
			if d.Generation > p.in.Durable {
				t.Fatalf("at %v: given before its charge was durable", p.now)
			}
			if outcome != DoseNotGiven {
				if outcome == DoseUnknown {
					unknown++
				}
				// A slow pump has given it all at the end of its time at the latest; a dead
				// process's dose at once.
				all = append(all, event{p.now, p.out.Setpoint[0], d.Number})
			}
			for k := max(len(all)-20, 0); k < len(all)-1; k++ {
				if outcome != DoseNotGiven && all[k].number == d.Number {
					t.Fatalf("at %v: dose %d given twice", p.now, d.Number)
				}
			}
			if n := len(all); outcome != DoseNotGiven && n > 1 && all[n-1].at-all[n-2].at < 2*time.Minute {
				t.Fatalf("at %v: %v after the last", p.now, all[n-1].at-all[n-2].at)
			}
			const slack = 1 + 1e-6
			if x := p.out.Setpoint[0]; x > 4*slack || window(p.now, time.Hour) > 10*slack || window(p.now, 24*time.Hour) > 60*slack {
				t.Fatalf("at %v: dose %v, hour %v, day %v", p.now, x, window(p.now, time.Hour), window(p.now, 24*time.Hour))
			}
		}
		// The disk is behind by some ticks.
		if rng.IntN(3) == 0 {
			disk = pending
			p.in.Durable = disk.Generation
		}
		if p.s.Generation != pending.Generation {
			pending = p.s.Save()
		}
	}
	if len(all) < ticks/250 || crashes < ticks/1250 || unknown < ticks/2500 {
		t.Errorf("%d doses, %d crashes, %d unknown: too few to show anything", len(all), crashes, unknown)
	}
	t.Logf("%d doses, %d crashes, %d unknown outcomes", len(all), crashes, unknown)
}
