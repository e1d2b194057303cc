package loop

import (
	"context"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/policy"
)

// TestSetBestWhileAStepIsRecorded: a person ends the search while the decision, or the
// intent, of a step waits for a slow disk. The step is given up; what becomes durable of
// it then must not be taken for the way home, which waits for a record too.
func TestSetBestWhileAStepIsRecorded(t *testing.T) {
	for _, c := range []struct{ name, after string }{{"decision", "outcome-durable"}, {"intent", "decision-durable"}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				var slow atomic.Int32 // how many further writes take their time
				asked := make(chan control.Response, 1)
				tr, _ := liveTrial(t, func(tr *trial) {
					tr.policy.found = policy.Recommendation{X: []float64{5}, Estimate: policy.Estimate{Mean: 50, SD: 1, LowerBound: 48, NoiseSD: math.NaN()}}
					seen := 0
					tr.deps.Failpoint = func(name string) {
						if name != c.after {
							return
						}
						if seen++; seen != 4 {
							return
						}
						slow.Store(2)
						go func() {
							time.Sleep(500 * time.Millisecond) // the record that follows is being written
							asked <- tr.deps.Panel.Do(ctx, control.Request{Command: control.CommandSetBest, Transport: "test"})
						}()
					}
					tr.deps.Disk = func(string) {
						if slow.Add(-1) >= 0 {
							time.Sleep(time.Second)
						}
					}
				})
				r, err := Run(ctx, tr.opt, tr.deps)
				if err != nil || r.Reason != control.ReasonBest {
					t.Errorf("ended with %q, %v", r.Reason, err)
				}
				select {
				case a := <-asked:
					if !a.OK {
						t.Errorf("answered %+v", a)
					}
				default:
					t.Error("the command was not answered")
				}
			})
		})
	}
}
