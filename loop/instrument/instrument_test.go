package instrument

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/worker"
	"github.com/labtuner/tuner/safety"
)

// bench is a device with a knob that reads itself back, and a pump.
type bench struct{ knob, pumped float64 }

func (b *bench) Open(context.Context) ([]drivers.Channel, error) {
	return []drivers.Channel{{Name: "knob", Access: drivers.ReadWrite, Min: 0, Max: 10, CanRelease: true},
		{Name: "pump", Access: drivers.ReadWrite, Max: 10, Dose: true, CanRelease: true}}, nil
}

func (b *bench) Read(context.Context, []string) (drivers.Reading, error) {
	return drivers.Reading{Values: map[string]float64{"knob": b.knob}}, nil
}

func (b *bench) Write(_ context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	if x, ok := s.Values["knob"]; ok {
		b.knob = x
	}
	b.pumped += s.Values["pump"]
	return drivers.Reading{}, nil
}

func (b *bench) Halt(context.Context) error { return nil }
func (b *bench) Close() error               { return nil }

// watch is a clock that a test moves.
type watch struct{ now time.Time }

func (w *watch) Now() time.Time { return w.now }

// trial is an open instrument in virtual time: a knob and a pump.
type trial struct {
	*Instrument
	*bench
	clock *watch
	pool  *worker.Pool
}

func newTrial(t *testing.T) *trial {
	t.Helper()
	o := &plan.Options{Tick: time.Second, Outages: plan.Outages{Wait: true, Window: time.Hour, Retries: 3}, Variables: []plan.Variable{
		{Name: "knob", Channel: plan.Channel{Name: "knob"}, Actuated: true, High: 10, Settle: time.Minute},
		{Name: "pump", Channel: plan.Channel{Name: "pump"}, Actuated: true, Dose: true, High: 10}}}
	b, clock, pool := &bench{}, &watch{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}, worker.NewVirtual()
	x := New(Options{Plan: o, Devices: []Device{{Name: "bench", Device: b}}, Clock: clock, Run: "run"}, pool)
	tr := &trial{x, b, clock, pool}
	x.Open(t.Context())
	tr.drain(t, safety.Run)
	if err := x.Check(); err != nil {
		t.Fatal(err)
	}
	return tr
}

func (tr *trial) present(m safety.Mode) Present {
	return Present{Now: tr.clock.now, Mode: m, Reconnects: true, Moving: true}
}

// drain takes in what the jobs have brought, and returns what was told.
func (tr *trial) drain(t *testing.T, m safety.Mode) (events []any) {
	t.Helper()
	for results := tr.pool.Take(); len(results) > 0; results = tr.pool.Take() {
		told, mine := tr.Handle(tr.present(m), results[0].Value)
		if !mine {
			t.Fatalf("nobody's: %+v", results[0])
		}
		events = append(events, told...)
	}
	return events
}

// inputs are what the safety layer knows of variable i.
func (tr *trial) inputs(m safety.Mode, i int) safety.VariableInput {
	var in safety.Inputs
	tr.Inputs(&in, tr.present(m), func(at time.Time) time.Duration { return at.Sub(tr.clock.now) })
	return in.Variable[i]
}

// TestWishRulingWire: what the layer said of one wish says nothing of the next, and what the
// device has acknowledged outlives both.
func TestWishRulingWire(t *testing.T) {
	tr := newTrial(t)
	rule := func(arrived bool) {
		var out safety.Output
		out.Write[0], out.Setpoint[0], out.Arrived[0] = true, 4, arrived
		tr.Rule(tr.present(safety.Run), &out, false)
		tr.Apply(tr.present(safety.Run), &out)
		tr.drain(t, safety.Run)
	}
	if changed := tr.Aim(0, 4, false); !changed || tr.InPlace(0) {
		t.Errorf("a new wish: changed %v, in place %v", changed, tr.InPlace(0))
	}
	rule(false)
	if tr.InPlace(0) || tr.Written(0) != 4 || tr.knob != 4 {
		t.Errorf("written %v, knob at %v, and in place %v though the layer has not said so", tr.Written(0), tr.knob, tr.InPlace(0))
	}
	rule(true)
	if changed := tr.Aim(0, 4, false); changed || !tr.InPlace(0) {
		t.Errorf("the same wish: changed %v, in place %v", changed, tr.InPlace(0))
	}
	if changed := tr.Aim(0, 5, false); !changed || tr.InPlace(0) || tr.Written(0) != 4 {
		t.Errorf("another wish: changed %v, in place %v, written %v", changed, tr.InPlace(0), tr.Written(0))
	}
	var wish safety.Proposal
	tr.LetGo(0)
	tr.Wish(&wish, 1)
	if !math.IsNaN(tr.Written(0)) || tr.InPlace(0) || !wish.Release[0] {
		t.Errorf("let go: written %v, in place %v", tr.Written(0), tr.InPlace(0))
	}
}

// TestOldReadingIsNoNews: a device that gives an older value after a newer one has said nothing
// new, neither of where an actuator stands nor of a sensor; one of the same moment counts.
func TestOldReadingIsNoNews(t *testing.T) {
	tr := newTrial(t)
	tr.plan.Sensors = []plan.Sensor{{Name: "level", Channel: plan.Channel{Name: "level"}}}
	tr.sensors, tr.oddSensors = make([]plan.Reading, 1), make([]plan.Reading, 1)
	now := tr.clock.now
	hear := func(value float64, at time.Time) int {
		return len(tr.Accept(&Heard{0, drivers.Reading{Values: map[string]float64{"knob": value, "level": value}, At: at}, at}, func(int, float64, time.Time) bool { return true }))
	}
	for _, c := range []struct {
		value, want float64
		at          time.Time
		renewed     int
	}{{3, 3, now, 1}, {4, 3, now.Add(-1), 0}, {5, 5, now, 1}, {6, 6, now.Add(1), 1}} {
		n := hear(c.value, c.at)
		if knob, level := tr.Variable(0).Value, tr.Sensor(0).Value; n != c.renewed || knob != c.want || level != c.want {
			t.Errorf("%v of %v: knob %v, level %v, %d renewed; want %v", c.value, c.at.Sub(now), knob, level, n, c.want)
		}
	}
}

// TestAcknowledgedAfterALoss: the value that a device had before a lost write is acknowledged
// anew, as of the later write.
func TestAcknowledgedAfterALoss(t *testing.T) {
	tr := newTrial(t)
	write := func(err error) safety.Sample {
		tr.acknowledge(0, &wrote{batch: batch{setpoints: drivers.Setpoints{Values: map[string]float64{"knob": 4}}}, asked: tr.clock.now, err: err})
		return tr.inputs(safety.Run, 0).Written
	}
	first := write(nil).At
	tr.clock.now = tr.clock.now.Add(time.Second)
	if again := write(nil); again.At != first-time.Second {
		t.Errorf("said again, it counts from %v, and was first acknowledged at %v", again.At, first-time.Second)
	}
	write(drivers.ErrUnavailable)
	if again := write(nil); again.Value != 4 || again.At != first {
		t.Errorf("after a loss: %+v, want 4 of now", again)
	}
}

// TestDoseOutcomeOutlivesTheWish: the run ends between a dose and the tick that would have told
// the safety layer. It is told all the same, once.
func TestDoseOutcomeOutlivesTheWish(t *testing.T) {
	tr := newTrial(t)
	tr.AimDose(1, 3, 1, false)
	var out safety.Output
	out.Write[1], out.Setpoint[1] = true, 3
	tr.Rule(tr.present(safety.Run), &out, false)
	doses := tr.Apply(tr.present(safety.Run), &out)
	if len(doses) != 1 || tr.Intent(doses[0]).Values["pump"] != 3 || tr.pumped != 0 {
		t.Fatalf("%d doses, %v pumped before the intent is durable", len(doses), tr.pumped)
	}
	tr.Intended(tr.present(safety.Run), doses[0], 7)
	tr.drain(t, safety.Run)
	tr.ForgetDoses()
	tr.LetGo(1)
	if in := tr.inputs(safety.Run, 1); tr.pumped != 3 || in.Dose != safety.DoseGiven || in.Delivered != 3 {
		t.Errorf("%v pumped, told %+v", tr.pumped, in)
	}
	tr.Rule(tr.present(safety.Run), &safety.Output{}, false)
	if in := tr.inputs(safety.Run, 1); in.Dose != safety.DosePending {
		t.Errorf("told again: %+v", in)
	}
}

// TestCameBackUntilRuled: what commands would come to may be asked any number of times; that a
// device has come back counts until the layer has ruled.
func TestCameBackUntilRuled(t *testing.T) {
	tr := newTrial(t)
	tr.plan.Variables[0].Tolerance = 0.1
	tr.Aim(0, 4, false)
	tr.standsUnknown(tr.links[0])
	tr.Poll(false)
	for _, e := range tr.drain(t, safety.Run) {
		if h, ok := e.(*Heard); ok {
			tr.Accept(h, nil)
		}
	}
	for range 2 {
		if tr.inputs(safety.Run, 0); tr.CameBack() != (safety.Set{1}) {
			t.Fatalf("came back: %b", tr.CameBack())
		}
	}
	if tr.Rule(tr.present(safety.Run), &safety.Output{}, false); tr.CameBack() != (safety.Set{}) {
		t.Error("it counts again")
	}
	if settle := tr.Unsettled(); settle != time.Minute || tr.Unsettled() != 0 {
		t.Errorf("it may have moved: %v to settle", settle)
	}
}

// TestNothingOldLeaves: what was decided before the mode changed does not leave any more, and
// safe values do.
func TestNothingOldLeaves(t *testing.T) {
	for _, c := range []struct {
		mode safety.Mode
		want float64
	}{{safety.Run, 0}, {safety.Tripped, 6}} {
		tr := newTrial(t)
		var out safety.Output
		out.Write[0], out.Setpoint[0] = true, 6
		tr.Rule(tr.present(c.mode), &out, false)
		tr.Apply(tr.present(c.mode), &out)
		tr.orders.Add(1)
		if tr.drain(t, c.mode); tr.knob != c.want {
			t.Errorf("mode %v: the knob is at %v, want %v", c.mode, tr.knob, c.want)
		}
	}
}

// TestHaltRevokesWhatWaits: a dose waits for its device when the watchdog halts that. The loop
// has taken the halt in before the dose's turn comes; it does not leave all the same.
func TestHaltRevokesWhatWaits(t *testing.T) {
	tr := newTrial(t)
	tr.AimDose(1, 3, 1, false)
	var out safety.Output
	out.Write[1], out.Setpoint[1] = true, 3
	tr.Rule(tr.present(safety.Run), &out, false)
	doses := tr.Apply(tr.present(safety.Run), &out)
	tr.Intended(tr.present(safety.Run), doses[0], 7)
	tr.HaltAll(time.Second)
	if !tr.Halted() || tr.Halted() {
		t.Error("a halt is taken in once")
	}
	if tr.drain(t, safety.Run); tr.pumped != 0 {
		t.Errorf("%v pumped after the halt", tr.pumped)
	}
}

// shutBench is a bench that does not open, and counts how often it is asked to.
type shutBench struct {
	bench
	opened int
}

func (b *shutBench) Open(context.Context) ([]drivers.Channel, error) {
	b.opened++
	return nil, drivers.ErrUnavailable
}

// TestTripReopensSoon: a device that has been away for long is asked for each second where a safe value waits for it,
// and else every ten.
func TestTripReopensSoon(t *testing.T) {
	for mode, most := range map[safety.Mode]time.Duration{safety.Tripped: reopenSafe, safety.Hold: reopenMost} {
		tr := newTrial(t)
		away, k := &shutBench{}, tr.links[0]
		k.dev, k.dead = away, drivers.ErrUnavailable
		var opened int
		for second := range 600 {
			if second == 300 { // as long as it has been away by then
				opened = away.opened
			}
			p := tr.present(mode)
			if second < 300 {
				p.Mode = safety.Hold
			}
			tr.Rule(p, &safety.Output{}, second == 300)
			tr.Reconnect(p)
			tr.drain(t, p.Mode)
			tr.clock.now = tr.clock.now.Add(time.Second)
		}
		if n, want := away.opened-opened, int(300*time.Second/most); n < want-2 || n > want+1 {
			t.Errorf("%v: %d times in five minutes, want about %d", mode, n, want)
		}
	}
}

// slowOpener says how long it may take to open, and notes how long it is given.
type slowOpener struct {
	shutBench
	opens, given time.Duration
}

func (s *slowOpener) OpenTime() time.Duration { return s.opens }

func (s *slowOpener) Open(ctx context.Context) ([]drivers.Channel, error) {
	end, _ := ctx.Deadline()
	s.given = time.Until(end)
	return s.shutBench.Open(ctx)
}

// TestReopeningTakesItsTime: a device that says that it may take long to open is given as long when it is opened again, to go on
// and to be made safe.
func TestReopeningTakesItsTime(t *testing.T) {
	for name, again := range map[string]func(tr *trial, k *link){
		"reopen": func(tr *trial, k *link) { tr.reopen(k) },
		"revive": func(tr *trial, k *link) { tr.revive(k) },
	} {
		tr := newTrial(t)
		slow, k := &slowOpener{opens: 40 * time.Second}, tr.links[0]
		k.dev, k.dead = slow, drivers.ErrUnavailable
		again(tr, k)
		tr.drain(t, safety.Hold)
		if slow.given < 30*time.Second || slow.given > slow.opens {
			t.Errorf("%s: it is given %v, want %v", name, slow.given, slow.opens)
		}
	}
}

// TestEndReopensSoon: so is a device that is to be brought to its state at the end of a run.
func TestEndReopensSoon(t *testing.T) {
	tr := newTrial(t)
	k := tr.links[0]
	k.outage.wait, k.reviving = reopenMost, true
	tr.revived(revived{k, drivers.ErrUnavailable})
	if wait := k.outage.next.Sub(tr.clock.now); wait != reopenSafe {
		t.Errorf("the next attempt waits for %v, want %v", wait, reopenSafe)
	}
}
