package loop

import (
	"math"
	"testing"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

// TestFailedStepWithoutReadback: a step that failed while nobody knew where the actuator
// stood is learnt at the setting that was asked for, or not at all; a policy refuses what
// is not finite, and then the run could not go on, nor be resumed.
func TestFailedStepWithoutReadback(t *testing.T) {
	o := options(plan.Live)
	nan := math.NaN()
	for _, c := range []struct{ x, requested, want float64 }{{3, 4, 3}, {nan, 4, 4}, {nan, nan, nan}} {
		got := o.Observations(plan.Concluded{Requested: []float64{c.requested}, Outcome: journal.Outcome{Step: 1, X: []float64{c.x}, Mean: nan, Problem: "lost"}})
		switch {
		case math.IsNaN(c.want):
			if len(got) != 0 {
				t.Errorf("read %v, asked for %v: learnt %+v", c.x, c.requested, got)
			}
		case len(got) != 1 || got[0].X[0] != c.want || got[0].Valid:
			t.Errorf("read %v, asked for %v: learnt %+v", c.x, c.requested, got)
		}
	}
}
