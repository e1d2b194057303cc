package web

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"testing"

	"github.com/labtuner/tuner/loop/control"
)

// What the document says of the run, against the rule that the run was made by.
func TestCollect(t *testing.T) {
	d := labDocument(t, 30)
	if d.Total != 30 || len(d.Steps) != 30 || d.Run.Seed != "18446744073709551615" || d.Run.Sessions != 1 || d.Run.Finished {
		t.Errorf("%d steps, %d shown, %+v", d.Total, len(d.Steps), d.Run)
	}
	for i, s := range d.Steps {
		want, o := labStep(i + 1)
		if s.N != want.Step || s.Set != want.ControlSet || s.Initial != want.Initial || s.Valid != o.Valid || float64(s.X[0]) != o.X[0] {
			t.Errorf("step %d: %+v", i+1, s)
		}
		if o.Valid != !math.IsNaN(float64(s.Mean)) || o.Valid && (float64(s.Mean) != o.Mean || float64(s.SD) != 0.2) {
			t.Errorf("step %d: mean %v, sd %v", i+1, s.Mean, s.SD)
		}
		// Twice the deviation of 0.1 is what a bound of beta 2 adds.
		if !s.Initial && (float64(s.Explore) != 0.2 || float64(s.NoiseSD) != 0.2) || s.Initial && !math.IsNaN(float64(s.Predicted)) {
			t.Errorf("step %d: explained by %+v", i+1, s)
		}
	}
	if c := d.Steps[8].Clamped; c != "mirror hard-bounds" {
		t.Errorf("step 9 was changed by %q", c)
	}
	// Of 30 steps every other has set 0 at a price of 1 and set 1 at 3.
	for i, want := range []SetPart{{Steps: 15, FirstStep: 2, Spent: 15}, {Steps: 15, FirstStep: 1, Spent: 45}} {
		if s := d.Sets[i]; s.Steps != want.Steps || s.FirstStep != want.FirstStep || s.Spent != want.Spent {
			t.Errorf("control set %d: %+v", i, s)
		}
	}
	if len(d.Rules) != 1 || d.Rules[0] != (RulePart{"mirror", "hard-bounds", 1}) {
		t.Errorf("rules %+v", d.Rules)
	}
	if len(d.Events) != 1 || d.Actions["confirmed"] != 30 {
		t.Errorf("events %+v, actions %v", d.Events, d.Actions)
	}
}

// The page says of the run and of its steps what every other way out says, under the names that
// package control lists.
func TestPageSaysWhatOthersSay(t *testing.T) {
	d := labDocument(t, 30)
	page := members(t, d.Run)
	for name, want := range members(t, control.RunOf(labRun())) {
		got := page[name]
		switch name {
		case "seed":
			want = strconv.FormatUint(labRun().Seed, 10)
		case "objective":
			got = map[string]any{"name": got, "unit": page["unit"]}
		case "variables":
			for i, v := range got.([]any) {
				v := v.(map[string]any)
				got.([]any)[i] = map[string]any{"name": v["name"], "unit": v["unit"]}
			}
		case "control_sets": // Document.Sets
			want = nil
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %v on the page, %v elsewhere", name, got, want)
		}
	}
	as := map[string]string{"n": "n", "mean": "mean", "se": "standard_error", "shots": "shots", "cost": "cost", "spent": "spent", "took_ms": "decision_ms", "valid": "valid"}
	for i, s := range d.Steps {
		decided, o := labStep(i + 1)
		page, line := members(t, s), members(t, control.StepOf(labRun(), decided, o))
		for name, other := range as {
			if got, want := page[name], line[other]; got != want {
				t.Errorf("step %d: %s is %v on the page, %s is %v elsewhere", s.N, name, got, other, want)
			}
		}
	}
}

// members are those of v as JSON.
func members(t *testing.T, v any) (out map[string]any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// However long a run is, what is shown stays bounded: the newest steps all, the others
// evenly.
func TestCollectThinsLongRuns(t *testing.T) {
	t.Parallel()
	d := &Document{Stride: 1}
	c := newCollector(d, labRun())
	const total = 50_000
	for n := 1; n <= total; n++ {
		step := journalStep(n)
		c.addStep(step)
		if len(d.Steps) > shownSteps {
			t.Fatalf("%d steps are shown after %d", len(d.Steps), n)
		}
	}
	c.sum()
	if d.Total != total || d.Steps[len(d.Steps)-1].N != total || len(d.Steps) < shownSteps/4 {
		t.Errorf("%d of %d steps are shown, the last is %d", len(d.Steps), d.Total, d.Steps[len(d.Steps)-1].N)
	}
	for i := 1; i < len(d.Steps); i++ {
		if gap := d.Steps[i].N - d.Steps[i-1].N; gap < 1 || gap > d.Stride {
			t.Fatalf("steps %d and %d are shown, with a stride of %d", d.Steps[i-1].N, d.Steps[i].N, d.Stride)
		}
	}
	if d.Stride > 4*total/shownSteps {
		t.Errorf("of the older steps every %d-th is shown", d.Stride)
	}
	if d.Sets[0].Steps+d.Sets[1].Steps != total {
		t.Errorf("sums forget what is not shown: %+v", d.Sets)
	}
}
