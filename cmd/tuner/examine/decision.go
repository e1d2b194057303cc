package examine

import (
	"math"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/describe"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/loop/policy"
)

// Decision times decisions of the configuration's policy. It learns as many observations as a
// run can bring, at random settings, and then tunes a smooth function with noise for some steps;
// where it goes where nothing was measured when steps repeat what is known, the last one does.
func Decision(w *setup.Setup, now func() time.Time) (describe.DecisionTime, error) {
	d := describe.DecisionTime{Deadline: w.Options.Deadline}
	r, err := newRehearsal(w, now)
	if err != nil {
		return d, err
	}
	size := r.policy.(policy.Sizer).Size().Capacity
	d.Wanted = observations(w, size)
	d.Full = d.Wanted == size
	err = r.run(&d)
	return d, err
}

// observations is how many a model comes to hold: its capacity, or all of a shorter run.
// Where a step leaves variables random, each of its shots is one.
func observations(w *setup.Setup, capacity int) int {
	steps := w.Options.Stop.Steps
	if paid := affordable(&w.Spec); paid < float64(capacity) && (steps == 0 || paid < float64(steps)) {
		steps = max(int(paid), 1)
	}
	if steps == 0 {
		return capacity
	}
	for i := range w.Options.ControlSets {
		if len(w.Options.ControlSets[i].Variables) < len(w.Options.Variables) {
			steps *= max(w.Options.Objective.Shots, 1)
			break
		}
	}
	return min(capacity, max(steps, firstObservations))
}

// affordable is how many steps the budget pays at most, infinite where nothing tells.
func affordable(s *policy.Spec) float64 {
	cheapest := math.Inf(1)
	for _, set := range s.ControlSets {
		cheapest = min(cheapest, set.Cost)
	}
	if s.Budget <= 0 || s.CostsRead || cheapest <= 0 {
		return math.Inf(1)
	}
	return s.Budget / cheapest
}
