package loop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/replay"
	"github.com/labtuner/tuner/safety"
)

// TestNoIsBelievedAfterASecond: a sensor that says no to the start is believed after a second; one
// that is silent may still come.
func TestNoIsBelievedAfterASecond(t *testing.T) {
	for silent, want := range map[bool]time.Duration{false: time.Second, true: bootTimeout} {
		tr := newTrial(t)
		tr.policy.proposals = proposeAll(3)
		tr.opt.Safety.Permissives = []safety.Condition{{Sensor: 1, Low: 0, High: 200}}
		if silent {
			tr.rig.aux = func() float64 { return math.NaN() }
		}
		res, err := tr.run(t, context.Background())
		if took := tr.clock.Now().Sub(rigStart); !errors.Is(err, ErrSafety) || took < want || took > want+time.Second {
			t.Errorf("silent %v: %v after %v, want %v; %+v", silent, err, took, want, res.Reason)
		}
	}
}

// TestStartIsOnRecordWhereItIsCompared: a run that is to be compared with where it began says where
// that was, so that a resumed one knows it; others do not.
func TestStartIsOnRecordWhereItIsCompared(t *testing.T) {
	for _, pairs := range []int{0, 8} {
		tr := searched(t)
		tr.opt.Verify.Pairs = pairs
		if _, err := tr.run(t, context.Background()); err != nil {
			t.Fatal(err)
		}
		said := 0
		for _, e := range tr.events {
			if e.Kind == journal.EventStart {
				said++
			}
		}
		if (said == 1) != (pairs > 0) {
			t.Errorf("%d pairs: said %d times", pairs, said)
		}
	}
}

// TestOnlyStepsMeasure: asking may be what measures, so the objective is asked at settings only, also
// after a wait for a meter that was silent.
func TestOnlyStepsMeasure(t *testing.T) {
	tr := patientTrial(t, 1, 9, 1, 9, 1, 9, 1, 9)
	tr.opt.Stop = plan.Stop{Steps: 8}
	tr.opt.Safety.HoldMax = time.Hour // no fallback, whose way is waited out with the meter asked
	tr.rig.speed = 2                  // as the slew
	tr.rig.meter = func(map[string]float64) float64 { return math.NaN() }
	if _, err := tr.run(t, context.Background()); err != nil {
		t.Fatal(err)
	}
	measured := tr.rig.calls("measure")
	for _, c := range measured {
		if a := c.values["a"]; math.Abs(a-1) > 0.02 && math.Abs(a-9) > 0.02 {
			t.Fatalf("the meter was asked at %v V, on the way, after %v", a, c.at)
		}
	}
	if len(measured) < 8 || tr.told("steps in a row gave no valid data") == 0 {
		t.Errorf("asked %d times; there was no wait", len(measured))
	}
}

// TestRefusalIsNotListenedTo: where a device says no to its setpoint, no value of the meter would say that
// it is well again, so the meter is not asked while the run waits.
func TestRefusalIsNotListenedTo(t *testing.T) {
	tr := patientTrial(t, 1, 9, 1, 9)
	tr.opt.Stop = plan.Stop{Steps: 4}
	tr.opt.Safety.HoldMax = time.Hour
	tr.rig.fault = func(op string) error {
		if op == "write" {
			return fmt.Errorf("%w: the door is open", drivers.ErrRefused)
		}
		return nil
	}
	if _, err := tr.run(t, context.Background()); err != nil {
		t.Fatal(err)
	}
	if asked := len(tr.rig.calls("measure")); asked > 0 || tr.told("steps in a row gave no valid data") == 0 {
		t.Errorf("the meter was asked %d times; %+v", asked, tr.events)
	}
}

// TestStopBeforeTheStart: a stop while the instrument is read for the first time makes safe and ends
// the run.
func TestStopBeforeTheStart(t *testing.T) {
	tr := newTrial(t)
	tr.policy.proposals = proposeAll(3)
	tr.opt.Safety.Permissives = []safety.Condition{{Sensor: 1, Low: 290, High: 305}}
	tr.deps.Panel = control.NewPanel("test")
	reads := 0
	tr.rig.aux = func() float64 {
		if reads++; reads == 3 {
			tr.order(control.CommandStop)
		}
		return math.NaN()
	}
	res, err := tr.run(t, context.Background())
	if !errors.Is(err, ErrSafety) || !strings.Contains(err.Error(), "stopped before the start") || tr.rig.aim("a") != 1 {
		t.Errorf("%+v, %v", res.Reason, err)
	}
	if len(res.Rest) != 1 || res.Rest[0].State != plan.RestSafe || res.Rest[0].Err != nil {
		t.Errorf("said to be left as %+v", res.Rest)
	}
}

// TestWayHomeIsOnRecord: where the run leaves an actuator is intended before it is written, and it is
// an action of its own: what the last step met with is not its problem.
func TestWayHomeIsOnRecord(t *testing.T) {
	tr := newTrial(t)
	tr.policy.proposals = proposeAll(3, 5)
	tr.policy.found = policy.Recommendation{X: []float64{8}}
	tr.opt.Stop = plan.Stop{Steps: 2}
	tr.rig.meter = func(at map[string]float64) float64 {
		if at["a"] > 4 {
			return math.NaN()
		}
		return 1
	}
	var path string
	tr.deps.Journal, path = book(t, &tr.opt)
	if _, err := Run(context.Background(), tr.opt, tr.deps); err != nil {
		t.Fatal(err)
	}
	if tr.last() != 8 || tr.outcomes[1].Valid {
		t.Fatalf("left at %v, the last step %+v", tr.last(), tr.outcomes[1])
	}
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	home := 0
	for a, err := range r.AllActions() {
		if err != nil {
			t.Fatal(err)
		}
		if a.Kind == "move" && a.Values["a"] == 8 {
			if home++; a.Step != 0 || len(a.Resolutions) != 1 || a.Resolutions[0].State != journal.Confirmed || a.Resolutions[0].Message != "" {
				t.Errorf("the way home: %+v", a)
			}
		}
	}
	if home != 1 {
		t.Errorf("%d intents for the way home", home)
	}
}

// TestNothingWrittenIsAtRest: a run that is interrupted between its first decision and its first write has left nothing
// behind it, and the next process knows that.
func TestNothingWrittenIsAtRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		tr, path := liveTrial(t, func(tr *trial) {
			tr.deps.Failpoint = func(name string) {
				if name == "decision-durable" {
					cancel()
				}
			}
		})
		r, err := Run(ctx, tr.opt, tr.deps)
		if !errors.Is(err, context.Canceled) || r.Left || len(r.Rest) != 0 || len(tr.rig.calls("write")) != 0 {
			t.Fatalf("%v, %d writes: %+v", err, len(tr.rig.calls("write")), r.Rest)
		}
		j, err := journal.OpenReader(path)
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		if past, err := replay.Recall(&tr.opt, j); err != nil || past.Steps != 1 || past.Left {
			t.Errorf("%+v, %v", past, err)
		}
	})
}

// TestWhatWasLeftDrivenIsTold: a process that follows one that was killed while it drove, and ends
// before it can drive anything itself, says so: nobody has brought the actuators to rest.
func TestWhatWasLeftDrivenIsTold(t *testing.T) {
	for _, left := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			tr, _ := liveTrial(t, func(tr *trial) {
				tr.opt.Safety.Permissives = []safety.Condition{{Sensor: 1, Low: 0, High: 200}}
				tr.deps.Past = &replay.Past{Left: left, Steps: 1}
			})
			if _, err := tr.begin(t)(); !errors.Is(err, ErrSafety) || errors.Is(err, ErrLeft) != left {
				t.Errorf("left %v: %v", left, err)
			}
		})
	}
}
