package policy

import (
	"github.com/labtuner/tuner/loop/policy/acquisition"
	"github.com/labtuner/tuner/loop/policy/cost"
	"github.com/labtuner/tuner/loop/policy/space"
	"math"
)

// decision is one decision under way: what the acquisition sees of it, and where control
// sets are searched.
type decision struct {
	*acquisition.Decision
	// regions are where control sets are searched, where it is not the whole domain.
	regions map[int]space.Region
	// Unseen says that it goes where nothing was measured: see stalled.
	Unseen bool

	searches int // how many it has made over whole domains
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
	p.X = d.Proposal(x)
	return p, err
}

func unexplained() Why {
	n := math.NaN()
	return Why{n, n, n, n, n, n, n, n, n, n, n}
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
		options[i] = o.ForSearch(costs, e.domains[o.Set])
	}
	return options, err
}
