package instrument

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// TestRefusalStandsUntilAskedAgain: the same wish asks again; a value that was taken says nothing of
// one that was refused, unless it is the safe one.
func TestRefusalStandsUntilAskedAgain(t *testing.T) {
	tr := newTrial(t)
	a := &tr.all[0]
	no := errors.New("no")
	tr.Aim(0, 4, false)
	a.refused = no
	if tr.Aim(0, 4, false); tr.Refused(0) != nil {
		t.Error("the same destination again: still refused")
	}
	taken := func(safe bool) error {
		a.refused = no
		tr.acknowledge(0, &wrote{batch: batch{setpoints: drivers.Setpoints{Values: map[string]float64{"knob": 1}, Safe: safe}}, asked: tr.clock.now})
		return tr.Refused(0)
	}
	if taken(false) == nil {
		t.Error("an earlier proposal that was taken cleared a refusal")
	}
	if taken(true) != nil {
		t.Error("a safe value that was taken left the refusal of the one before")
	}
}

// TestLateAckOfWhatIsLetGo: what was on its way when the variable was to let go is not where it
// stands.
func TestLateAckOfWhatIsLetGo(t *testing.T) {
	tr := newTrial(t)
	tr.Aim(0, 4, false)
	tr.LetGo(0)
	tr.acknowledge(0, &wrote{batch: batch{setpoints: drivers.Setpoints{Values: map[string]float64{"knob": 4}}}, asked: tr.clock.now})
	if at := tr.Written(0); !math.IsNaN(at) || tr.Released(0) {
		t.Errorf("written %v, released %v", at, tr.Released(0))
	}
	tr.acknowledge(0, &wrote{batch: batch{setpoints: drivers.Setpoints{Release: []string{"knob"}}}, asked: tr.clock.now})
	if !tr.Released(0) {
		t.Error("the release was acknowledged")
	}
}

// TestActionsOfDevices: an action a device that is told anything, with values and releases.
func TestActionsOfDevices(t *testing.T) {
	tr := newTrial(t)
	of := func(driven, released int) []journal.Action {
		return tr.Actions(nil, "move", func(i int) (float64, bool, bool) { return 3, i == driven, i == released })
	}
	got := of(0, 1)
	if len(got) != 1 || got[0].Device != "bench" || got[0].Kind != "move" || got[0].Values["knob"] != 3 || len(got[0].Values) != 1 || len(got[0].Release) != 1 {
		t.Errorf("%+v", got)
	}
	if got := of(-1, -1); got != nil {
		t.Errorf("nothing is to be done, and %+v", got)
	}
}

// TestWhatIsNotOpenIsNotReady: a device is written to once it is open, while it has no write under
// way, is well, and has been read.
func TestWhatIsNotOpenIsNotReady(t *testing.T) {
	for name, c := range map[string]struct {
		change func(k *link)
		want   bool
	}{
		"all is well": {func(*link) {}, true},
		"not open":    {func(k *link) { k.open = false }, false},
		"no actuator": {func(k *link) { k.act = nil }, false},
		"busy":        {func(k *link) { k.flight = &flight{} }, false},
		"broken":      {func(k *link) { k.dead = errors.New("x") }, false},
		"not read":    {func(k *link) { k.outage.unread = true }, false},
	} {
		tr := newTrial(t)
		k := tr.links[0]
		if c.change(k); k.ready() != c.want {
			t.Errorf("%s: %v", name, k.ready())
		}
	}
}

// TestNoDeviceCannotBeMadeSafe: a variable that no device sets has no rest state to be handed over.
func TestNoDeviceCannotBeMadeSafe(t *testing.T) {
	tr := newTrial(t)
	p := tr.present(safety.Tripped)
	if !tr.canMakeSafe(&p, 0) {
		t.Error("the knob's safe value can be handed over")
	}
	tr.plan.Variables[0].Channel.Device = -1
	tr.plan.Variables[0].Actuated = false
	if tr.canMakeSafe(&p, 0) {
		t.Error("a safe value for a variable without a device")
	}
}

// TestFailuresAreCounted: the first failure of an outage counts, and so does each attempt to open
// the device that fails; what goes on failing in between does not.
func TestFailuresAreCounted(t *testing.T) {
	tr := newTrial(t)
	p, k := tr.present(safety.Run), tr.links[0]
	for i, c := range []struct {
		reopen bool
		want   int
	}{{false, 1}, {false, 1}, {true, 2}, {false, 2}} {
		tr.strike(&p, k, c.reopen)
		if got := len(k.outage.failed); got != c.want {
			t.Errorf("failure %d: %d are counted, want %d", i, got, c.want)
		}
	}
	tr.answered(&p, k)
	if tr.strike(&p, k, false); len(k.outage.failed) != 3 {
		t.Errorf("another outage: %d are counted", len(k.outage.failed))
	}
}

// TestOpensOneAtATime: while a device is being opened again, no other attempt begins.
func TestOpensOneAtATime(t *testing.T) {
	tr := newTrial(t)
	k := tr.links[0]
	k.dead = errors.New("x")
	tr.Reconnect(tr.present(safety.Run))
	if !k.outage.opening {
		t.Fatal("it is not opened again")
	}
	tr.Reconnect(tr.present(safety.Run))
	if n := len(tr.pool.Take()); n != 1 {
		t.Errorf("%d attempts at once", n)
	}
}

// TestBrokenAtRestIsGivenTime: a device that is out of order when the run ends is given restTimeout,
// and all of it.
func TestBrokenAtRestIsGivenTime(t *testing.T) {
	for _, c := range []struct {
		spent time.Duration
		done  bool
	}{{restTimeout, false}, {restTimeout + 1, true}} {
		tr := newTrial(t)
		tr.links[0].dead = errors.New("x")
		job := &restJob{state: plan.RestSafe}
		p := tr.present(safety.Fallback)
		if tr.watchRestJob(&p, job, c.spent); job.done != c.done {
			t.Errorf("after %v: given up %v", c.spent, job.done)
		}
	}
}

// TestRevivedAtRestIsGivenItsTime: a device that is opened again when the run ends is given as long as it may take to open, and
// restConfirm; a minute where it may take longer.
func TestRevivedAtRestIsGivenItsTime(t *testing.T) {
	for opens, most := range map[time.Duration]time.Duration{
		0:                15*time.Second + restConfirm,
		40 * time.Second: 40*time.Second + restConfirm,
		time.Hour:        restRevive + restConfirm,
	} {
		for _, spent := range []time.Duration{most, most + 1} {
			tr := newTrial(t)
			k := tr.links[0]
			k.dev, k.dead, k.reviving = &slowOpener{opens: opens}, errors.New("x"), true
			job := &restJob{state: plan.RestSafe}
			p := tr.present(safety.Fallback)
			if tr.watchRestJob(&p, job, spent); job.done != (spent > most) {
				t.Errorf("a device that may take %v to open, after %v: given up %v", opens, spent, job.done)
			}
		}
	}
}

// TestRefusedAtRestIsAskedAgain: a device that refuses its rest state is asked again for restTimeout.
func TestRefusedAtRestIsAskedAgain(t *testing.T) {
	for _, c := range []struct {
		spent time.Duration
		done  bool
	}{{restTimeout, false}, {restTimeout + 1, true}} {
		tr := newTrial(t)
		tr.Aim(0, 4, false)
		tr.all[0].refused = errors.New("busy")
		job := &restJob{state: plan.RestSafe}
		p := tr.present(safety.Fallback)
		if tr.watchRestJob(&p, job, c.spent); job.done != c.done || c.done != (tr.Refused(0) != nil) {
			t.Errorf("after %v: given up %v, refusal %v", c.spent, job.done, tr.Refused(0))
		}
	}
}

// TestOvertakenDoseIsOurDoing: a dose whose wait we end for a safe value is noted as such, so that
// its device is not blamed.
func TestOvertakenDoseIsOurDoing(t *testing.T) {
	tr, g, busy := granted(t)
	tr.Intended(tr.present(safety.Run), g, 7)
	tr.links[0].landed(busy)
	tr.GoOn(tr.present(safety.Run))
	if !g.sent || g.cancelled {
		t.Fatalf("sent %v, cancelled %v", g.sent, g.cancelled)
	}
	if tr.overtakeDoses(tr.links[0]); !g.cancelled {
		t.Error("the wait was ended, and that is not noted")
	}
}

// TestLossIsOverOnceTheLayerKnows: the layer waits for an acknowledgement of what it gave out after it
// was told of a loss. One that comes in between, of a write that was under way, does not count, and
// the next one does though its value is the same.
func TestLossIsOverOnceTheLayerKnows(t *testing.T) {
	tr := newTrial(t)
	tr.Aim(0, 4, false)
	var out safety.Output
	out.Write[0], out.Setpoint[0] = true, 4
	tick := func() { tr.Rule(tr.present(safety.Run), &out, false); tr.clock.now = tr.clock.now.Add(time.Second) }
	taken := func(asked time.Time) safety.Sample {
		tr.acknowledge(0, &wrote{batch: batch{setpoints: drivers.Setpoints{Values: map[string]float64{"knob": 4}}}, asked: asked})
		return tr.inputs(safety.Run, 0).Written
	}
	since := func(at time.Time) time.Duration { return at.Sub(tr.clock.now) }
	taken(tr.clock.now)
	tick()
	underWay := tr.clock.now
	tr.clock.now = tr.clock.now.Add(time.Second)
	tr.standsUnknown(tr.links[0])
	taken(underWay)
	told := tr.clock.now
	tick() // the layer hears of the loss
	if w := taken(told.Add(-10 * time.Millisecond)); w.Known && w.At >= since(told) {
		t.Errorf("what was asked before the layer knew counts as of %v", w.At)
	}
	for range 2 {
		if w := taken(tr.clock.now); w.At < since(told) {
			t.Errorf("the same value was taken after the loss, and it counts as of %v, before it", w.At)
		}
		tick()
	}
}

// TestTooHighAtRestIsHurried: what is left where it is and has to come down for that is brought down
// without slew where that takes longer than restTimeout, as what goes to its safe value is; what only
// waits to be known is not.
func TestTooHighAtRestIsHurried(t *testing.T) {
	for _, c := range []struct {
		name  string
		state plan.RestState
		stood float64
		mode  safety.Mode
		spent time.Duration
		hurry bool
	}{
		{"above", plan.RestHold, 9, safety.Fallback, restTimeout + 1, true},
		{"above, in time", plan.RestHold, 9, safety.Fallback, restTimeout, false},
		{"above, hurried already", plan.RestHold, 9, safety.Stopped, restTimeout + 1, false},
		{"not known where", plan.RestHold, 5, safety.Fallback, restTimeout + 1, false},
		{"to its safe value", plan.RestSafe, 9, safety.Fallback, restTimeout + 1, true},
	} {
		tr := newTrial(t)
		v := &tr.Instrument.plan.Variables[0]
		v.Limits.High, v.Limits.Above, v.Limits.AboveTime = 10, 6, time.Hour
		tr.all[0].written = c.stood
		tr.Rest(func(*plan.Variable) plan.RestState { return c.state })
		tr.all[0].lost = true // by a write whose outcome is not known
		tr.rests = tr.rests[:1]
		if over, hurry, _ := tr.Resting(tr.present(c.mode), tr.clock.now.Add(-c.spent)); over || hurry != c.hurry {
			t.Errorf("%s, after %v in %v: over %v, hurried %v, want %v", c.name, c.spent, c.mode, over, hurry, c.hurry)
		}
	}
}
