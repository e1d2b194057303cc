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

// FactorBytes is the memory that the factors of the objective's model take when it is full, and how
// many there are. s is one that [New] takes, with its capacity.
func FactorBytes(s Spec) (bytes, factors int) {
	k, _ := KindOf(s.Kind)
	s.completeDrift()
	k.applyTo(&s)
	factors = k.rules(&s).Processes()
	return factors * s.Model.Capacity * s.Model.Capacity * 8, factors
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
