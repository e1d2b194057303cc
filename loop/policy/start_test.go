package policy

import (
	"context"
	"math"
	"testing"
)

// TestSetStart: a start that was read at boot counts as one that the file
// declares, and the caller's specification is not written to.
func TestSetStart(t *testing.T) {
	spec := Spec{Kind: "gp-ucb", Confidence: "constant", Beta: 2, Design: "sobol", InitialSteps: 3, Seed: 1,
		Variables:   []Variable{{Name: "a", Low: 0, High: 10, Start: math.NaN()}},
		ControlSets: []ControlSet{{Controlled: []bool{true}, Cost: 1}},
		Model:       Model{Kernel: "se", Hyperparameters: "fit", Capacity: 16}}
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
