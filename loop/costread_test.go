package loop

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

// readsCosts has the control set's cost read: a tenth of the objective's sensor.
func readsCosts(o *plan.Options) {
	o.Cost.Reading = func(sensors []float64) (float64, error) {
		if math.IsNaN(sensors[0]) {
			return 0, errors.New("no data")
		}
		return sensors[0] / 10, nil
	}
}

// TestReadCostIsCharged: what the sensor said is charged and told to the policy, and the run ends where what is
// left does not hold the most expensive step so far.
func TestReadCostIsCharged(t *testing.T) {
	tr := newTrial(t)
	readsCosts(&tr.opt)
	tr.policy.proposals = proposeAll(2, 3, 2, 2, 2)
	tr.opt.Stop = plan.Stop{Cost: 9.5} // 2 + 3 + 2 are spent; 2.5 hold another step of 2, but none of 3
	res, err := tr.run(t, context.Background())
	if err != nil || res.Steps != 3 || res.Reason != control.ReasonCost || res.Spent != 7 {
		t.Fatalf("result %+v, error %v; want three steps that cost 7", res, err)
	}
	for i, want := range []float64{2, 3, 2} {
		if o := tr.policy.seen[i]; o.Cost != want || o.SetCost != want || tr.outcomes[i].Cost != want {
			t.Errorf("step %d: the policy was told %v and %v, the journal %v, want %v", i+1, o.Cost, o.SetCost, tr.outcomes[i].Cost, want)
		}
	}
}

// TestUnreadCostIsToldOnce: a negative reading is none; what such steps cost so far is charged.
func TestUnreadCostIsToldOnce(t *testing.T) {
	tr := newTrial(t)
	readsCosts(&tr.opt)
	tr.opt.ControlSets[0].Cost = 0.5
	tr.policy.proposals = proposeAll(-1, 4, -1)
	tr.opt.Stop = plan.Stop{Steps: 3}
	tr.rig.meter = func(at map[string]float64) float64 { return 10 * at["a"] }
	if _, err := tr.run(t, context.Background()); err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, e := range tr.events {
		if e.Kind == "cost" && strings.Contains(e.Message, "was not read") {
			told++
		}
	}
	if got := []float64{tr.outcomes[0].Cost, tr.outcomes[1].Cost, tr.outcomes[2].Cost}; got[0] != 0.5 || got[1] != 4 || got[2] != 2.25 || told != 1 {
		t.Errorf("charged %v and told %d times, want 0.5, 4, their mean, and once", got, told)
	}
}

// TestReadCostsSurviveAKill: a run whose costs are read goes on with the sum that it had, and everything derives
// from the journal.
func TestReadCostsSurviveAKill(t *testing.T) {
	spec := oneKnobSpec()
	spec.CostsRead, spec.Budget = true, 0
	for _, failpoint := range []string{"decision-durable", "outcome-durable"} {
		path, o := crashOf(t, failpoint, 5, spec, readsCosts)
		o.Stop = plan.Stop{Steps: 12}
		past, result := resume(t, path, o, spec)
		if result.Steps != 12 || past.Steps != 5 {
			t.Errorf("%s: past %+v, result of %d steps", failpoint, past, result.Steps)
		}
		sum, unknown := 0.0, 0.0
		outcomesOf(t, path, func(s journal.Step) bool {
			if sum += s.Outcome.Cost; s.Outcome.Problem == journal.ProblemUnknown {
				unknown = s.Outcome.Cost
			}
			return false
		})
		if plan.AsMoney(sum) != plan.AsMoney(result.Spent) {
			t.Errorf("%s: the steps cost %v, the run says %v", failpoint, sum, result.Spent)
		}
		if open := failpoint == "decision-durable"; open != (unknown > 0) {
			t.Errorf("%s: the step in flight is charged %v", failpoint, unknown)
		}
		if done := replayed(t, path, o, spec, 0); done.First != nil || done.Steps != 12 || done.Outcomes != 12 {
			t.Errorf("%s: %d steps and %d outcomes derive, then %+v", failpoint, done.Steps, done.Outcomes, done.First)
		}
	}
}
