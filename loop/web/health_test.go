package web

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
)

func journalStep(n int) journal.Step {
	d, o := labStep(n)
	return journal.Step{Decision: d, Outcome: o, Concluded: true, Session: 1}
}

func levelOf(t *testing.T, d *Document, name string) HealthPart {
	t.Helper()
	for _, h := range examine(d) {
		if strings.HasPrefix(h.Name, name) {
			return h
		}
	}
	t.Fatalf("there is no check %q", name)
	return HealthPart{}
}

// predicted is a run of outcomes that differ from their predictions by factor times
// what the model expects.
func predicted(factor float64, seed uint64) *Document {
	rng := rand.New(rand.NewPCG(seed, 1))
	d := &Document{Stride: 1}
	for n := range 200 {
		truth := math.Sin(float64(n) / 20)
		// sd 0.3 of the prediction, 0.4 of the mean: 0.5 together.
		y := truth + factor*0.5*rng.NormFloat64()
		d.Steps = append(d.Steps, StepPart{N: n + 1, Valid: true, Mean: journal.Number(y), SE: 0.4, SD: 0.8, Shots: 4, Predicted: journal.Number(truth), PredictedSD: 0.3})
	}
	d.Total = len(d.Steps)
	return d
}

// A long run that has stayed at its best keeps its initial steps: they show that the
// settings matter, and what it is better than.
func TestChecksOfALongRun(t *testing.T) {
	t.Parallel()
	d := &Document{Stride: 1, Run: RunPart{Unit: "mJ"}}
	c := newCollector(d, journal.Run{})
	rng := rand.New(rand.NewPCG(4, 4))
	for n := 1; n <= 3*shownSteps; n++ {
		s := journalStep(n)
		s.Decision.Initial, s.Outcome.Mean, s.Outcome.StandardError = n <= 10, 5+0.1*rng.NormFloat64(), 0.1
		if n <= 10 {
			s.Outcome.Mean = float64(n % 5)
		}
		c.addStep(s)
	}
	if h := levelOf(t, d, "Noise"); h.Level != good {
		t.Errorf("seed 4: %+v", h)
	}
	if h := levelOf(t, d, "Better than random"); h.Level != good {
		t.Errorf("seed 4: %+v", h)
	}
	if n := len(d.Steps); n > shownSteps+firstSteps || d.Steps[0].N != 1 {
		t.Errorf("%d steps are shown, from %d on", n, d.Steps[0].N)
	}
}

// A model is called calibrated when it is, and not when it is three times too sure.
func TestCalibration(t *testing.T) {
	for seed := range uint64(50) {
		if h := levelOf(t, predicted(1, seed), "Is the model"); h.Level != good {
			t.Errorf("seed %d, calibrated: %+v", seed, h)
		}
		if h := levelOf(t, predicted(3, seed), "Is the model"); h.Level != bad || h.Remedy == "" {
			t.Errorf("seed %d, too sure: %+v", seed, h)
		}
		if h := levelOf(t, predicted(0.1, seed), "Is the model"); h.Level != watch {
			t.Errorf("seed %d, too timid: %+v", seed, h)
		}
	}
	if h := levelOf(t, &Document{}, "Is the model"); h.Level != unknown {
		t.Errorf("nothing known: %+v", h)
	}
}

func TestChecks(t *testing.T) {
	nothing := predicted(0, 1)
	for i := range nothing.Steps { // the settings change nothing
		nothing.Steps[i].Mean = journal.Number(0.01 * float64(i%2))
	}
	better, worse, edge, broken := labDocument(t, 30), labDocument(t, 30), labDocument(t, 30), labDocument(t, 30)
	worse.Picture.Start.Mean = 6
	edge.Picture.Best.X[0] = -2
	broken.Run.Constraints = []ConstraintPart{{0, 1, 2}}
	broken.Picture.Best.Feasible, broken.Picture.Best.Feasibility = false, 0.3
	minimised := labDocument(t, 30)
	minimised.Run.Minimize, minimised.Picture.Start.Mean, minimised.Picture.Best.Bound = true, 9, 5
	ended := labDocument(t, 3)
	ended.Run.Finished, ended.Run.Reason = true, "cost"
	for _, c := range []struct {
		what  string
		d     *Document
		name  string
		level string
		text  string
	}{
		{"what is tried differs", better, "Noise", good, ""},
		{"no difference", nothing, "Noise", bad, "differs by 0 (standard"},
		{"better than the start", better, "Better than the start", good, "2.8"}, // 4.8 - (2 - 0.5 0.2^2) = 2.82
		{"worse than the start", worse, "Better than the start", watch, "short"},
		{"less is better", minimised, "Better than the start", good, "4.02"}, // 9 + 0.02 - 5
		{"later steps are better", better, "Better than random", good, ""},
		{"inside", better, "Margin", good, "48 %"}, // 0.1 is 1.9 of 4 from the upper end
		{"at the end", edge, "Margin", watch, "mirror"},
		{"none", better, "Constraints", informational, "none"},
		{"broken", broken, "Constraints", bad, "0.3"},
		{"left", better, "Budget", informational, "30 of 50 steps, 60 of 100 min"},
		{"over", ended, "Budget", informational, "the budget does not pay for another step"},
	} {
		if h := levelOf(t, c.d, c.name); h.Level != c.level || !strings.Contains(h.Text, c.text) {
			t.Errorf("%s: %+v, want %s and %q", c.what, h, c.level, c.text)
		}
	}
	empty := &Document{Picture: &control.Picture{}}
	for _, h := range examine(empty) {
		if h.Level != unknown && h.Name != "Constraints" {
			t.Errorf("of nothing: %+v", h)
		}
	}
}
