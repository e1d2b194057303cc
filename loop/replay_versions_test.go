package loop

import (
	"testing"

	"github.com/labtuner/tuner/loop/plan"
)

// TestReplayTakesDecisionsOfAnotherVersion: what another version has decided is taken as it
// was recorded, by a resume as well as by a replay, and what this one has decided derives. The
// other version is a policy that decides otherwise.
func TestReplayTakesDecisionsOfAnotherVersion(t *testing.T) {
	for _, failpoint := range []string{"decision-durable", "outcome-durable"} {
		path, o := crash(t, failpoint, 7)
		next := oneKnobSpec()
		next.Seed, next.Beta = 99, 6
		o.Stop = plan.Stop{Steps: 14}
		o.Verify = plan.Verify{Pairs: 6, Seed: 1}
		o.Variables[0].Start = 1
		if _, result := resumeAt(t, path, o, next, rigStart, 1); result.Steps != 14 || result.Verification == nil {
			t.Fatalf("%s: %+v", failpoint, result)
		}
		if done := replayedBy(t, path, o, next, 0, 1); done.First != nil || done.Steps != 7 || done.Foreign != 7 || done.Compared != 12 {
			t.Errorf("%s: by the later version: %+v", failpoint, done)
		}
		if done := replayedBy(t, path, o, oneKnobSpec(), 0, 0); done.First != nil || done.Steps != 7 || done.Foreign != 7+12 || done.Compared != 0 {
			t.Errorf("%s: by the earlier version: %+v", failpoint, done)
		}
		if done := replayedBy(t, path, o, oneKnobSpec(), 0, 2); done.First != nil || done.Steps != 0 || done.Foreign != 14+12 {
			t.Errorf("%s: by a third version: %+v", failpoint, done)
		}
	}
}
