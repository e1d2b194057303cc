package outcome

import (
	"math"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

func TestProgressLine(t *testing.T) {
	w := &setup.Setup{Options: plan.Options{Objective: plan.Objective{Unit: "mJ"}, Cost: plan.Cost{Unit: "EUR"}}}
	p := &control.Status{Step: 12, Phase: "measuring", Recommended: &control.RecommendedStatus{Bound: 1.90456}, Spent: 4.3, Left: 192}
	if got, want := Progress(w, p, 1), "step 12, measuring, best at least 1.905 mJ, spent 4.3 EUR, 3m12s left"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	// A simulation that is a hundred times faster ends a hundred times sooner.
	w.Options.Objective.Minimize = true
	if got, want := Progress(w, p, 0.01), "step 12, measuring, best at most 1.905 mJ, spent 4.3 EUR, 1.9s left"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := Progress(w, &control.Status{Phase: "opening", Left: journal.Number(math.NaN())}, 1), "step 0, opening, spent 0 EUR"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
