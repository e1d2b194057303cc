package policy

import (
	"context"
	"math"
	"testing"

	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// TestSetStart: a start that was read at boot counts as one that the file
// declares, and the caller's specification is not written to.
func TestSetStart(t *testing.T) {
	spec := Spec{Kind: "gp-ucb", Confidence: "constant", Beta: 2, Design: "sobol", InitialSteps: 3, Seed: 1,
		Variables:   []space.Variable{{Name: "a", Low: 0, High: 10, Start: math.NaN()}},
		ControlSets: []space.ControlSet{{Controlled: []bool{true}, Cost: 1}},
		Model:       model.Spec{Kernel: "se", Hyperparameters: "fit", Capacity: 16}}
	p, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	p.(Starter).SetStart([]float64{7.25})
	first, err := p.Propose(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if first.X[0] != 7.25 {
		t.Errorf("first proposal %v, want the start 7.25", first.X)
	}
	if !math.IsNaN(spec.Variables[0].Start) {
		t.Errorf("the caller's specification was changed to %v", spec.Variables[0].Start)
	}
}

// A held variable is at the start until it is measured, in expectations too.
func TestSetStartPlacesHeldVariables(t *testing.T) {
	s := cvsSpec()
	for i := range s.Variables {
		s.Variables[i].Random.Kind = space.Held
	}
	p := fresh(t, s)
	p.(Starter).SetStart([]float64{0.1, math.NaN(), 0.9})
	e := p.(*engine)
	if l := e.criterion.Random.Last; l[0] != 0.1 || l[1] != 0.5 || l[2] != 0.9 {
		t.Errorf("held variables at %v", l)
	}
	observe(t, p, Observation{Step: 1, X: []float64{0.2, 0.3, 0.4}})
	p.(Starter).SetStart([]float64{0.7, 0.7, 0.7})
	if l := e.criterion.Random.Last; l[0] != 0.2 || l[1] != 0.3 {
		t.Errorf("what was measured gave way to a start: %v", l)
	}
}
