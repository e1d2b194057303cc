package loop

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/safety"
)

// TestDecisionOfATripIsTheNext: a trip comes while the policy decides, or makes itself
// anew; its answer comes before the run is resumed, or after. Each decision of the policy
// is played once, in its order, by one policy at a time.
func TestDecisionOfATripIsTheNext(t *testing.T) {
	for _, c := range []struct {
		name         string
		decides      time.Duration // how long the third decision takes
		panics       bool          // it panics instead, and another policy is made in that time
		want         []float64     // the first six settings
		policiesMade int
	}{
		{"the answer comes before the resume", 4 * time.Second, false, []float64{1, 2, 3, 4, 5, 6}, 0},
		{"the answer comes after the resume", 9 * time.Second, false, []float64{1, 2, 3, 4, 5, 6}, 0},
		{"a policy is made before the resume", 4 * time.Second, true, []float64{1, 2, 1, 2, 3, 4}, 1},
		{"a policy is made after the resume", 9 * time.Second, true, []float64{1, 2, 1, 2, 3, 4}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var open atomic.Bool
				var busy atomic.Int32
				var decided []float64
				made := 0
				counting := func(slow int) *script {
					s, n := &script{}, 0
					s.propose = func(context.Context) (policy.Proposal, error) {
						if busy.Add(1) > 1 {
							t.Error("two policies decide at once, or one twice")
						}
						defer busy.Add(-1)
						if n++; n == slow {
							if c.panics {
								panic("as the test wants it")
							}
							time.Sleep(c.decides)
						}
						return policy.Proposal{X: []float64{float64(n)}}, nil
					}
					return s
				}
				tr, _ := liveTrial(t, func(tr *trial) {
					tr.opt.Safety.Interlocks = []safety.Condition{{Sensor: 1, Low: 290, High: 305}}
					tr.rig.aux = func() float64 {
						if open.Load() {
							return 310
						}
						return 300
					}
					tr.deps.Panel.MakeReachable()
					tr.deps.Policy = counting(3)
					tr.deps.Rebuild = func(context.Context) (policy.Policy, error) {
						made++
						time.Sleep(c.decides)
						return counting(0), nil
					}
					tr.deps.Watch.Step = func(d journal.Decision, _ journal.Outcome) {
						decided = append(decided, math.Round(d.Requested[0]))
					}
				})
				end := tr.begin(t)
				for tr.deps.Panel.Status().Steps < 2 {
					time.Sleep(100 * time.Millisecond)
				}
				time.Sleep(time.Second) // the third decision is being made
				open.Store(true)
				time.Sleep(time.Second)
				open.Store(false)
				time.Sleep(4 * time.Second)
				if s := tr.deps.Panel.Status(); s.State != "tripped" || s.Steps != 2 {
					t.Fatalf("%s after %d steps", s.State, s.Steps)
				}
				for _, command := range []string{control.CommandReset, control.CommandResume} {
					if r := ask(tr.deps.Panel, command); !r.OK {
						t.Errorf("%s: %+v", command, r)
					}
				}
				time.Sleep(time.Minute)
				ask(tr.deps.Panel, control.CommandStop)
				_, _ = end() // stopped
				if len(decided) < 6 || !slices.Equal(decided[:6], c.want) || made != c.policiesMade {
					t.Errorf("decided %v, want %v; %d policies were made, want %d", decided, c.want, made, c.policiesMade)
				}
			})
		})
	}
}
