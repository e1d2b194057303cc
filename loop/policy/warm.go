package policy

import (
	"fmt"
	"math"

	"github.com/labtuner/tuner/loop/policy/model"
)

// Warmer is a policy that accepts observations from before its first step.
type Warmer interface {
	// Warm learns observations of earlier runs, in their order; it is called once, before
	// anything else. They count as no step and cost nothing; of each, X, Mean, Variance and
	// Shots are used. A setting among them may be recommended where a control set holds
	// every variable, as one that was played. Errors wrap ErrObservation and name the
	// observation by its place, from 1; then nothing was learnt.
	Warm([]Observation) error
}

// Warm implements [Warmer].
func (e *engine) Warm(observations []Observation) error {
	if e.lastObserved > 0 || e.lastProposed > 0 || len(e.model.Data.Rows) > 0 {
		return fmt.Errorf("%w: the first step has begun", ErrObservation)
	}
	if len(e.spec.Drift.Timescale) > 0 && len(observations) > 0 {
		return fmt.Errorf("%w: under drift an observation counts by its age in steps, which earlier ones do not have", ErrObservation)
	}
	for i, o := range observations {
		o.Step, o.ControlSet, o.Valid, o.Cost, o.Constrained = 1, -1, true, 0, nil
		if err := e.check(o); err != nil {
			return fmt.Errorf("earlier observation %d: %w", i+1, err)
		}
	}
	for _, o := range observations {
		x := make([]float64, len(o.X))
		for i, v := range o.X {
			x[i] = e.axes[i].Unit(v)
		}
		e.measured.AddNear(x)
		variance := o.Variance
		if o.Shots < 2 {
			variance = math.NaN()
		}
		e.model.Observe(model.Row{X: e.model.Point(x, 0), Mean: o.Mean, Variance: variance, Shots: o.Shots, Set: -1})
	}
	return nil
}
