package acquisition

import (
	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/loop/policy/internal/num"
)

// RenewEvery is how many steps a search is kept: at steps that it divides everything that is
// kept begins anew. So a decision depends on the recorded ones since then alone, and whoever
// derives decisions anew begins at such a step.
const RenewEvery = 50

// trackedProcesses is the greatest number of processes whose posterior at the screening points
// is kept: each takes memory of its own.
const trackedProcesses = 2

// Kept is what one decision leaves to the next: the objective of a control set that holds
// every variable, and its search, with its screening points and the posterior there, which
// an observation changes by terms of rank one. The zero value keeps nothing yet.
type Kept struct {
	objective *expectations.Expected
	processes int
	set       int
	search    *search.Search
	renewed   int // the step, over RenewEvery, that the search was made for
}

// Forget has everything begin anew.
func (k *Kept) Forget() { *k = Kept{} }

// expectation is the objective of terms over the settings of all variables: the kept one
// where its processes are the same.
func (k *Kept) expectation(terms []expectations.Term, set int, in expectations.Inputs) (*expectations.Expected, error) {
	if k.objective != nil && k.set == set && k.objective.SetTerms(terms) {
		return k.objective, nil
	}
	made, err := expectations.New(terms, in)
	if err != nil {
		return nil, err
	}
	*k = Kept{objective: made, processes: len(terms), set: set}
	return made, nil
}

// Search is the search of a step for the maximum of p, the only problem of the decision, over
// a whole domain: the kept one where p's objective is the one that is kept, nil where
// it is another.
func (k *Kept) Search(p search.Problem, seed uint64, step int) (*search.Search, error) {
	if k.objective == nil || p.Objective != search.Objective(k.objective) {
		return nil, nil
	}
	if at := step / RenewEvery; k.search == nil || k.renewed != at {
		p.Track = k.processes <= trackedProcesses
		s, err := search.New([]search.Problem{p}, search.Options{Seed: num.Stream(seed, num.ForScreening, at*RenewEvery).Uint64()})
		if err != nil {
			return nil, err
		}
		k.search, k.renewed = s, at
	}
	return k.search, nil
}

// objectiveValues are those of a criterion that changes by coefficients from step to step, for
// the decision's control sets.
func (d *Decision) objectiveValues(terms []expectations.Term) ([]*expectations.Expected, error) {
	if len(d.Views) == 1 && len(d.Sets) == 1 {
		if in := d.inputs(d.Sets[0]); in.Random == nil && in.Nodes == nil {
			o, err := d.Kept.expectation(terms, d.Sets[0], in)
			return []*expectations.Expected{o}, err
		}
	}
	return d.Expectations(terms)
}
