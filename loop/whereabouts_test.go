package loop

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

// TestDeletionIsNoticedWithinASecond: also while nothing is due to be recorded.
func TestDeletionIsNoticedWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var settled, deleted, noticed time.Time
		tr, res, err := live(t, plan.Live, func(tr *trial) {
			tr.policy.proposals = proposeAll(4, 6)
			tr.opt.Outages.Wait = true
			tr.opt.Variables[0].Settle = time.Minute
			tr.deps.Watch.Progress = func(p control.Progress) {
				if settled.IsZero() && p.Phase == settling.String() {
					settled = time.Now()
				}
				if deleted.IsZero() && !settled.IsZero() && time.Since(settled) > 10*time.Second {
					if err := os.Remove(tr.deps.Journal.Path()); err != nil {
						t.Error(err)
					}
					deleted = time.Now()
				}
			}
			tr.deps.Watch.Event = func(e journal.Event) {
				if noticed.IsZero() && e.Kind == journal.EventDisk && strings.Contains(e.Message, "it was deleted while the run writes it") {
					noticed = time.Now()
				}
			}
		})
		if err != nil || res.Steps != 2 || len(tr.outcomes) != 2 {
			t.Fatalf("%+v, %v", res, err)
		}
		if after := noticed.Sub(deleted); deleted.IsZero() || noticed.IsZero() || after > time.Second+2*tr.opt.Tick {
			t.Errorf("deleted %v, noticed after %v", deleted, after)
		}
	})
}
