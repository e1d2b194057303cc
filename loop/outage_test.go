package loop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// TestSilentObjectiveIsWaitedOut: the meter has no value for 20 minutes, in which the
// device answers. The steps that fail are few, and are told to the policy as failed;
// the first value ends the wait.
func TestSilentObjectiveIsWaitedOut(t *testing.T) {
	const outage = 20 * time.Minute
	for _, onFault := range []plan.RestState{plan.RestHold, plan.RestSafe} {
		tr := patientTrial(t)
		tr.opt.Variables[0].OnFault = onFault
		n := 0
		tr.policy.propose = func(context.Context) (policy.Proposal, error) {
			if n++; len(tr.policy.seen) > 2 && tr.policy.seen[len(tr.policy.seen)-1].Valid && len(tr.policy.seen) > 4 {
				return policy.Proposal{}, policy.ErrBudget
			}
			return policy.Proposal{X: []float64{float64(2 + n%3)}}, nil
		}
		var dark time.Time
		tr.rig.meter = func(at map[string]float64) float64 {
			if len(tr.policy.seen) == 2 && dark.IsZero() {
				dark = tr.clock.Now()
			}
			if !dark.IsZero() && tr.clock.Now().Sub(dark) < outage {
				return math.NaN()
			}
			return 10 * at["a"]
		}
		res, err := tr.run(t, context.Background())
		if err != nil {
			t.Fatal(err)
		}
		failed := 0
		for _, o := range tr.policy.seen {
			if !o.Valid {
				failed++
				if !math.IsNaN(o.Mean) || math.IsNaN(o.X[0]) {
					t.Errorf("a failed step is %+v: a setting, and no number for its worth", o)
				}
			}
		}
		// Three at once, then after 10, 20, ... 300 s, and every 5 minutes.
		if failed < 3 || failed > 3+6+int(outage/outageMost) {
			t.Errorf("%d failed steps", failed)
		}
		if last := tr.policy.seen[len(tr.policy.seen)-1]; !last.Valid {
			t.Errorf("the last step failed: %+v", last)
		}
		if tr.told("3 steps in a row gave no valid data") != 1 || tr.told("the run waits") == 0 {
			t.Errorf("events %+v", tr.events)
		}
		if over := res.Elapsed - outage; over > 90*time.Second {
			t.Errorf("on_fault %s: the run took %v longer than the outage", onFault, over)
		}
	}
}

// TestRefusedSafeValueEndsTheRun: a device that says no to everything, its safe value
// too, is nothing to wait for.
func TestRefusedSafeValueEndsTheRun(t *testing.T) {
	tr := patientTrial(t, 3, 4, 5, 6, 7, 8)
	tr.rig.fault = func(op string) error {
		if op == "write" && len(tr.policy.seen) >= 1 {
			return fmt.Errorf("%w: door open", drivers.ErrRefused)
		}
		return nil
	}
	_, err := tr.run(t, context.Background())
	if !errors.Is(err, ErrUnsafe) || !strings.Contains(err.Error(), "door open") {
		t.Errorf("error %v", err)
	}
	for i, o := range tr.policy.seen {
		if o.Valid != (i == 0) {
			t.Errorf("observation %d: %+v", i, o)
		}
	}
}

// TestTimeEndsAnOutage: a run whose time is over does not wait any longer.
func TestTimeEndsAnOutage(t *testing.T) {
	tr := patientTrial(t, 3, 6, 9)
	tr.opt.Stop.Time = 10 * time.Minute
	tr.rig.fault = func(string) error {
		if len(tr.policy.seen) == 1 {
			return fmt.Errorf("%w: not connected", drivers.ErrUnavailable)
		}
		return nil
	}
	res, err := tr.run(t, context.Background())
	if res.Reason != control.ReasonTime || !errors.Is(err, ErrUnsafe) || res.Elapsed > 11*time.Minute {
		t.Errorf("result %+v, error %v", res, err)
	}
}

// TestStaleSensorIsWaitedOut: the fallback after a hold that lasted ends by itself, and
// not before everything has been well for a while.
func TestStaleSensorIsWaitedOut(t *testing.T) {
	const outage = 20 * time.Minute
	tr := guardedTrial(t, func(since time.Duration) float64 {
		if since < outage || since > outage+5*time.Second && since < outage+8*time.Second {
			return math.NaN()
		}
		return 300
	})
	tr.opt.Outages = plan.Outages{Wait: true, Retries: 3, Window: 30 * time.Second}
	res, err := tr.run(t, context.Background())
	if err != nil || res.Steps != 3 || !tr.policy.seen[len(tr.policy.seen)-1].Valid {
		t.Fatalf("result %+v, error %v", res, err)
	}
	if !tr.said("fallen back: sensor aux") || !tr.said("the outage is over") || res.Elapsed < outage+8*time.Second+steady {
		t.Errorf("elapsed %v, events %+v", res.Elapsed, tr.events)
	}
}
