package loop

import (
	"context"
	"encoding/json"
	"math"
	"testing"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/plan"
)

// TestStatusIsWholeAndFinite: the JSON has every member at each stage of a run, and null
// where there is no number.
func TestStatusIsWholeAndFinite(t *testing.T) {
	tr := newTrial(t)
	tr.deps.Panel = control.NewPanel("s-9")
	tr.opt.Run = plan.RunNames{ID: "r", Name: "n", Site: "lab", Journal: "x.db"}
	tr.opt.Constraints = []plan.Constraint{{Sensor: 1, Low: math.Inf(-1), High: 310}}
	tr.policy.proposals = proposeAll(3, 6)
	var first, middle map[string]any
	read := func() (m map[string]any) {
		text, err := json.Marshal(tr.deps.Panel.Status())
		if err == nil {
			err = json.Unmarshal(text, &m)
		}
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	first = read()
	tr.rig.meter = func(at map[string]float64) float64 {
		if len(tr.outcomes) == 1 {
			middle = read()
		}
		return 10 * at["a"]
	}
	if _, err := tr.run(t, context.Background()); err != nil {
		t.Fatal(err)
	}
	last := read()
	for name := range last {
		if _, ok := first[name]; !ok {
			t.Errorf("%s is not there at first", name)
		}
	}
	at := func(m map[string]any, path ...any) any {
		var v any = m
		for _, p := range path {
			switch p := p.(type) {
			case string:
				v = v.(map[string]any)[p]
			case int:
				v = v.([]any)[p]
			}
		}
		return v
	}
	for _, c := range []struct {
		want any
		path []any
	}{
		{"s-9", []any{"session"}}, {"r", []any{"run"}}, {"lab", []any{"site"}}, {"running", []any{"state"}},
		{1.0, []any{"steps"}}, {6.0, []any{"decision", "requested", 0}}, {30.0, []any{"outcome", "mean"}},
		{6.0, []any{"variables", 0, "readback"}}, {"V", []any{"variables", 0, "unit"}}, {300.0, []any{"sensors", 1, "value"}}, {true, []any{"sensors", 1, "valid"}},
		{nil, []any{"constraints", 0, "low"}}, {10.0, []any{"constraints", 0, "margin"}}, {nil, []any{"recommended"}},
	} {
		if got := at(middle, c.path...); got != c.want {
			t.Errorf("%v is %v, want %v", c.path, got, c.want)
		}
	}
	if last["state"] != "ended" || last["reason"] != "cost" {
		t.Errorf("at the end: %v, %v", last["state"], last["reason"])
	}
}
