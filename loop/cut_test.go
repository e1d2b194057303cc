package loop

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// TestCutDecisionsAreTold: a deadline that cuts searches is told once in the story, with
// what to change, once more where it leaves too little work to find anything, and counted in the status.
func TestCutDecisionsAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		panel := control.NewPanel("s")
		tr, _, err := live(t, plan.Live, func(tr *trial) {
			tr.opt.Deadline, tr.deps.Panel = 200*time.Millisecond, panel
			tr.deps.Watch.Event = func(e journal.Event) { tr.events = append(tr.events, e) }
			tr.policy.propose = func(ctx context.Context) (policy.Proposal, error) {
				asked := len(tr.policy.seen) + 1
				if asked > 6 {
					return policy.Proposal{}, policy.ErrBudget
				}
				if asked > 1 {
					<-ctx.Done()
				}
				return policy.Proposal{X: []float64{3}, Cut: asked > 1, Work: [...]int{7, 7, 7, 2, 1, 7}[asked-1]}, nil
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		for _, e := range tr.events {
			if e.Kind == journal.EventDeadline {
				told = append(told, e.Message)
			}
		}
		if len(told) != 2 || !strings.Contains(told[0], "200ms has cut the search of step 2 after 7 units") || !strings.Contains(told[0], "raise deadline in [policy]") ||
			!strings.Contains(told[1], "step 4 after 2 units") || !strings.Contains(told[1], "finds little") {
			t.Errorf("told %q, want the first of five and the first that had next to no work", told)
		}
		s := panel.Status()
		if d := s.Decision; d == nil || !d.Cut || d.Cuts != 5 || d.Deadline != 0.2 || d.Work != 7 {
			t.Errorf("status: decision %+v", d)
		}
	})
}
