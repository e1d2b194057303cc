package loop

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// exposedAbove lets the actuator be above 6 V for a time, and leaves it where it is at the end.
func exposedAbove(o *plan.Options) {
	o.Variables[0].Limits.Above, o.Variables[0].Limits.AboveTime = 6, time.Hour
}

// TestEndLeavesNothingAboveItsExposure: what is left where it is does not stay above what it may be
// above for a time only, however the run ends; what is not above stays.
func TestEndLeavesNothingAboveItsExposure(t *testing.T) {
	for _, c := range []struct {
		name            string
		proposed, found float64
		interrupted     bool
		slewDown        float64
		left            float64
		lowered         bool
	}{
		{"interrupted above", 9, 9, true, 2, 6, true},
		{"interrupted above, half a minute of slew away", 9, 9, true, 0.1, 6, true},
		{"interrupted below", 5, 9, true, 2, 5, false},
		{"recommended above", 5, 9, false, 2, 6, false},
		{"recommended below", 9, 3, false, 2, 3, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := newTrial(t)
			exposedAbove(&tr.opt)
			tr.opt.Variables[0].Limits.SlewDown = c.slewDown
			tr.policy.found = policy.Recommendation{X: []float64{c.found}}
			tr.opt.Stop = plan.Stop{Steps: 2}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			tr.policy.propose = func(context.Context) (policy.Proposal, error) {
				if c.interrupted && len(tr.policy.seen) == 1 {
					cancel()
				}
				return policy.Proposal{X: []float64{c.proposed}}, nil
			}
			res, err := tr.run(t, ctx)
			if errors.Is(err, context.Canceled) != c.interrupted || err != nil && !c.interrupted {
				t.Fatal(err)
			}
			if got := tr.rig.aim("a"); got != c.left {
				t.Errorf("left at %v V, want %v V; %v", got, c.left, tr.rig.calls("write"))
			}
			for _, w := range tr.rig.calls("write") {
				if !c.interrupted && c.found > 6 && w.values["a"] > 6 {
					t.Errorf("went to %v V to be left there", w.values["a"])
				}
			}
			if r := res.Rest[0]; r.Err != nil || r.State != plan.RestHold || r.Lowered != c.lowered || c.lowered && r.Value != 6 {
				t.Errorf("report %+v", r)
			}
		})
	}
}

// TestEndBesideALateConfirmation: a run is ended while a setpoint above is on its way whose
// confirmation comes late; or an older one arrives after the end has begun. The actuator comes
// down, and what it is told last is not above.
func TestEndBesideALateConfirmation(t *testing.T) {
	for _, overdue := range []time.Duration{0, 4 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			var delivered atomic.Bool
			once := false
			tr := exposedTrial(t, 7*time.Second, func(dev *gatedRig) {
				dev.write = func(_ context.Context, s drivers.Setpoints) error {
					if s.Values["a"] <= 6 || once {
						return nil
					}
					once = true
					old := drivers.Setpoints{Values: map[string]float64{"a": s.Values["a"]}}
					if overdue == 0 {
						dev.rig.Write(context.Background(), old) // confirmed late
						dev.came(old)
						time.Sleep(1500 * time.Millisecond)
						delivered.Store(true)
						return nil
					}
					time.AfterFunc(overdue, func() {
						dev.rig.Write(context.Background(), old)
						dev.came(old)
						delivered.Store(true)
					})
					return drivers.ErrUnavailable
				}
			})
			if !delivered.Load() {
				t.Fatal("nothing was late")
			}
			if last := tr.dev.writes[len(tr.dev.writes)-1]; last.Values["a"] > 6 || tr.rig.aim("a") > 6 {
				t.Errorf("told last %v, stands at %v V", last.Values, tr.rig.aim("a"))
			}
		})
	}
}

// exposedTrial runs between 2 V and 8 V behind a gate, and is ended while the gate keeps the first
// setpoint above 6 V.
func exposedTrial(t *testing.T, straggles time.Duration, gate func(*gatedRig)) *trip {
	t.Helper()
	came := make(chan struct{}, 100)
	tr := &trip{}
	tr.trial, _ = liveTrial(t, func(live *trial) {
		exposedAbove(&live.opt)
		live.opt.Variables[0].Limits.SlewUp = 1000
		live.opt.Outages = plan.Outages{Wait: true, Retries: 1000, Window: time.Hour}
		live.policy.propose = func(context.Context) (policy.Proposal, error) {
			return policy.Proposal{X: []float64{float64(2 + 6*(len(live.policy.seen)%2))}}, nil
		}
		tr.dev = &gatedRig{rig: live.rig, straggles: straggles}
		gate(tr.dev)
		inner := tr.dev.write
		tr.dev.write = func(ctx context.Context, s drivers.Setpoints) error {
			if s.Values["a"] > 6 {
				came <- struct{}{}
			}
			return inner(ctx, s)
		}
		live.deps.Devices[0].Device = tr.dev
	})
	end := tr.begin(t)
	<-came
	time.Sleep(50 * time.Millisecond)
	if r := ask(tr.deps.Panel, control.CommandEnd); !r.OK || !strings.Contains(r.Message, "a stays where it is, at 6 V at most") {
		t.Errorf("answer %+v", r)
	}
	if result, err := end(); err != nil || result.Rest[0].Err != nil {
		t.Errorf("ended with %v, %+v", err, result.Rest)
	}
	return tr
}
