package loop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/replay"
)

// fragile is a real policy that fails where a test says so. Whatever is asked of one that
// has panicked panics again.
type fragile struct {
	policy.Policy
	fails  func(asked int) error
	asked  int
	ruined bool
}

func (f *fragile) Propose(ctx context.Context) (policy.Proposal, error) {
	if f.ruined {
		panic("asked again after a panic")
	}
	f.asked++
	if err := f.fails(f.asked); err != nil {
		f.ruined = true
		panic(err)
	}
	return f.Policy.Propose(ctx)
}

// fragileRun is a run of replaySpec by a policy that panics where fails says so, counted
// over all the policies that were made, and made anew from the journal, which is closed when it ends.
func fragileRun(t *testing.T, o journal.Options, fails func(asked int) error) (tr *trial, path string, made int, err error) {
	t.Helper()
	tr = newTrial(t)
	tr.rig = newRig(tr.clock, "a", "b")
	tr.deps.Devices = []Device{{Name: "rig", Device: tr.rig}}
	tr.rig.meter = func(at map[string]float64) float64 { return -math.Pow(at["a"]-6, 2) - math.Pow(at["b"]-4, 2)/3 }
	tr.opt.Variables = append(tr.opt.Variables, variable("b"))
	tr.opt.ControlSets = []plan.ControlSet{{Variables: []int{0}, Cost: 1}, {Variables: []int{0, 1}, Cost: 5}}
	tr.opt.Stop = plan.Stop{Steps: 12}
	asked := 0
	build := func() policy.Policy {
		p, err := policy.New(replaySpec())
		if err != nil {
			t.Fatal(err)
		}
		made++
		return &fragile{Policy: p, fails: func(int) error { asked++; return fails(asked) }}
	}
	tr.deps.Policy = build()
	j, path := bookOf(t, &tr.opt, o)
	tr.deps.Journal = j
	tr.deps.Rebuild = func(ctx context.Context) (policy.Policy, error) {
		p := build()
		r, err := journal.OpenReader(path)
		if err != nil {
			return nil, err
		}
		defer r.Close()
		replay := replay.Decisions{Options: tr.opt, Policy: p, Lenient: true}
		_, err = replay.Run(ctx, r)
		return p, err
	}
	_, err = Run(context.Background(), tr.opt, tr.deps)
	return tr, path, made, errors.Join(err, j.Close())
}

// requested are the decisions of a journal.
func requested(t *testing.T, path string) (out [][]float64) {
	t.Helper()
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for s, err := range r.Steps() {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s.Decision.Requested)
	}
	return out
}

// TestPanickedPolicyIsMadeAnew: a policy that panics once is made anew from the journal;
// the run goes on as if nothing had been, decision by decision; so does one whose journal gathers what it is told.
func TestPanickedPolicyIsMadeAnew(t *testing.T) {
	t.Run("each record is committed", func(t *testing.T) { panicsOnce(t, journal.Options{}) })
	t.Run("records are gathered", func(t *testing.T) { panicsOnce(t, journal.Options{Repeatable: true}) })
}

func panicsOnce(t *testing.T, o journal.Options) {
	_, whole, _, err := fragileRun(t, o, func(int) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	tr, path, made, err := fragileRun(t, o, func(asked int) error {
		if asked == 7 {
			return errors.New("index out of range")
		}
		return nil
	})
	if err != nil || made != 2 {
		t.Fatalf("error %v, %d policies were made", err, made)
	}
	want, got := requested(t, whole), requested(t, path)
	if len(want) != 12 || !slices.EqualFunc(want, got, func(a, b []float64) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
		t.Errorf("decisions %v, want those without a panic %v", got, want)
	}
	told := 0
	for _, e := range tr.events {
		if e.Kind == journal.EventPolicy {
			told++
		}
	}
	if told != 2 {
		t.Errorf("told %d times of a failure and of what was done: %+v", told, tr.events)
	}
}

// TestThreePanicsFallBack: what panics from the same record again and again is asked
// three times; the setpoints stand meanwhile, and then the actuators go to their fault
// states.
func TestThreePanicsFallBack(t *testing.T) {
	steps := 0
	tr, path, made, err := fragileRun(t, journal.Options{}, func(int) error {
		steps++
		// Each policy decides six steps, then panics: the first one in the run, the others
		// when they have been brought there.
		if steps%7 == 0 {
			return errors.New("index out of range")
		}
		return nil
	})
	if !errors.Is(err, ErrSafety) || !strings.Contains(err.Error(), "index out of range") || made != 3 {
		t.Fatalf("error %v, %d policies were made", err, made)
	}
	if n := len(requested(t, path)); n != 6 {
		t.Errorf("%d steps were decided, want 6", n)
	}
	for _, name := range []string{"a", "b"} {
		if at := tr.rig.knobs[name].target; at != 1 {
			t.Errorf("%s was left at %v, not at its safe value", name, at)
		}
	}
	if !tr.said("fallen back: policy") {
		t.Errorf("events %+v", tr.events)
	}
}

// TestGarbageIsRuleOne: a setting that is not finite keeps the value and is counted by
// the layer; one of another shape counts as a failed decision.
func TestGarbageIsRuleOne(t *testing.T) {
	tr := newTrial(t)
	tr.opt.Stop.Steps = 4
	asked := 0
	tr.policy.propose = func(context.Context) (policy.Proposal, error) {
		asked++
		switch {
		case asked == 2:
			return policy.Proposal{X: []float64{math.Inf(1)}}, nil
		case asked == 3:
			return policy.Proposal{X: []float64{1, 2, 3}}, nil
		case asked == 4:
			return policy.Proposal{ControlSet: 9, X: []float64{1}}, nil
		}
		return policy.Proposal{X: []float64{4}}, nil
	}
	res, err := tr.run(t, context.Background())
	if err != nil || res.Steps != 4 || asked != 6 {
		t.Fatalf("result %+v, error %v, asked %d times", res, err, asked)
	}
	for i, o := range tr.policy.seen {
		if o.X[0] != 4 {
			t.Errorf("step %d was at %v: the value was to stand", i+1, o.X)
		}
	}
}

// TestGarbageForEverHolds: three proposals in a row that are not finite hold the run, and
// the fallback follows.
func TestGarbageForEverHolds(t *testing.T) {
	tr := newTrial(t)
	tr.opt.Safety.HoldMax = 5 * time.Second
	tr.policy.propose = func(context.Context) (policy.Proposal, error) {
		if len(tr.policy.seen) < 1 {
			return policy.Proposal{X: []float64{4}}, nil
		}
		return policy.Proposal{X: []float64{math.Inf(-1)}}, nil
	}
	_, err := tr.run(t, context.Background())
	if !errors.Is(err, ErrSafety) || !tr.said("held: not-finite of a") || tr.rig.knobs["a"].target != 1 {
		t.Errorf("error %v, events %+v", err, tr.events)
	}
}

// TestLateDecisions: a policy that sleeps through its deadline is waited for three times
// while the setpoints stand and are refreshed; one that wakes up in time goes on, one
// that does not leads to the fallback.
func TestLateDecisions(t *testing.T) {
	for _, c := range []struct {
		sleeps time.Duration
		falls  bool
	}{{15 * time.Second, false}, {25 * time.Second, false}, {40 * time.Second, true}} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			var tr *trial
			_, res, err := live(t, plan.Live, func(trial *trial) {
				tr = trial
				tr.opt.Variables[0].Limits.Lease = 3 * time.Second
				tr.opt.Stop.Steps = 3
				tr.deps.Watch.Event = func(e journal.Event) { tr.events = append(tr.events, e) }
				tr.policy.propose = func(context.Context) (policy.Proposal, error) {
					if asked++; asked == 2 {
						time.Sleep(c.sleeps) // and does not listen to its context
					}
					return policy.Proposal{X: []float64{4}}, nil
				}
			})
			if c.falls != errors.Is(err, ErrSafety) || !c.falls && (err != nil || res.Steps != 3) {
				t.Fatalf("asleep for %v: result %+v, error %v", c.sleeps, res, err)
			}
			if c.falls != tr.said("fallen back: policy") {
				t.Errorf("asleep for %v: events %+v", c.sleeps, tr.events)
			}
			// The setpoint that stands is refreshed within a third of the lease all the time.
			writes := tr.rig.calls("write")
			for i := range writes[1:] {
				if gap := writes[i+1].at - writes[i].at; gap > time.Second {
					t.Errorf("asleep for %v: nothing was written for %v", c.sleeps, gap)
				}
			}
		})
	}
}

// TestResumeAfterThePolicyFailed: where a person can resume, the run stays in the
// fallback and asks a policy made anew.
func TestResumeAfterThePolicyFailed(t *testing.T) {
	tr := newTrial(t)
	tr.opt.Stop.Steps = 3
	tr.deps.Panel = control.NewPanel("test")
	tr.deps.Panel.MakeReachable()
	sound := &script{proposals: proposeAll(5, 5, 5, 5)}
	tr.policy.propose = func(context.Context) (policy.Proposal, error) {
		if len(tr.policy.seen) < 1 {
			return policy.Proposal{X: []float64{4}}, nil
		}
		panic("index out of range")
	}
	rebuilt := 0
	tr.deps.Rebuild = func(context.Context) (policy.Policy, error) {
		if rebuilt++; rebuilt < 3 {
			return tr.policy, nil
		}
		return sound, nil
	}
	rested := 0
	tr.rig.aux = func() float64 {
		if tr.said("fallen back") {
			if rested++; rested == 100 {
				tr.order(control.CommandResume)
			}
		}
		return 300
	}
	res, err := tr.run(t, context.Background())
	if err != nil || res.Steps != 3 || len(sound.seen) != 2 {
		t.Errorf("result %+v, error %v, the new policy saw %d steps", res, err, len(sound.seen))
	}
}

// TestEndAfterThePolicyFailed: a run whose policy has failed for good ends when it is told to, and says that there is no
// recommendation.
func TestEndAfterThePolicyFailed(t *testing.T) {
	tr := newTrial(t)
	tr.opt.Stop.Steps = 3
	tr.deps.Panel = control.NewPanel("test")
	tr.deps.Panel.MakeReachable()
	tr.policy.propose = func(context.Context) (policy.Proposal, error) {
		if len(tr.policy.seen) < 1 {
			return policy.Proposal{X: []float64{4}}, nil
		}
		panic("index out of range")
	}
	tr.deps.Rebuild = func(context.Context) (policy.Policy, error) { return tr.policy, nil }
	rested := 0
	tr.rig.aux = func() float64 {
		if tr.said("fallen back") {
			if rested++; rested == 100 {
				tr.order(control.CommandEnd)
			}
		}
		return 300
	}
	res, err := tr.run(t, context.Background())
	if err == nil || !strings.Contains(err.Error(), "fallen back: policy") || res.HasFound || tr.events[len(tr.events)-1].Message != "the policy has failed: there is no recommendation" {
		t.Errorf("result %+v, error %v, events %+v", res, err, tr.events)
	}
}

// TestRecommendingPanicsToo: a policy that panics when it is asked for its recommendation
// at the end does not take the loop with it.
func TestRecommendingPanicsToo(t *testing.T) {
	tr := newTrial(t)
	tr.opt.Stop.Steps = 2
	tr.deps.Policy = &stubborn{script: &script{proposals: proposeAll(4, 4)}}
	if res, err := tr.run(t, context.Background()); err != nil || res.Steps != 2 || res.HasFound {
		t.Errorf("result %+v, error %v", res, err)
	}
}

// stubborn panics when it is asked for its recommendation more often than before the first of two
// decisions and after each step.
type stubborn struct {
	*script
	asked int
}

func (s *stubborn) Recommend() (policy.Recommendation, error) {
	if s.asked++; s.asked > 3 {
		panic("no recommendation")
	}
	return s.script.Recommend()
}
