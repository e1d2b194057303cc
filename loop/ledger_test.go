package loop

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/plan"
)

// TestSettingCostIsCharged: a formula over the setting is charged where the safety
// layer lets the setting go, counts for the budget before the step begins, and what
// the policy is told adds up to what the loop has spent.
func TestSettingCostIsCharged(t *testing.T) {
	tr := newTrial(t)
	var asked [][]float64
	tr.opt.Cost = plan.Cost{PerStep: 0.1, PerMove: []float64{0.2}, Setting: func(set int, x []float64) float64 {
		asked = append(asked, x)
		return math.Exp(x[0]) / 10
	}}
	tr.opt.ControlSets[0].Cost = 0.3
	// 50 V is beyond the hard bound of 11 V.
	tr.policy.proposals = proposeAll(2, 1, 50)
	tr.opt.Stop = plan.Stop{Cost: 5}
	res, err := tr.run(t, context.Background())
	if err != nil || res.Steps != 2 || res.Reason != control.ReasonCost {
		t.Fatalf("result %+v, error %v; want two steps, as exp(11)/10 is beyond the budget", res, err)
	}
	if last := asked[len(asked)-1]; len(asked) != 3 || last[0] != 11 {
		t.Errorf("asked for the cost of %v, last of all of the clamped setting [11]", asked)
	}
	// Each part is rounded to a billionth, and the knob starts at 0 V.
	round := func(x float64) float64 { return math.Round(x*1e9) / 1e9 }
	want := []float64{0.3 + round(math.Exp(2)/10) + 0.1 + 0.4, 0.3 + round(math.Exp(1)/10) + 0.1 + 0.2}
	sum := 0.0
	for i, o := range tr.policy.seen {
		sum += o.Cost
		// The sum of four decimal numbers is off by some roundings of its own.
		if math.Abs(o.Cost-want[i]) > 1e-15*8 {
			t.Errorf("step %d costs %.17g, want %.17g", i+1, o.Cost, want[i])
		}
		if o.Cost != tr.outcomes[i].Cost {
			t.Errorf("step %d: the policy was told %v, the journal %v", i+1, o.Cost, tr.outcomes[i].Cost)
		}
	}
	if plan.AsMoney(sum) != plan.AsMoney(res.Spent) || tr.outcomes[1].Spent != res.Spent {
		t.Errorf("the policy was told of %v, the run has spent %v", sum, res.Spent)
	}
}

// TestSettingCostThatIsNoNumber ends the run before anything moves.
func TestSettingCostThatIsNoNumber(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), -1} {
		tr := newTrial(t)
		tr.opt.Cost.Setting = func(int, []float64) float64 { return bad }
		tr.policy.proposals = proposeAll(2)
		_, err := tr.run(t, context.Background())
		if err == nil || !strings.Contains(err.Error(), "decision of step 1: cost of setting [2] is") {
			t.Errorf("cost %v: error %v", bad, err)
		}
		if n := len(tr.rig.calls("measure")); n != 0 {
			t.Errorf("cost %v: %d measurements", bad, n)
		}
	}
}
