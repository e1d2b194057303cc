package outcome

import (
	"math"
	"strings"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

func TestProgressLine(t *testing.T) {
	w := &setup.Setup{Options: plan.Options{Objective: plan.Objective{Unit: "mJ"}, Cost: plan.Cost{Unit: "EUR"}}}
	p := &control.Status{Step: 12, Phase: "measuring", Recommended: &control.RecommendedStatus{Mean: 2.1, Bound: 1.90456}, Spent: 4.3, Left: 192}
	if got, want := Progress(w, p, 1).String(), "step 12, measuring, best 2.1 (at least 1.905 mJ), spent 4.3 EUR, 3m12s left"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	// A simulation that is a hundred times faster ends a hundred times sooner.
	w.Options.Objective.Minimize = true
	p.Recommended.Mean, p.StepLimit, p.Steps = 1.8, 40, 11
	if got, want := Progress(w, p, 0.01).Fit(90, false), "step 12/40 [###........]  measuring, best 1.8 (at most 1.905 mJ), spent 4.3 EUR, 1.9s left"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	p.Comparison = &control.ComparisonStatus{Running: true, Pair: 3, Pairs: 8}
	p.Step, p.Steps = 45, 40
	if got, want := Progress(w, p, 1).Fit(70, false), "step 40/40 [################]  best 1.8 (at most 1.905 mJ), 3m12s left"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Progress(w, p, 1).Fit(120, false); !strings.Contains(got, "verifying, pair 3 of 8") {
		t.Errorf("got %q, which does not say that it verifies", got)
	}
	if got, want := Progress(w, &control.Status{Phase: "opening", Left: journal.Number(math.NaN())}, 1).Fit(80, false), "step 0  opening, spent 0 EUR"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestDoneIsOfTheNearestStop: the bar is full when the run ends, whichever condition ends it.
func TestDoneIsOfTheNearestStop(t *testing.T) {
	p := &control.Status{Steps: 10, StepLimit: 100, Spent: 30, Budget: 60, Elapsed: 1, TimeLimit: 100}
	if got := done(p); got != 0.5 {
		t.Errorf("%v, want the budget's 0.5", got)
	}
	if got := done(&control.Status{Steps: 10}); !math.IsNaN(got) {
		t.Errorf("%v of a run without an end", got)
	}
}

func TestStepLine(t *testing.T) {
	w := &setup.Setup{Options: plan.Options{Objective: plan.Objective{Unit: "mJ"}, Stop: plan.Stop{Steps: 40},
		Variables: []plan.Variable{{Name: "x"}, {Name: "y"}}}}
	o := journal.Outcome{Valid: true, Mean: 1.25, StandardError: 0.0123, X: []float64{2, math.NaN()}}
	p := &control.Status{Recommended: &control.RecommendedStatus{Mean: 1.3, Bound: 1.2}}
	if got, want := StepLine(w, journal.Decision{Step: 7}, o, p), "tuner: step 7/40: 1.25 mJ (se 0.012) at x=2; best 1.3 (at least 1.2 mJ)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	o = journal.Outcome{Problem: "sensor y is stale"}
	if got, want := StepLine(w, journal.Decision{Step: 41}, o, nil), "tuner: step 41: no valid data: sensor y is stale"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
