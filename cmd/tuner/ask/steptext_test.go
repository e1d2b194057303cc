package ask

import (
	"testing"

	"github.com/labtuner/tuner/loop/control"
)

// TestStepText: steps of the comparison are none of the search's.
func TestStepText(t *testing.T) {
	for _, c := range []struct {
		step, limit int
		want        string
	}{{3, 40, "3 of 40"}, {42, 40, "40 of 40"}, {7, 0, "7"}} {
		if got := stepText(&control.Status{Step: c.step, StepLimit: c.limit}); got != c.want {
			t.Errorf("step %d, limit %d: %q, want %q", c.step, c.limit, got, c.want)
		}
	}
}
