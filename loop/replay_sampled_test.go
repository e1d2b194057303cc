package loop

import (
	"context"
	"math"
	"testing"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/replay"
)

// counted counts what a policy is asked for.
type counted struct {
	policy.Policy
	asked int
}

func (c *counted) Propose(ctx context.Context) (policy.Proposal, error) {
	c.asked++
	return c.Policy.Propose(ctx)
}

func (c *counted) SetStart(x []float64) { c.Policy.(policy.Starter).SetStart(x) }

func (c *counted) Skip(step int) error { return c.Policy.(policy.Skipper).Skip(step) }

// TestSampledReplay: of a long run the newest decisions are derived, and
// the next one is that of a policy that has derived all, bit for bit.
func TestSampledReplay(t *testing.T) {
	const steps = replay.SampleNewest + policy.RenewEvery + 50
	spec := oneKnobSpec()
	spec.Kind, spec.Budget = "random", 0
	spec.Model = policy.Model{Kernel: "se", Hyperparameters: "fixed", Lengthscale: []float64{0.3}, Outputscale: 1, NoiseSD: 0.1, Capacity: 16}
	tr := newTrial(t)
	tr.opt.Stop = plan.Stop{Steps: steps}
	tr.opt.Objective.Shots = 1
	tr.opt.Variables[0].Settle = 0
	tr.opt.Variables[0].Limits.SlewUp, tr.opt.Variables[0].Limits.SlewDown = 1000, 1000
	p, err := policy.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	tr.deps.Policy = p
	j, path := book(t, &tr.opt)
	tr.deps.Journal = j
	if _, err := Run(context.Background(), tr.opt, tr.deps); err != nil {
		t.Fatal(err)
	}
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	next := map[bool]policy.Proposal{}
	for _, sampled := range []bool{false, true} {
		p, err := policy.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		c := &counted{Policy: p}
		derived := replay.Decisions{Options: tr.opt, Policy: c, Sampled: sampled}
		done, err := derived.Run(context.Background(), r)
		if err != nil || done.First != nil || done.Steps+done.Skipped != steps {
			t.Fatalf("sampled %v: %+v, %+v, %v", sampled, done, done.First, err)
		}
		if want := map[bool]int{false: steps, true: steps - (steps-replay.SampleNewest)/policy.RenewEvery*policy.RenewEvery + 1}[sampled]; c.asked != want {
			t.Errorf("sampled %v: %d decisions were derived, want %d", sampled, c.asked, want)
		}
		if next[sampled], err = p.Propose(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := next[false], next[true]; a.Step != b.Step || math.Float64bits(a.X[0]) != math.Float64bits(b.X[0]) {
		t.Errorf("the next decision is %+v after all, %+v after some", a, b)
	}
}
