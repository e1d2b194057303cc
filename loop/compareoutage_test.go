package loop

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/plan"
)

// darkComparison is a comparison of 8 pairs in whose fifth step something goes dark for a
// time; broken is what is to be broken then.
func darkComparison(t *testing.T, outage time.Duration, broken func(tr *trial, dark func() bool)) *trial {
	t.Helper()
	tr := searched(t)
	tr.opt.Outages = plan.Outages{Wait: true, Retries: 3, Window: 30 * time.Second}
	tr.rig.reopen = func() error { return nil }
	legs, since := 0, time.Time{}
	tr.deps.BeginStep = func(int) {
		if len(tr.policy.seen) == 3 {
			legs++
		}
	}
	broken(tr, func() bool {
		if legs >= 5 && since.IsZero() {
			since = tr.clock.Now()
		}
		return !since.IsZero() && tr.clock.Now().Sub(since) < outage
	})
	return tr
}

// darkKinds are the outages of a comparison: a device that is gone, a sensor that is silent,
// an objective without a value.
var darkKinds = map[string]func(tr *trial, dark func() bool){
	"device gone": func(tr *trial, dark func() bool) {
		tr.rig.fault = func(string) error {
			if dark() {
				return fmt.Errorf("%w: not connected", drivers.ErrUnavailable)
			}
			return nil
		}
	},
	"sensor silent": func(tr *trial, dark func() bool) {
		tr.rig.aux = func() float64 {
			if dark() {
				return math.NaN()
			}
			return 300
		}
	},
	"objective silent": func(tr *trial, dark func() bool) {
		tr.rig.meter = func(at map[string]float64) float64 {
			if dark() {
				return math.NaN()
			}
			return 10 * at["a"]
		}
	},
}

// TestOutageOfComparisonIsWaitedOut: an outage while the recommended setting is compared with the
// starting one is waited for as one of the search is, the pair that it cut through is measured
// again, and the run ends with a verdict, at the recommended setting.
func TestOutageOfComparisonIsWaitedOut(t *testing.T) {
	const outage = 20 * time.Minute
	for what, broken := range darkKinds {
		for _, onFault := range []plan.RestState{plan.RestHold, plan.RestSafe} {
			t.Run(what+" "+string(onFault), func(t *testing.T) {
				tr := darkComparison(t, outage, broken)
				tr.opt.Variables[0].OnFault = onFault
				var path string
				tr.deps.Journal, path = book(t, &tr.opt)
				res, err := Run(context.Background(), tr.opt, tr.deps)
				if err != nil || res.Reason != control.ReasonSteps {
					t.Fatalf("ended by %q, error %v", res.Reason, err)
				}
				v := res.Verification
				// The objective's outage drops the pairs until it is seen to be one.
				if v == nil || v.Verdict != plan.VerdictBetter || v.Pairs < 8-tr.opt.FailureLimit || v.Pairs+v.Dropped != 8 {
					t.Errorf("got %+v, %q", v, res.Unverified)
				}
				if tr.told("the run waits")+tr.told("the run is held, and tries again") == 0 || tr.last() != 8 {
					t.Errorf("left at %v, events %+v", tr.last(), tr.events)
				}
				if over := res.Elapsed - outage; over > outageMost+2*time.Minute {
					t.Errorf("the run took %v longer than the outage", over)
				}
				wantSound(t, path, 3+v.Steps)
			})
		}
	}
}

// TestTimeEndsAnOutageOfComparison: stop.verify_time bounds the wait, and what was measured until
// then is evaluated.
func TestTimeEndsAnOutageOfComparison(t *testing.T) {
	for what, broken := range darkKinds {
		t.Run(what, func(t *testing.T) {
			tr := darkComparison(t, 3*time.Hour, broken)
			tr.opt.Verify.Time = 30 * time.Minute
			res, _ := tr.run(t, context.Background())
			if v := res.Verification; res.Reason != control.ReasonSteps || v == nil || v.Pairs != 2 || tr.told("stop.verify_time") != 1 {
				t.Errorf("ended by %q, got %+v, %q", res.Reason, v, res.Unverified)
			}
			if res.Elapsed > 30*time.Minute+outageMost+2*time.Minute {
				t.Errorf("it took %v", res.Elapsed)
			}
		})
	}
}
