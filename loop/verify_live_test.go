package loop

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// set-best ends the search in the middle of a step, has both settings measured in turn
// and goes to the better one. A pause in between holds the comparison, and it goes on.
func TestSetBestVerifies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, path := liveTrial(t, func(tr *trial) {
			tr.policy.found = policy.Recommendation{X: []float64{5}, Estimate: policy.Estimate{Mean: 50, SD: 1, LowerBound: 48, NoiseSD: math.NaN()}}
			tr.opt.Variables[0].Start = 1
			tr.opt.Verify = plan.Verify{Pairs: 6, Seed: 3}
		})
		p := tr.deps.Panel
		end := tr.begin(t)
		time.Sleep(30 * time.Second)
		searched := p.Status().Steps
		if r := ask(p, control.CommandSetBest); !r.OK || !strings.Contains(r.Message, "measured against the starting one") {
			t.Errorf("set-best: %+v", r)
		}
		time.Sleep(5 * time.Second)
		if r := ask(p, control.CommandSetBest); !r.OK || !strings.Contains(r.Message, "on its way") {
			t.Errorf("set-best again: %+v", r)
		}
		if r := ask(p, control.CommandPause); !r.OK {
			t.Errorf("pause: %+v", r)
		}
		at := p.Status().Step
		time.Sleep(20 * time.Second)
		if now := p.Status(); now.State != "held" || now.Step != at {
			t.Errorf("paused in step %d: %s in step %d", at, now.State, now.Step)
		}
		if r := ask(p, control.CommandResume); !r.OK {
			t.Errorf("resume: %+v", r)
		}
		result, err := end()
		if err != nil || result.Reason != control.ReasonBest || result.Verification == nil {
			t.Fatalf("%+v, %v", result, err)
		}
		v := result.Verification
		if v.Verdict != plan.VerdictBetter || v.Pairs != 6 || math.Abs(float64(v.Gain.Value)-40) > 0.2 || tr.rig.aim("a") != 5 || result.Steps < searched {
			t.Errorf("%+v, left at %v, %d steps", v, tr.rig.aim("a"), result.Steps)
		}
		if last := steps(t, path); len(last) != result.Steps+12 {
			t.Errorf("%d steps are recorded, %d of them searched", len(last), result.Steps)
		}
	})
}

// A process that dies between the comparison's result and the end of the run leaves a
// result that stands: the next one measures nothing again and records it once.
func TestVerifyResultStands(t *testing.T) {
	tr := comparing(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	told := tr.deps.Watch.Event
	tr.deps.Watch.Event = func(e journal.Event) {
		told(e)
		if e.Kind == "home" {
			cancel()
		}
	}
	var path string
	tr.deps.Journal, path = book(t, &tr.opt)
	result, err := Run(ctx, tr.opt, tr.deps)
	if !errors.Is(err, context.Canceled) || result.Verification == nil {
		t.Fatalf("%+v, %v", result, err)
	}
	if err := tr.deps.Journal.Close(); err != nil {
		t.Fatal(err)
	}
	before := len(steps(t, path))
	_, again := resume(t, path, tr.opt, oneKnobSpec())
	if again.Verification == nil || *again.Verification.Gain != *result.Verification.Gain || len(steps(t, path)) != before {
		t.Errorf("resumed: %+v, %d steps, %d before", again.Verification, len(steps(t, path)), before)
	}
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if results, err := r.ComparisonResults(); err != nil || len(results) != 1 {
		t.Errorf("%d results are recorded, %v", len(results), err)
	}
	if done := replayed(t, path, tr.opt, oneKnobSpec(), 0); done.First != nil {
		t.Errorf("%d steps derive, then %+v", done.Steps, done.First)
	}
}

// A search that a person has ended stays so when the process dies before the run's end.
func TestSetBestOutlivesACrash(t *testing.T) {
	path, o := crash(t, "outcome-durable", 6)
	o.Stop, o.Variables[0].Start, o.Verify = plan.Stop{Steps: 20}, 1, plan.Verify{Pairs: 6}
	j, err := journal.Open(path, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		j.Ordered(journal.Command{Name: control.CommandPause}, journal.Answer{OK: true, Code: control.CodeOK}),
		j.Ordered(journal.Command{Name: control.CommandSetBest}, journal.Answer{OK: true, Code: control.CodeOK}), j.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	_, result := resume(t, path, o, oneKnobSpec())
	if result.Reason != control.ReasonBest || result.Steps != 6 || result.Verification == nil {
		t.Errorf("got %+v", result)
	}
}

// TestVerifyKeepsToANarrowedRange: the process dies in the search or in the comparison, the
// range is narrowed, and the start lies outside it: it is driven there no more.
func TestVerifyKeepsToANarrowedRange(t *testing.T) {
	for _, leg := range []int{0, 3} { // 0: the last step of the search
		path, o := crashComparing(t, "outcome-durable", leg)
		o.Variables[0].Low, o.Variables[0].Start = 3, 4 // it was 2
		spec := oneKnobSpec()
		spec.Variables[0].Low = 3
		past, result := resume(t, path, o, spec)
		if result.Verification != nil || !strings.Contains(result.Unverified, "started at a = 2, outside the present range [3, 10]") {
			t.Errorf("%+v, %q", result.Verification, result.Unverified)
		}
		for _, s := range steps(t, path) {
			if s.Decision.Step > past.Steps && s.Decision.Applied[0] < 3 {
				t.Errorf("step %d went to %v", s.Decision.Step, s.Decision.Applied[0])
			}
		}
	}
}
