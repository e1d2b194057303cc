package policy

import (
	"context"
	"math"
	"testing"

	"github.com/labtuner/tuner/loop/policy/constraint"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// TestSize: the size grows by one with every observation, and what is computed from
// scratch is counted.
func TestSize(t *testing.T) {
	axis := space.Variable{Name: "a", Low: 0, High: 1, Start: math.NaN()}
	p, err := New(Spec{Kind: "gp-ucb", Seed: 1, InitialSteps: 2, Design: "sobol", Confidence: "constant", Beta: 2,
		Model: model.Spec{Kernel: "se", Capacity: 16, Hyperparameters: "fit"}, Variables: []space.Variable{axis}, ControlSets: []space.ControlSet{{Controlled: []bool{true}, Cost: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	sized := p.(Sizer)
	for n := range 6 {
		if got := sized.Size(); got.Observations != n || got.Capacity != 16 {
			t.Errorf("%+v after %d observations", got, n)
		}
		q, err := p.Propose(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Observe(Observation{Step: q.Step, ControlSet: q.ControlSet, X: q.X, Mean: math.Sin(5 * q.X[0]), Variance: math.NaN(), Shots: 1, Valid: true}); err != nil {
			t.Fatal(err)
		}
	}
	if got := sized.Size().Refactorisations; got < 1 || got > 6 {
		t.Errorf("%d refactorisations in six steps", got)
	}
}

// TestFactorsOf: the factors that are counted are those that a policy has.
func TestFactorsOf(t *testing.T) {
	for name, s := range keptCasts() {
		e := fresh(t, s).(*engine)
		s = e.spec // with its capacity
		f := FactorsOf(s)
		processes := 0
		for _, n := range []int{f.Objective, f.Noise, f.Constraints} {
			processes += n
		}
		if f.Bytes != processes*s.Model.Capacity*s.Model.Capacity*8 {
			t.Errorf("%s: %d bytes of %d factors", name, f.Bytes, processes)
		}
		if learns, constrained := e.model.Learnt, len(s.Constraints) > 0; f.Objective == 0 || (f.Noise > 0) != learns || (f.Constraints > 0) != constrained {
			t.Errorf("%s: %+v", name, f)
		}
	}
	s := rahboSpec(4, 1)
	s.Model.Hyperparameters, s.Model.Capacity, s.Constraints = "priors", 512, []constraint.Spec{{Name: "c", High: 1}}
	if f, want := FactorsOf(s), (Factors{9, 6, 13, 28 * 512 * 512 * 8}); f != want {
		t.Errorf("%+v, want %+v", f, want)
	}
}
