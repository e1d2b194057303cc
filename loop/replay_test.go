package loop

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/replay"
)

// replaySpec is a policy over two knobs, one of which the cheaper control set leaves
// random.
func replaySpec() policy.Spec {
	axis := policy.Variable{Name: "a", Low: 0, High: 10, Start: math.NaN(), Random: policy.Distribution{Kind: policy.Uniform}}
	other := axis
	other.Name = "b"
	return policy.Spec{Kind: "ucb-cvs", Seed: 5, InitialSteps: 4, Design: "sobol", Schedule: "etc-ada", Confidence: "constant", Beta: 2,
		Model: policy.Model{Kernel: "matern52", Hyperparameters: "fit"}, Variables: []policy.Variable{axis, other},
		ControlSets: []policy.ControlSet{{Controlled: []bool{true, false}, Cost: 1}, {Controlled: []bool{true, true}, Cost: 5}}, Budget: 60}
}

// recorded runs replaySpec on a rig with a step without data, and gives the journal's
// path and the options.
func recorded(t *testing.T, change func(*trial)) (string, plan.Options) {
	t.Helper()
	tr := newTrial(t)
	tr.rig = newRig(tr.clock, "a", "b")
	tr.deps.Devices = []Device{{Name: "rig", Device: tr.rig}}
	draws := 0
	tr.rig.knobs["b"].natural = func() float64 { draws++; return math.Mod(float64(draws)*0.618, 10) }
	measured := 0
	tr.rig.meter = func(at map[string]float64) float64 {
		measured++
		return -math.Pow(at["a"]-6, 2) - math.Pow(at["b"]-4, 2)/3 + math.Sin(float64(measured))/10
	}
	tr.rig.fault = func(op string) error {
		if op == "read" && measured > 20 && measured < 25 {
			measured++
			return drivers.ErrUnavailable
		}
		return nil
	}
	b := variable("b")
	b.OnRelease = plan.Release
	tr.opt.Variables = append(tr.opt.Variables, b)
	tr.opt.ControlSets = []plan.ControlSet{{Variables: []int{0}, Cost: 1}, {Variables: []int{0, 1}, Cost: 5}}
	tr.opt.Stop = plan.Stop{Steps: 20}
	change(tr)
	p, err := policy.New(replaySpec())
	if err != nil {
		t.Fatal(err)
	}
	tr.deps.Policy = p
	j, path := book(t, &tr.opt)
	tr.deps.Journal = j
	if _, err := Run(context.Background(), tr.opt, tr.deps); err != nil {
		t.Fatal(err)
	}
	return path, tr.opt
}

// replayed derives a journal anew by the policy of spec.
func replayed(t *testing.T, path string, o plan.Options, spec policy.Spec, until int) replay.Replayed {
	t.Helper()
	return replayedBy(t, path, o, spec, until, 0)
}

// replayedBy does so with a version of what decides.
func replayedBy(t *testing.T, path string, o plan.Options, spec policy.Spec, until, version int) replay.Replayed {
	t.Helper()
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p, err := policy.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	var told []int
	replay := replay.Decisions{Options: o, Policy: p, Version: version, Until: until, Step: func(n int) { told = append(told, n) }}
	done, err := replay.Run(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	if len(told) != done.Steps+done.Compared+done.Foreign || !slices.IsSorted(told) {
		t.Errorf("told of steps %v, %d agree", told, done.Steps)
	}
	return done
}

func TestReplayDerivesTheSame(t *testing.T) {
	for name, change := range map[string]func(*trial){
		"driven and released": func(*trial) {},
		"minimised":           func(tr *trial) { tr.opt.Objective.Minimize = true },
		"given start":         func(tr *trial) { tr.opt.Variables[0].Start = 7.25 },
		"parked":              func(tr *trial) { tr.opt.Variables[1].OnRelease = plan.Park },
	} {
		path, o := recorded(t, change)
		if done := replayed(t, path, o, replaySpec(), 0); done.First != nil || done.Steps != 20 {
			t.Errorf("%s: %d steps agree, then %+v", name, done.Steps, done.First)
		}
		if done := replayed(t, path, o, replaySpec(), 7); done.First != nil || done.Steps != 7 {
			t.Errorf("%s, until 7: %d steps agree, then %+v", name, done.Steps, done.First)
		}
	}
}

// TestReplayFindsDifferences: what is not the same policy, or the same configuration,
// is found at the step where it shows.
func TestReplayFindsDifferences(t *testing.T) {
	path, o := recorded(t, func(*trial) {})
	seed := replaySpec()
	seed.Seed++
	if done := replayed(t, path, o, seed, 0); done.First == nil || done.First.Step != 1 || done.First.Recorded == done.First.Derived {
		t.Errorf("another seed: %+v", done.First)
	}
	bolder := replaySpec()
	bolder.Beta = 9
	if done := replayed(t, path, o, bolder, 0); done.First == nil || done.First.Step != 5 {
		t.Errorf("another confidence parameter, which the initial design of 4 steps does not use: %+v", done.First)
	}
	narrow := o
	narrow.Variables = slices.Clone(o.Variables)
	narrow.Variables[0].Limits.High = 3
	if done := replayed(t, path, narrow, replaySpec(), 0); done.First == nil || done.First.What != "destination of a within its bounds" {
		t.Errorf("other hard limits: %+v", done.First)
	}
	small := replaySpec()
	small.Budget = 8
	if done := replayed(t, path, o, small, 0); done.First == nil || done.First.What != "decision" {
		t.Errorf("a smaller budget: %+v", done.First)
	}
}

// TestReplayOfAnUnfinishedRun: a run that an end cut off in a step is derived up to
// that step's decision.
func TestReplayOfAnUnfinishedRun(t *testing.T) {
	tr := newTrial(t)
	spec := replaySpec()
	spec.Variables, spec.ControlSets, spec.Kind = spec.Variables[:1], []policy.ControlSet{{Controlled: []bool{true}, Cost: 1}}, "gp-ucb"
	p, err := policy.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	tr.deps.Policy = p
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tr.deps.Failpoint = func(name string) {
		if name == "decision-durable" && len(tr.outcomes) == 6 {
			cancel()
		}
	}
	j, path := book(t, &tr.opt)
	tr.deps.Journal = j
	if _, err := Run(ctx, tr.opt, tr.deps); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if done := replayed(t, filepath.Clean(path), tr.opt, spec, 0); done.First != nil || done.Steps < 7 {
		t.Errorf("%d steps agree, then %+v", done.Steps, done.First)
	}
}
