package policy

import (
	"github.com/labtuner/tuner/loop/policy/model"
)

// Sizer is a policy that reports the size of its model.
type Sizer interface {
	Size() Size
}

// Size is how much a model holds, and how often it was computed from scratch.
type Size struct {
	// Observations of at most Capacity.
	Observations, Capacity int
	// Refactorisations since the policy was made: a fit came into force, the scale of the
	// data was taken anew, or an update had failed.
	Refactorisations int
}

// Factors are those of a policy's models, one for each process.
type Factors struct {
	// Objective, Noise and Constraints are how many the models of each have.
	Objective, Noise, Constraints int
	// Bytes is the memory that all of them take when they are full.
	Bytes int
}

// FactorsOf counts the factors of a specification that [New] takes, with its capacity.
func FactorsOf(s Spec) Factors {
	k, _ := KindOf(s.Kind)
	s.completeDrift()
	k.applyTo(&s)
	rules := k.rules(&s)
	f := Factors{Objective: rules.Processes(), Noise: rules.NoiseProcesses()}
	for j := range s.Constraints {
		f.Constraints += rules.ForConstraint(j).Processes()
	}
	f.Bytes = (f.Objective + f.Noise + f.Constraints) * s.Model.Capacity * s.Model.Capacity * 8
	return f
}

// PriorReporter is a policy whose priors may compete.
type PriorReporter interface {
	// Priors describes the state of the priors; nil where none compete.
	Priors() *model.PriorReport
}

// Priors implements [PriorReporter].
func (e *engine) Priors() *model.PriorReport {
	r := e.model.Report()
	if r != nil {
		r.Fit.Through = e.lastObserved
	}
	return r
}

// Size implements [Sizer].
func (e *engine) Size() Size {
	return Size{Observations: len(e.model.Data.Rows), Capacity: e.model.Data.Capacity, Refactorisations: e.model.Loads}
}
