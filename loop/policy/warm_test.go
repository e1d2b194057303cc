package policy

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/labtuner/tuner/loop/policy/cost"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// bowl is the objective of these tests: its maximum of 5 is at (6, 3).
func bowl(x []float64) float64 { return 5 - math.Pow(x[0]-6, 2)/4 - math.Pow(x[1]-3, 2)/4 }

func warmSpec(kind string) Spec {
	v := space.Variable{Name: "a", Low: 0, High: 10, Start: math.NaN()}
	w := v
	w.Name = "b"
	return Spec{Kind: kind, Seed: 3, Variables: []space.Variable{v, w}, ControlSets: []space.ControlSet{{Controlled: []bool{true, true}, Cost: 1}},
		Confidence: "constant", Beta: 2, Design: "sobol", Schedule: "etc-ada", Model: model.Spec{Kernel: "matern52", Hyperparameters: "fit"}, Risk: map[bool]float64{true: 0.5}[kind == "rahbo"]}
}

// earlier is a grid of observations of the bowl.
func earlier() []Observation {
	var out []Observation
	for a := 1.0; a < 10; a += 2 {
		for b := 1.0; b < 10; b += 2 {
			x := []float64{a, b}
			out = append(out, Observation{X: x, Mean: bowl(x), Variance: 0.01, Shots: 3})
		}
	}
	return out
}

// What was observed before is used at once: the first step of a policy that was told is
// near the maximum, its own first design point is not, and the best earlier setting is
// recommended before any step.
func TestWarmDecidesByWhatItWasTold(t *testing.T) {
	for _, kind := range []string{"gp-ucb", "rahbo", "ucb-cvs"} {
		p, err := New(warmSpec(kind))
		if err != nil {
			t.Fatal(err)
		}
		if err := p.(Warmer).Warm(earlier()); err != nil {
			t.Fatal(err)
		}
		found, err := p.Recommend()
		if err != nil || math.Hypot(found.X[0]-6, found.X[1]-3) > 1.5 { // the grid's nearest points are 1 away
			t.Errorf("%s: recommends %v, %v", kind, found.X, err)
		}
		q, err := p.Propose(context.Background())
		if err != nil || q.Initial || q.Step != 1 || math.Hypot(q.X[0]-6, q.X[1]-3) > 2.5 {
			t.Errorf("%s: proposes %+v, %v", kind, q, err)
		}
	}
}

// Earlier observations count as no step and cost nothing: the initial design, the budget
// and the steps' numbers are as without them.
func TestWarmCountsNoSteps(t *testing.T) {
	spec := warmSpec("gp-ucb")
	spec.InitialSteps, spec.Budget = 3, 5
	run := func(warm bool) (initial []bool, x [][]float64) {
		p, err := New(spec)
		if err != nil {
			t.Fatal(err)
		}
		if warm {
			if err := p.(Warmer).Warm(earlier()); err != nil {
				t.Fatal(err)
			}
		}
		for {
			q, err := p.Propose(context.Background())
			if errors.Is(err, cost.ErrBudget) {
				return initial, x
			}
			if err == nil {
				initial, x = append(initial, q.Initial), append(x, q.X)
				err = p.Observe(Observation{Step: q.Step, X: q.X, Mean: bowl(q.X), Variance: 0.01, Shots: 3, Cost: 1, Valid: true})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	cold, coldX := run(false)
	warm, warmX := run(true)
	if want := []bool{true, true, true, false, false}; !slices.Equal(cold, want) || !slices.Equal(warm, want) {
		t.Errorf("initial steps: %v cold, %v warm", cold, warm)
	}
	for i := range 3 {
		if !slices.Equal(coldX[i], warmX[i]) {
			t.Errorf("design point %d is %v cold and %v warm", i+1, coldX[i], warmX[i])
		}
	}
	if slices.Equal(coldX[3], warmX[3]) {
		t.Errorf("the first decision is %v with and without", coldX[3])
	}
}

func TestWarmRefuses(t *testing.T) {
	p, err := New(warmSpec("gp-ucb"))
	if err != nil {
		t.Fatal(err)
	}
	w := p.(Warmer)
	for name, bad := range map[string]Observation{
		"too few values": {X: []float64{1}, Mean: 1, Shots: 1}, "not finite": {X: []float64{1, math.Inf(1)}, Mean: 1, Shots: 1},
		"no mean": {X: []float64{1, 1}, Mean: math.NaN(), Shots: 1}, "no shots": {X: []float64{1, 1}, Mean: 1},
	} {
		if err := w.Warm(append(earlier(), bad)); !errors.Is(err, ErrObservation) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := p.Recommend(); !errors.Is(err, ErrNoData) {
			t.Errorf("%s: something was learnt: %v", name, err)
		}
	}
	if err := w.Warm(earlier()); err != nil {
		t.Fatal(err)
	}
	if err := w.Warm(earlier()); !errors.Is(err, ErrObservation) {
		t.Errorf("a second time: %v", err)
	}
	drifting := warmSpec("gp-ucb")
	drifting.Drift.Timescale = []float64{50}
	if p, err = New(drifting); err != nil {
		t.Fatal(err)
	}
	if err := p.(Warmer).Warm(earlier()); !errors.Is(err, ErrObservation) {
		t.Errorf("under drift: %v", err)
	}
}
