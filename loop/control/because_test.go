package control

import (
	"testing"

	"github.com/labtuner/tuner/loop/journal"
)

// A decision's reason is told by what it carries, so that nothing which comes later changes it.
func TestBecause(t *testing.T) {
	clamped := []journal.Reason{{Variable: "x", Rule: "hard-bounds"}, {Variable: "x", Rule: "hard-bounds"}, {Variable: "y", Rule: "slew"}}
	for _, c := range []struct {
		name string
		d    journal.Decision
		want string
	}{
		{"design", journal.Decision{Initial: true, Why: "{}"}, becauseInitial},
		{"design, all parts 0", journal.Decision{Initial: true, Why: `{"mean":0,"best":0,"log_width":0}`}, becauseInitial},
		{"a policy without a model", journal.Decision{Why: "{}"}, becauseDesign},
		{"nothing that can be read", journal.Decision{Why: "?"}, becauseDesign},
		{"a run of before", journal.Decision{Why: `{"mean":1,"sd":0.5}`}, becauseExpected},
		{"worse by more than its sd", journal.Decision{Why: `{"mean":1,"sd":0.5,"best":1.6}`}, becauseExplore},
		{"worse by less", journal.Decision{Why: `{"mean":1,"sd":0.5,"best":1.4}`}, becauseExploit},
		{"better than the best", journal.Decision{Why: `{"mean":3,"sd":0.5,"best":1.4}`}, becauseExploit},
		{"lengthscales of their own", journal.Decision{Why: `{"mean":3,"sd":0.5,"best":1.4,"own_lengthscales":0.98}`},
			becauseExploit + "; of the models that compete, the one with a lengthscale for each variable leads (98 %)"},
		{"one lengthscale for all", journal.Decision{Why: `{"mean":3,"sd":0.5,"best":1.4,"own_lengthscales":0.2}`}, becauseExploit},
		{"through a logarithm", journal.Decision{Why: `{"mean":3,"sd":0.5,"best":1.4,"log_width":0.1}`},
			becauseExploit + "; the objective is learnt through its logarithm, as its readings ask"},
		{"readings enough", journal.Decision{Why: `{"mean":1,"sd":0.5,"best":1.4,"settled":4}`}, becauseSettled},
		{"cut before it was far from any", journal.Decision{Cut: true, Why: `{"mean":1,"sd":0.5,"best":1.4,"unseen":0}`}, becauseUnseenCut},
		{"cut, and far", journal.Decision{Cut: true, Why: `{"mean":1,"sd":0.5,"best":1.4,"unseen":0.3}`}, becauseUnseen},
		{"far from all", journal.Decision{Why: `{"mean":1,"sd":0.5,"best":1.4,"unseen":0.3}`}, becauseUnseen},
		{"once more", journal.Decision{Why: `{"mean":1,"sd":0.5,"best":1.4,"again":0.01}`}, becauseAgain},
		// With alpha 2: worth 5 - 2*1 = 3 against 4 - 2*0.1 = 3.8, although its mean is greater.
		{"bright and noisy", journal.Decision{Why: `{"mean":5,"sd":0.5,"noise_variance":1,"risk":2,"best":4,"best_noise_variance":0.1}`}, becauseExplore},
		// 4 - 2*0.1 = 3.8 against 5 - 2*1 = 3.
		{"dim and quiet", journal.Decision{Why: `{"mean":4,"sd":0.5,"noise_variance":0.1,"risk":0.2,"best":5,"best_noise_variance":1}`}, becauseExploit},
		{"a person", journal.Decision{Why: `{"origin":"person","command":3,"who":"anna","reason":"looks good"}`}, "asked for by anna: looks good"},
		{"a person without words", journal.Decision{Why: `{"origin":"person","command":3,"who":"anna"}`}, "asked for by anna"},
		{"a comparison", journal.Decision{Why: `{"mean":3,"sd":0.5,"best":1.4,"own_lengthscales":0.98}`, Compared: journal.Compared{Comparison: 1, Pair: 2, Side: journal.Starting}}, becauseCompared},
		{"clamped", journal.Decision{Initial: true, Why: "{}", Reasons: clamped}, becauseInitial + "; changed by the safety layer: x hard-bounds, y slew"},
	} {
		if got := Because(&c.d); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
