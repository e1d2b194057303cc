package loop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/guard"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/worker"
	"github.com/labtuner/tuner/safety"
)

// guardedTrial is a trial whose aux sensor may be broken from the second step on.
func guardedTrial(t *testing.T, broken func(since time.Duration) float64) *trial {
	tr := newTrial(t)
	tr.policy.proposals = proposeAll(3, 6, 9)
	begun := time.Time{}
	tr.rig.aux = func() float64 {
		if len(tr.policy.seen) < 1 {
			return 300
		}
		if begun.IsZero() {
			begun = tr.clock.Now()
		}
		return broken(tr.clock.Now().Sub(begun))
	}
	return tr
}

// said reports whether an event of the safety layer contains words.
func (tr *trial) said(words string) bool {
	for _, e := range tr.events {
		if (e.Kind == journal.EventSafety || e.Kind == journal.EventCommand) && strings.Contains(e.Message, words) {
			return true
		}
	}
	return false
}

// control gives the trial a control file.
func (tr *trial) control(t *testing.T, path string) *controlstate.File {
	t.Helper()
	c, err := controlstate.Open(path, disk.Holder{})
	if err != nil {
		t.Fatal(err)
	}
	tr.deps.Control = c
	return c
}

func TestInterlockTripsTheRunAndStaysTripped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rig.control")
	tr := guardedTrial(t, func(time.Duration) float64 { return 310 })
	tr.opt.Safety.Interlocks = []safety.Condition{{Sensor: 1, Low: 290, High: 305}}
	c := tr.control(t, path)
	// The rule's promise: when the first setpoint of the trip reaches the device, the
	// latch is durable.
	tripped := false
	tr.rig.fault = func(op string) error {
		if op == "write" && tr.rig.aux() == 310 && len(c.State().Latched) == 0 && tripped {
			t.Error("written before the latch was durable")
		}
		tripped = tripped || tr.rig.aux() == 310
		return nil
	}
	res, err := tr.run(t, context.Background())
	if !errors.Is(err, ErrSafety) || errors.Is(err, ErrUnsafe) || !strings.Contains(err.Error(), "tripped: interlock of aux") {
		t.Fatalf("error %v", err)
	}
	if !slices.ContainsFunc(tr.events, func(e journal.Event) bool { return e.Kind == journal.EventSafety && e.Facts.Latched }) {
		t.Errorf("no event says that it is latched: %+v", tr.events)
	}
	if res.Reason != "safety" || tr.rig.knobs["a"].target != 1 || res.Rest[0].Err != nil {
		t.Errorf("result %+v, left at %v", res, tr.rig.knobs["a"].target)
	}
	// At once: one setpoint from wherever it was to 1.
	writes := tr.rig.calls("write")
	if last := writes[len(writes)-1]; last.values["a"] != 1 || writes[len(writes)-2].values["a"] < 2 {
		t.Errorf("last writes %v, %v", writes[len(writes)-2], last)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	again := newTrial(t)
	c = again.control(t, path)
	defer c.Close()
	if s := c.State(); s.Mode != "TRIPPED" || fmt.Sprint(s.FirstOut) != "[interlock of aux]" {
		t.Errorf("kept: %+v", s)
	}
	again.policy.proposals = proposeAll(3)
	_, err = again.run(t, context.Background())
	if !errors.Is(err, guard.ErrLatched) || !strings.Contains(err.Error(), "interlock of aux") || again.rig.opens != 0 {
		t.Errorf("started again: %v, %d opens", err, again.rig.opens)
	}
}

func TestStaleSensorHoldsTheStepAndGoesOn(t *testing.T) {
	tr := guardedTrial(t, func(since time.Duration) float64 {
		if since < 20*time.Second {
			return math.NaN()
		}
		return 300
	})
	tr.opt.Objective.Timeout = 2 * time.Second // shorter than the hold
	if _, err := tr.run(t, context.Background()); err != nil {
		t.Fatal(err)
	}
	if len(tr.policy.seen) != 3 {
		t.Fatalf("%d steps", len(tr.policy.seen))
	}
	for i, o := range tr.policy.seen {
		if !o.Valid || o.X[0] != []float64{3, 6, 9}[i] || o.Shots != 3 {
			t.Errorf("step %d: %+v", i, o)
		}
	}
	if !tr.said("held: sensor aux") || !tr.said("the hold is over") {
		t.Errorf("events %+v", tr.events)
	}
	// Nothing is written while it holds.
	var gap time.Duration
	writes := tr.rig.calls("write")
	for i := range writes[1:] {
		gap = max(gap, writes[i+1].at-writes[i].at)
	}
	if gap < 18*time.Second {
		t.Errorf("longest time without a write: %v", gap)
	}
}

// TestTimesThatHaveNotComeYetKeepNothingFresh: a device whose clock is an hour ahead
// tells a value of aux and then none. That it is silent must not take an hour to see.
func TestTimesThatHaveNotComeYetKeepNothingFresh(t *testing.T) {
	tr := guardedTrial(t, func(since time.Duration) float64 {
		if since < 20*time.Second {
			return math.NaN()
		}
		return 300
	})
	tr.rig.ahead = time.Hour
	if _, err := tr.run(t, context.Background()); err != nil {
		t.Fatal(err)
	}
	if !tr.said("held: sensor aux") || !tr.said("the hold is over") {
		t.Errorf("events %+v", tr.events)
	}
	for i, o := range tr.policy.seen {
		if !o.Valid || o.X[0] != []float64{3, 6, 9}[i] || o.Shots != 3 {
			t.Errorf("step %d: %+v", i, o)
		}
	}
}

func TestHoldThatLastsFallsBack(t *testing.T) {
	tr := guardedTrial(t, func(time.Duration) float64 { return math.NaN() })
	tr.opt.Safety.HoldMax = 5 * time.Second
	res, err := tr.run(t, context.Background())
	if !errors.Is(err, ErrSafety) || errors.Is(err, ErrUnsafe) || !strings.Contains(err.Error(), "fallen back: sensor aux") {
		t.Fatalf("error %v", err)
	}
	if res.Reason != "safety" || tr.rig.knobs["a"].target != 1 {
		t.Errorf("result %+v, left at %v", res, tr.rig.knobs["a"].target)
	}
	// Under slew: 2 V/s in ticks of 0.1 s.
	last := math.NaN()
	for _, c := range tr.rig.calls("write") {
		if x := c.values["a"]; math.Abs(x-last) > 0.2+1e-9 {
			t.Errorf("from %v to %v in a tick", last, x)
		} else {
			last = x
		}
	}
}

func TestPermissiveRefusesTheStart(t *testing.T) {
	tr := newTrial(t)
	tr.policy.proposals = proposeAll(3)
	tr.opt.Safety.Permissives = []safety.Condition{{Sensor: 1, Low: 0, High: 200}}
	res, err := tr.run(t, context.Background())
	if !errors.Is(err, ErrSafety) || !strings.Contains(err.Error(), "refused to start, nothing was driven: permissive of aux") {
		t.Errorf("error %v", err)
	}
	if len(tr.rig.calls("write")) != 0 || res.Reason != "safety" {
		t.Errorf("%d writes, result %+v", len(tr.rig.calls("write")), res)
	}
}

// TestLeaseIsRefreshed: while nothing changes, the setpoint is written again within a
// third of the lease, and never before the device had one.
func TestLeaseIsRefreshed(t *testing.T) {
	tr := newTrial(t)
	tr.opt.Variables[0].Limits.Lease = 3 * time.Second
	tr.opt.Objective.Shots = 100 // 10 s at one setting
	tr.policy.proposals = proposeAll(1)
	if _, err := tr.run(t, context.Background()); err != nil {
		t.Fatal(err)
	}
	writes, repeats := tr.rig.calls("write"), 0
	for i := range writes[1:] {
		if gap := writes[i+1].at - writes[i].at; gap > time.Second {
			t.Errorf("%v between two writes", gap)
		}
		if writes[i+1].values["a"] == writes[i].values["a"] {
			repeats++
		}
	}
	if repeats < 9 {
		t.Errorf("%d repeats in 10 s", repeats)
	}
	if o := tr.policy.seen[0]; !o.Valid || math.Abs(o.X[0]-1) > 1e-9 {
		t.Errorf("observation %+v", o)
	}
}

func TestShutdownIsHurriedWhenSlow(t *testing.T) {
	tr := newTrial(t)
	tr.opt.Variables[0].Shutdown = plan.RestSafe
	tr.opt.Variables[0].Limits.SlewDown = 0.1 // 80 s from 9 V to 1 V
	tr.policy.proposals = proposeAll(9)
	tr.opt.Objective.Timeout = time.Minute
	_, err := tr.run(t, context.Background())
	if err != nil {
		t.Fatal(err)
	}
	writes := tr.rig.calls("write")
	last, before := writes[len(writes)-1], writes[len(writes)-2]
	if last.values["a"] != 1 || before.values["a"] < 7.9 {
		t.Errorf("from %v to %v", before.values["a"], last.values["a"])
	}
	began := last.at
	for _, c := range writes {
		if c.values["a"] == 9 {
			began = c.at
		}
	}
	if took := last.at - began; took < 10*time.Second || took > 20*time.Second {
		t.Errorf("hurried after %v", took)
	}
}

// TestTripOnTheWayToRestIsTold: an interlock that opens while the actuators of a run that is
// over are brought to rest trips like any other; the run does not end as if all were well.
func TestTripOnTheWayToRestIsTold(t *testing.T) {
	resting := time.Duration(-1)
	tr := newTrial(t)
	tr.rig.aux = func() float64 {
		if resting >= 0 && tr.clock.Now().Sub(rigStart) > resting+time.Second {
			return 310
		}
		return 300
	}
	tr.opt.Safety.Interlocks = []safety.Condition{{Sensor: 1, Low: 290, High: 305}}
	tr.opt.Variables[0].Shutdown = plan.RestSafe
	tr.opt.Variables[0].Limits.SlewDown = 0.5
	tr.policy.proposals = proposeAll(9)
	tr.deps.Watch.Event = func(e journal.Event) {
		if e.Kind == "stop" {
			resting = e.At.Mono
		}
		tr.events = append(tr.events, e)
	}
	res, err := tr.run(t, context.Background())
	if !errors.Is(err, ErrSafety) || errors.Is(err, ErrUnsafe) || !strings.Contains(err.Error(), "tripped: interlock of aux") {
		t.Errorf("error %v", err)
	}
	if res.Reason != "safety" || tr.rig.knobs["a"].target != 1 {
		t.Errorf("reason %q, left at %v", res.Reason, tr.rig.knobs["a"].target)
	}
	if !slices.ContainsFunc(tr.events, func(e journal.Event) bool { return e.Kind == journal.EventSafety && e.Facts.Latched }) {
		t.Errorf("no event says that it is latched: %+v", tr.events)
	}
}

func TestJournalFailureFallsBack(t *testing.T) {
	tr := newTrial(t)
	tr.policy.proposals = proposeAll(5, 6, 7)
	var j *journal.Journal
	tr.deps.Failpoint = func(name string) {
		if name == "outcome-durable" && len(tr.policy.seen) == 0 {
			if err := j.Close(); err != nil { // as a disk that is gone
				t.Error(err)
			}
		}
	}
	j, _ = book(t, &tr.opt)
	tr.deps.Journal = j
	res, err := Run(context.Background(), tr.opt, tr.deps)
	if !errors.Is(err, ErrJournal) || errors.Is(err, ErrUnsafe) {
		t.Fatalf("error %v", err)
	}
	if res.Reason != "fault" || tr.rig.knobs["a"].target != 1 {
		t.Errorf("reason %q, left at %v V", res.Reason, tr.rig.knobs["a"].target)
	}
	for _, c := range tr.rig.calls("write") {
		if c.values["a"] > 5 {
			t.Errorf("moved to %v without a record", c.values["a"])
		}
	}
}

func TestWatchdogHaltsWhenTheLoopStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		halted := time.Duration(0)
		var began time.Time
		tr, _, err := live(t, plan.Live, func(tr *trial) {
			tr.policy.proposals = proposeAll(4, 6, 8)
			tr.deps.Watch.Step = func(journal.Decision, journal.Outcome) {
				if began.IsZero() {
					began = time.Now()
					time.Sleep(20 * time.Second) // the loop's own goroutine stands
				}
			}
		})
		if !errors.Is(err, ErrSafety) || !strings.Contains(err.Error(), "watchdog") {
			t.Errorf("error %v", err)
		}
		for _, c := range tr.rig.calls("halt") {
			halted = rigStart.Add(c.at).Sub(began)
			break
		}
		// 20 ticks are 2 s; it looks four times in that.
		if tr.rig.halts == 0 || halted < 2*time.Second || halted > 3*time.Second {
			t.Errorf("%d halts, the first after %v", tr.rig.halts, halted)
		}
		if tr.rig.knobs["a"].target != 1 {
			t.Errorf("left at %v", tr.rig.knobs["a"].target)
		}
	})
}

// talker is a device that speaks on its own: readings, and remarks on its connection.
type talker struct {
	*guardRig
	hear func(drivers.Reading)
	tell func(string)
	shut chan struct{}
}

func (d *talker) Listen(sink func(drivers.Reading)) { d.hear = sink }
func (d *talker) Notify(to func(string))            { d.tell = to }
func (d *talker) Close() error                      { close(d.shut); return nil }

func (d *talker) Open(ctx context.Context) ([]drivers.Channel, error) {
	go func() {
		for {
			select {
			case <-d.shut:
				return
			case <-time.After(50 * time.Millisecond):
				d.say()
			}
		}
	}()
	return d.guardRig.Open(ctx)
}

// say hands over a reading.
func (d *talker) say() {
	r, _ := d.Read(context.Background(), nil)
	d.hear(r)
}

// TestStopOvertakesTheQueue: a stop acts before any of 8,000 readings that wait, and before
// the remarks among them, which are counted.
func TestStopOvertakesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ask = "ask for the stop"
		panel, taken, before := control.NewPanel("test"), 0, -1
		dev := &talker{guardRig: &guardRig{}, shut: make(chan struct{})}
		tr := &trial{opt: options(plan.Live), policy: &script{proposals: proposeAll(4, 6, 8)}}
		tr.opt.Sensors[1].Channel = plan.Channel{Device: 1, Name: "aux"}
		tr.rig = newRig(worker.RealClock{}, "a")
		tr.rig.meter = func(map[string]float64) float64 { return 1 }
		tr.deps = Deps{Policy: tr.policy, Devices: []Device{{Name: "rig", Device: tr.rig}, {Name: "talker", Device: dev}}, Panel: panel}
		tr.deps.Journal, _ = book(t, &tr.opt)
		tr.deps.Watch.Step = func(journal.Decision, journal.Outcome) {
			// The first of those that wait has the stop asked for: the others are in the
			// loop's hands already.
			dev.tell(ask)
			for range 40 {
				dev.tell("waits")
				for range 200 {
					dev.say()
				}
			}
		}
		tr.deps.Watch.Event = func(e journal.Event) {
			switch {
			case strings.HasSuffix(e.Message, ask):
				panel.AskStop()
			case strings.HasSuffix(e.Message, "waits"):
				taken++
			case e.Kind == journal.EventSafety && before < 0:
				before = taken
			}
		}
		res, err := Run(t.Context(), tr.opt, tr.deps)
		if !errors.Is(err, ErrSafety) || !strings.Contains(err.Error(), "stopped: stop") {
			t.Errorf("error %v", err)
		}
		if before != 0 || taken == 0 || res.Steps > 2 || tr.rig.knobs["a"].target != 1 {
			t.Errorf("%d of %d remarks were taken before the stop, %d steps, left at %v", before, taken, res.Steps, tr.rig.knobs["a"].target)
		}
	})
}

// TestPauseAndResume: a person holds the run between two steps, and lets it go on.
func TestPauseAndResume(t *testing.T) {
	tr := newTrial(t)
	tr.deps.Panel = control.NewPanel("test")
	tr.policy.proposals = proposeAll(3, 6)
	tr.deps.Watch.Step = func(_ journal.Decision, o journal.Outcome) {
		if o.Step == 1 {
			tr.order(control.CommandPause)
		}
	}
	held := 0
	tr.rig.aux = func() float64 {
		if tr.said("paused") {
			if held++; held == 600 { // a minute of ticks
				tr.order(control.CommandResume)
			}
		}
		return 300
	}
	res, err := tr.run(t, context.Background())
	if err != nil || res.Steps != 2 || res.Elapsed < time.Minute || !tr.policy.seen[1].Valid {
		t.Errorf("result %+v, error %v", res, err)
	}
}

// TestResumeAfterFallback: with a person who can resume, a fallback waits, and goes on with a
// new step.
func TestResumeAfterFallback(t *testing.T) {
	tr := guardedTrial(t, func(since time.Duration) float64 {
		if since < time.Minute {
			return math.NaN()
		}
		return 300
	})
	tr.opt.Safety.HoldMax = 5 * time.Second
	tr.deps.Panel = control.NewPanel("test")
	tr.deps.Panel.MakeReachable()
	asked := 0
	aux := tr.rig.aux
	tr.rig.aux = func() float64 {
		if asked++; tr.said("fallen back") && asked%100 == 0 {
			tr.order(control.CommandResume)
		}
		return aux()
	}
	res, err := tr.run(t, context.Background())
	if err != nil || res.Steps < 3 || res.Reason == "safety" {
		t.Fatalf("result %+v, error %v", res, err)
	}
	if n := len(tr.policy.seen); n < 2 || !tr.policy.seen[n-1].Valid {
		t.Errorf("learnt %+v", tr.policy.seen)
	}
	// In between the knob was at its safe value.
	rested := false
	for _, c := range tr.rig.calls("write") {
		rested = rested || c.values["a"] == 1
	}
	if !rested {
		t.Error("never at the safe value")
	}
}
