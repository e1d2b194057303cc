package loop

import (
	"context"
	"testing"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/replay"
)

// TestReplayByEachSessionsConfiguration: a run that was resumed by another configuration,
// twice, is derived by all three; by the first alone it is not.
func TestReplayByEachSessionsConfiguration(t *testing.T) {
	for _, failpoint := range []string{"decision-durable", "outcome-durable"} {
		path, o := crash(t, failpoint, 7)
		second, third := oneKnobSpec(), oneKnobSpec()
		second.Seed, second.InitialSteps = 99, 3
		third.Seed, third.Beta = 98, 6
		o.Stop = plan.Stop{Steps: 10}
		o.Verify = plan.Verify{Pairs: 6, Seed: 1}
		o.Variables[0].Start = 1
		cutPath := cutAfter(t, path, o, second)
		o3 := o
		o3.Stop = plan.Stop{Steps: 14}
		o3.Verify.Seed = 2
		_, result := resume(t, cutPath, o3, third)
		if result.Steps != 14 || result.Verification == nil {
			t.Fatalf("%s: %+v", failpoint, result)
		}
		first, err := policy.New(oneKnobSpec())
		if err != nil {
			t.Fatal(err)
		}
		remake := func(session int, _ plan.Changes) (plan.Options, policy.Policy, error) {
			o, spec := o, second
			if session == 3 {
				o, spec = o3, third
			}
			p, err := policy.New(spec)
			return o, p, err
		}
		r, err := journal.OpenReader(cutPath)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		replay := replay.Decisions{Options: o, Policy: first, Configured: []int{2, 3}, Remake: remake}
		done, err := replay.Run(context.Background(), r)
		if err != nil || done.First != nil || done.Steps != 14 {
			t.Errorf("%s: %d steps derive, then %+v, %v", failpoint, done.Steps, done.First, err)
		}
		if done := replayed(t, cutPath, o, oneKnobSpec(), 0); done.First == nil {
			t.Errorf("%s: by the first configuration alone all %d steps derive", failpoint, done.Steps)
		}
	}
}

// cutAfter resumes a journal and interrupts it after two more steps.
func cutAfter(t *testing.T, path string, o plan.Options, spec policy.Spec) string {
	t.Helper()
	j, err := journal.Open(path, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	tr := newTrial(t)
	tr.opt = o
	p, err := policy.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	past, err := replay.Recall(&o, r)
	if err != nil {
		t.Fatal(err)
	}
	replay := replay.Decisions{Options: o, Policy: p, Lenient: true}
	if _, err := replay.Run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tr.deps.Failpoint = func(name string) {
		if name == "intent-durable" && len(tr.outcomes) == 2 {
			cancel()
		}
	}
	tr.deps.Policy, tr.deps.Journal, tr.deps.Past = p, j, &past
	if _, err := Run(ctx, tr.opt, tr.deps); err == nil {
		t.Fatal("the run was not interrupted")
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}
