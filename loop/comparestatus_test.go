package loop

import (
	"context"
	"strings"
	"testing"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/plan"
)

// The status says that the two settings are being measured in turn, which one and in which
// pair; at the end what came of it.
func TestStatusTellsOfTheComparison(t *testing.T) {
	tr := searched(t)
	tr.deps.Panel = control.NewPanel("s")
	tr.deps.Journal, _ = book(t, &tr.opt)
	before, sides, pairs := 0, map[string]bool{}, map[int]bool{}
	tr.rig.meter = func(at map[string]float64) float64 {
		switch c := tr.deps.Panel.Status().Comparison; {
		case c == nil:
			before++
		case !c.Running || c.Pairs != 8 || c.Words != "" || c.Why != "":
			t.Errorf("while it measures: %+v", c)
		default:
			sides[c.Setting], pairs[c.Pair] = true, true
			if want := map[string]float64{"recommended": 8, "start": 2}[c.Setting]; at["a"] > want+0.1 || at["a"] < want-0.1 {
				t.Errorf("%q is said to be measured, at %v V", c.Setting, at["a"])
			}
		}
		return 10 * at["a"]
	}
	result, err := Run(context.Background(), tr.opt, tr.deps)
	if err != nil {
		t.Fatal(err)
	}
	if before == 0 || len(sides) != 2 || len(pairs) != 8 {
		t.Errorf("%d readings of the search; sides %v, pairs %v", before, sides, pairs)
	}
	c := tr.deps.Panel.Status().Comparison
	if c == nil || c.Running || c.Verdict != plan.VerdictBetter || c.Words != result.Verification.Summary(tr.opt.Objective.Unit) || !strings.Contains(c.Words, "better") {
		t.Errorf("at the end: %+v", c)
	}
}

// Where nothing is compared the status says why.
func TestStatusTellsWhyNothingIsCompared(t *testing.T) {
	tr := searched(t)
	tr.deps.Panel = control.NewPanel("s")
	tr.deps.Journal, _ = book(t, &tr.opt)
	tr.opt.Verify = plan.Verify{Why: "a dose cannot be taken back"}
	if _, err := Run(context.Background(), tr.opt, tr.deps); err != nil {
		t.Fatal(err)
	}
	if c := tr.deps.Panel.Status().Comparison; c == nil || c.Running || c.Words != "" || c.Why != "a dose cannot be taken back" {
		t.Errorf("%+v", c)
	}
}
