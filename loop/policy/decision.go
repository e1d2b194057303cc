package policy

import (
	"math"

	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/loop/policy/acquisition"
	"github.com/labtuner/tuner/loop/policy/cost"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// decision is one decision under way: what the acquisition sees of it, and where control
// sets are searched.
type decision struct {
	*acquisition.Decision
	// regions are where control sets are searched, where it is not the whole domain.
	regions map[int]space.Region
	// Unseen says that it goes where nothing was measured: see stalled.
	Unseen bool
	// Untried says that it is among settings that were not measured: see leaveSettled.
	Untried bool

	searches int // how many it has made over whole domains
}

// memory is what the calls of a policy take and nobody keeps, by type (num.Memory), and what leaves with proposals
// and recommendations.
type memory struct {
	num.Memory
	decisions num.Objects[decision]
	terms     num.Slab[expectations.Term]
	problems  num.Slab[search.Problem]
	points    num.Slab[[]float64]
	estimates num.Slab[Estimate]

	start space.Domain // of the variables whose start is known

	settings num.Pieces[float64]
	left     num.Pieces[Left]
}

// begin begins a call of the policy, which has the memory of the one before.
func (m *memory) begin() { m.Memory.Begin() }

// linear are the terms of E[a*mean + b*sd], with room for those of the noise.
func (m *memory) linear(v model.View, a, b float64) []expectations.Term {
	return v.LinearTerms(m.terms.Take(&m.Memory, len(v)+1)[:0], a, b)
}

// leaving is setting x of a domain in the users' units, for good.
func (m *memory) leaving(d *space.Domain, x []float64) []float64 {
	return d.ProposalIn(m.settings.Take(len(d.Axes)), x)
}

// region is where a control set is searched.
func (d *decision) region(set int) space.Region {
	if r, restricted := d.regions[set]; restricted {
		return r
	}
	return d.Domains[set].Whole()
}

// withCost completes a proposal of setting x, or of one that can be paid where x cannot.
func (e *engine) withCost(p Proposal, x []float64) (Proposal, error) {
	d := e.domains[p.ControlSet]
	x, err := e.costs.NearestAffordable(d, x)
	if err != nil {
		return Proposal{}, err
	}
	p.Cost, err = e.costs.Check(d, x)
	p.X = e.memory.leaving(d, x)
	return p, err
}

func unexplained() Why {
	n := math.NaN()
	return Why{n, n, n, n, n, n, n, n, n, n, n, n, n, n}
}

// options are the acquisition's, in the form that the search looks at.
func (e *engine) options(d *decision) ([]acquisition.Option, error) {
	function := e.acquisition
	if d.Unseen {
		function = acquisition.Unseen{}
	}
	options, err := function.Options(d.Decision)
	var costs *cost.Model
	if e.spec.PerCost {
		costs = e.costs
	}
	for i, o := range options {
		options[i] = d.ForSearch(o, costs)
	}
	return options, err
}
