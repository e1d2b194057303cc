package loop

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/plan"
)

func TestExploreKeepsNearWhatIsKnown(t *testing.T) {
	tr := newTrial(t)
	tr.opt.Safety.Explore = 0.2 // 2 V of [0, 10]
	tr.policy.proposals = proposeAll(9, 9, 9, 0.5)
	if _, err := tr.run(t, context.Background()); err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{2, 4, 6, 0.5} { // from 0, where it stood
		if o := tr.policy.seen[i]; math.Abs(o.X[0]-want) > 1e-9 || o.Requested == nil || !o.Valid {
			t.Errorf("step %d: at %v, want %v", i+1, o.X[0], want)
		}
	}
}

func TestThreeViolationsFallBack(t *testing.T) {
	for _, explore := range []float64{0, 0.5} {
		tr := newTrial(t)
		tr.opt.Safety.Explore = explore
		tr.opt.Constraints = []plan.Constraint{{Sensor: 1, Low: 0, High: 305}}
		tr.rig.aux = func() float64 { return 300 + tr.rig.position(tr.rig.knobs["a"]) } // above 5 V it is broken
		tr.policy.proposals = proposeAll(4, 6, 6, 4, 6, 7, 8, 4, 4)
		res, err := tr.run(t, context.Background())
		if explore == 0 {
			if err != nil || res.Steps != 9 {
				t.Errorf("advice only: %+v, %v", res, err)
			}
			continue
		}
		if !errors.Is(err, ErrSafety) || !strings.Contains(err.Error(), "fallen back: violation") || res.Steps < 7 || res.Steps > 8 || tr.rig.knobs["a"].target != 1 {
			t.Errorf("%d steps, left at %v, %v", res.Steps, tr.rig.knobs["a"].target, err)
		}
	}
}

// TestFallbackOfItsOwnIsNotWaitedOut: a run that has fallen back for what it has done itself does
// not go on by itself when that is over, as it would after an outage: a person is to look.
func TestFallbackOfItsOwnIsNotWaitedOut(t *testing.T) {
	tr := newTrial(t)
	tr.opt.Outages = plan.Outages{Wait: true, Retries: 3, Window: 30 * time.Second}
	tr.opt.Stop.Time = 10 * time.Minute
	tr.deps.Panel = control.NewPanel("s-1")
	tr.deps.Panel.MakeReachable()
	v := &tr.opt.Variables[0]
	v.Limits.Above, v.Limits.AboveTime = 7, time.Second
	tr.policy.proposals = proposeAll(4, 8, 4, 4, 4, 4)
	res, _ := tr.run(t, context.Background())
	if !tr.said("fallen back: exposure") || tr.said("the outage is over") || res.Steps > 2 || res.Reason != control.ReasonTime {
		t.Errorf("%d steps, ended by %q; events %+v", res.Steps, res.Reason, tr.events)
	}
}

func TestThreeDecisionsThatAreNoNumbersHold(t *testing.T) {
	tr := newTrial(t)
	nan := math.NaN()
	tr.policy.proposals = proposeAll(4, nan, nan, 5, nan, math.Inf(1), nan, 6)
	_, err := tr.run(t, context.Background())
	if !errors.Is(err, ErrSafety) || !strings.Contains(err.Error(), "not-finite of a") {
		t.Errorf("error %v", err)
	}
	for i, want := range []float64{4, 4, 4, 5} {
		if o := tr.policy.seen[i]; math.Abs(o.X[0]-want) > 1e-9 {
			t.Errorf("step %d at %v, want %v", i+1, o.X[0], want)
		}
	}
}
