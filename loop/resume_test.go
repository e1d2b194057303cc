package loop

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/replay"
	"github.com/labtuner/tuner/loop/worker"
)

// crash runs replaySpec and copies the journal, as a process that dies leaves it, when
// the named failpoint is passed in step at.
func crash(t *testing.T, failpoint string, at int) (string, plan.Options) {
	t.Helper()
	return crashOf(t, failpoint, at, oneKnobSpec(), func(*plan.Options) {})
}

// crashOf does so with a policy and options of its own.
func crashOf(t *testing.T, failpoint string, at int, spec policy.Spec, edit func(*plan.Options)) (string, plan.Options) {
	t.Helper()
	tr := newTrial(t)
	tr.opt.Stop = plan.Stop{Steps: at + 1}
	edit(&tr.opt)
	p, err := policy.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	tr.deps.Policy = p
	j, path := book(t, &tr.opt)
	tr.deps.Journal = j
	copied := filepath.Join(t.TempDir(), "crashed.db")
	tr.deps.Failpoint = func(name string) {
		// A step is reported after its outcome is durable.
		if name != failpoint || len(tr.outcomes)+1 != at {
			return
		}
		for _, part := range []string{"", "-wal"} {
			content, err := os.ReadFile(path + part)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(copied+part, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := Run(context.Background(), tr.opt, tr.deps); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(copied); err != nil {
		t.Fatalf("failpoint %q of step %d was not passed", failpoint, at)
	}
	return copied, tr.opt
}

func oneKnobSpec() policy.Spec {
	spec := replaySpec()
	spec.Kind, spec.Variables = "gp-ucb", spec.Variables[:1]
	spec.ControlSets = []policy.ControlSet{{Controlled: []bool{true}, Cost: 1}}
	return spec
}

// resume goes on with a journal until steps are done.
func resume(t *testing.T, path string, o plan.Options, spec policy.Spec) (replay.Past, Result) {
	t.Helper()
	return resumeAt(t, path, o, spec, rigStart, 0)
}

// resumeAt does so on a machine whose wall clock shows a time, by a version of what decides.
func resumeAt(t *testing.T, path string, o plan.Options, spec policy.Spec, wall time.Time, version int) (replay.Past, Result) {
	t.Helper()
	j, err := journal.Open(path, journal.Options{Session: journal.Session{Decisions: version}})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	tr := newTrial(t)
	tr.opt, tr.clock = o, worker.NewVirtualClock(wall)
	meter := tr.rig.meter
	tr.rig = newRig(tr.clock, "a")
	tr.rig.meter, tr.deps.Clock, tr.deps.Devices = meter, tr.clock, []Device{{Name: "rig", Device: tr.rig}}
	p, err := policy.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	past, err := replay.Recall(&o, r)
	if err != nil {
		t.Fatal(err)
	}
	replay := replay.Decisions{Options: o, Policy: p, Version: version, Lenient: true}
	if _, err := replay.Run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	tr.deps.Policy, tr.deps.Journal, tr.deps.Past = p, j, &past
	result, err := Run(context.Background(), tr.opt, tr.deps)
	if err != nil {
		t.Fatal(err)
	}
	return past, result
}

// TestResumeDecidesAsAnybodyWould: wherever the process died, what the next one
// decides follows from the journal alone.
func TestResumeDecidesAsAnybodyWould(t *testing.T) {
	for _, failpoint := range []string{"decision-durable", "outcome-durable"} {
		for _, at := range []int{1, 3, 5, 9} {
			path, o := crash(t, failpoint, at)
			o.Stop = plan.Stop{Steps: 14}
			past, result := resume(t, path, o, oneKnobSpec())
			open := failpoint == "decision-durable"
			if past.Steps != at || (past.Open != nil) != open || result.Steps != 14 {
				t.Errorf("%s of step %d: past %+v, result of %d steps", failpoint, at, past, result.Steps)
			}
			if want := 14.0; result.Spent != want { // the step in flight is charged too
				t.Errorf("%s of step %d: %v was spent, want %v", failpoint, at, result.Spent, want)
			}
			if done := replayed(t, path, o, oneKnobSpec(), 0); done.First != nil || done.Steps != 14 {
				t.Errorf("%s of step %d: %d steps derive, then %+v", failpoint, at, done.Steps, done.First)
			}
			unknown := outcomesOf(t, path, func(s journal.Step) bool { return s.Outcome.Problem == journal.ProblemUnknown })
			if want := map[bool][]int{true: {at}, false: nil}[open]; !slices.Equal(unknown, want) {
				t.Errorf("%s of step %d: steps %v are unknown", failpoint, at, unknown)
			}
		}
	}
}

// outcomesOf lists the steps that keep holds for.
func outcomesOf(t *testing.T, path string, keep func(journal.Step) bool) []int {
	t.Helper()
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var steps []int
	for s, err := range r.Steps() {
		if err != nil {
			t.Fatal(err)
		}
		if s.Concluded && keep(s) {
			steps = append(steps, s.Decision.Step)
		}
	}
	return steps
}

// TestResumeKeepsTheBudget: what was spent before counts, and time too.
func TestResumeKeepsTheBudget(t *testing.T) {
	path, o := crash(t, "outcome-durable", 6)
	o.Stop = plan.Stop{Cost: 9}
	if _, result := resume(t, path, o, oneKnobSpec()); result.Reason != control.ReasonCost || result.Steps != 9 {
		t.Errorf("with a budget of 9: ended by %q after %d steps", result.Reason, result.Steps)
	}
	path, o = crash(t, "outcome-durable", 6)
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	past, err := replay.Recall(&o, r)
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	o.Stop = plan.Stop{Time: past.Elapsed}
	if _, result := resume(t, path, o, oneKnobSpec()); result.Reason != control.ReasonTime || result.Steps != 6 {
		t.Errorf("with no time left: ended by %q after %d steps", result.Reason, result.Steps)
	}
}

// TestResumeByAnotherPolicy: what was learnt is kept, though it would have decided
// otherwise; the next step is the journal's next.
func TestResumeByAnotherPolicy(t *testing.T) {
	path, o := crash(t, "decision-durable", 9)
	o.Stop = plan.Stop{Steps: 12}
	other := oneKnobSpec()
	other.Seed++
	other.InitialSteps = 3
	past, result := resume(t, path, o, other)
	if past.Concluded != 8 || result.Steps != 12 {
		t.Errorf("past %+v, result %+v", past, result)
	}
	if found := result.Found; !result.HasFound || math.Abs(found.X[0]-10) > 1 { // the meter is 10 a
		t.Errorf("found %+v", found)
	}
}

// TestElapsedOverSessions: the clock of each session begins at zero.
func TestElapsedOverSessions(t *testing.T) {
	path, o := crash(t, "outcome-durable", 4)
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	first, err := replay.Recall(&o, r)
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	o.Stop = plan.Stop{Steps: 8}
	_, result := resume(t, path, o, oneKnobSpec())
	r, err = journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	both, err := replay.Recall(&o, r)
	if err != nil {
		t.Fatal(err)
	}
	if both.Elapsed <= first.Elapsed || both.Elapsed > result.Elapsed {
		t.Errorf("elapsed %v after the first session, %v after both, the result says %v", first.Elapsed, both.Elapsed, result.Elapsed)
	}
}

// TestResumeBringsToRestWhatAnotherSessionDrove: a process that was killed left its
// actuator somewhere; the one that only has to say that the run is over brings it to its
// shutdown state, as the killed one would have.
func TestResumeBringsToRestWhatAnotherSessionDrove(t *testing.T) {
	path, o := crash(t, "decision-durable", 6)
	o.Stop = plan.Stop{Steps: 6} // the one in flight was the last
	o.Variables[0].Shutdown = plan.RestSafe
	_, result := resume(t, path, o, oneKnobSpec())
	if len(result.Rest) != 1 || result.Rest[0].State != plan.RestSafe || result.Rest[0].Err != nil {
		t.Errorf("the run ended with %+v, not at the safe value", result.Rest)
	}
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var shutdowns []map[string]float64
	var became []journal.ActionState
	for a, err := range r.AllActions() {
		if err != nil {
			t.Fatal(err)
		}
		if a.Kind == "shutdown" {
			shutdowns = append(shutdowns, a.Values)
			for _, s := range a.Resolutions {
				became = append(became, s.State)
			}
		}
	}
	if len(shutdowns) != 1 || shutdowns[0]["a"] != o.Variables[0].Limits.Safe {
		t.Errorf("shut down by %v", shutdowns)
	} else if len(became) != 1 || became[0] != journal.Confirmed {
		t.Errorf("the way to rest, which was confirmed, is on record as %v", became)
	}
}
