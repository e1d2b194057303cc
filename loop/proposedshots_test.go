package loop

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/replay"
)

// shotsAsked are proposals that ask for so many shots each.
func shotsAsked(shots ...int) []policy.Proposal {
	out := make([]policy.Proposal, len(shots))
	for i, n := range shots {
		out[i] = policy.Proposal{Step: i + 1, X: []float64{3}, Work: 1, Shots: n}
	}
	return out
}

// TestPolicySaysTheShots: a step takes as many shots as its decision asks for, else as many as
// are configured; it costs as many, the journal says so, and it derives.
func TestPolicySaysTheShots(t *testing.T) {
	tr := newTrial(t)
	tr.opt.Objective.Shots, tr.opt.Cost.PerShot = 2, 1
	tr.opt.Stop = plan.Stop{Steps: 4}
	tr.policy.proposals = shotsAsked(0, 5, 1, 2)
	var path string
	tr.deps.Journal, path = book(t, &tr.opt)
	result, err := Run(context.Background(), tr.opt, tr.deps)
	if err != nil {
		t.Fatal(err)
	}
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var got [][3]float64
	price := tr.opt.ControlSets[0].Cost
	for s, err := range r.Steps() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, [3]float64{float64(s.Decision.Shots), float64(s.Outcome.Shots), s.Outcome.Cost - price})
	}
	if want := [][3]float64{{0, 2, 2}, {5, 5, 5}, {1, 1, 1}, {2, 2, 2}}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("asked, taken and paid: %v, want %v", got, want)
	}
	if want := 10 + 4*price; result.Spent != want {
		t.Errorf("%v was spent, want %v", result.Spent, want)
	}
	for step, asked := range map[int][]int{0: {0, 5, 1, 2}, 2: {0, 4, 1, 2}, 4: {0, 5, 1, 0}} {
		d := replay.Decisions{Options: tr.opt, Policy: &script{proposals: shotsAsked(asked...)}}
		done, err := d.Run(context.Background(), r)
		if err != nil || (done.First == nil) != (step == 0) || done.First != nil && (done.First.Step != step || done.First.What != "number of shots asked for") {
			t.Errorf("derived with %v: %+v, %v", asked, done.First, err)
		}
	}
}

// TestShotsAskedForArePaidFor: a step whose shots the budget does not pay for is not begun, and
// one that a process died in is charged with all of them.
func TestShotsAskedForArePaidFor(t *testing.T) {
	tr := newTrial(t)
	tr.opt.Cost.PerShot = 1
	tr.opt.Stop = plan.Stop{Cost: 3*tr.opt.ControlSets[0].Cost + 8}
	tr.policy.proposals = shotsAsked(1, 5, 3, 2)
	result, err := tr.run(t, context.Background())
	if err != nil || result.Steps != 2 || result.Reason != "cost" {
		t.Errorf("%d steps, ended by %q, %v", result.Steps, result.Reason, err)
	}
	open := journal.Decision{Step: 1, Shots: 7, Requested: []float64{3}, Applied: []float64{3}}
	tr = newTrial(t)
	tr.opt.Cost.PerShot = 1
	tr.opt.Stop = plan.Stop{Steps: 1}
	tr.deps.Journal, _ = book(t, &tr.opt)
	if err := tr.deps.Journal.Decide(open); err != nil {
		t.Fatal(err)
	}
	tr.deps.Past = &replay.Past{Steps: 1, Open: &open}
	if result, err = Run(context.Background(), tr.opt, tr.deps); err != nil || result.Spent != 7+tr.opt.ControlSets[0].Cost {
		t.Errorf("%v was spent, want 7 shots and the set's %v (%v)", result.Spent, tr.opt.ControlSets[0].Cost, err)
	}
}

// TestNoNegativeShots: a decision that asks for less than none has failed.
func TestNoNegativeShots(t *testing.T) {
	tr := newTrial(t)
	tr.opt.Stop = plan.Stop{Steps: 1}
	tr.policy.proposals = shotsAsked(-1, 2)
	result, err := tr.run(t, context.Background())
	told := slices.ContainsFunc(tr.events, func(e journal.Event) bool {
		return e.Kind == journal.EventPolicy && strings.Contains(e.Message, "-1 shots")
	})
	if err != nil || result.Steps != 1 || !told || len(tr.outcomes) != 1 || tr.outcomes[0].Shots != 2 {
		t.Errorf("%+v, %v; events %+v", result, err, tr.events)
	}
}
