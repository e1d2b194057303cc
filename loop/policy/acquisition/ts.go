package acquisition

import (
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/space"
)

// Thompson is Thompson sampling: a decision maximises a sample f of the posterior,
//
//	a_i(c) = E_R[ f(c, R) ]  over control set i's random variables R,
//
// the same f for all control sets (TS-PSQ of Tay et al., NeurIPS 2023; without R, TS of
// Takeno et al., arXiv 2409.00979). Every view has its own sample: PE-GP-TS takes
// the greatest value over the priors that are left, HP-GP-TS and MAP-GP-TS have one
// view, of the prior that they chose (Sandberg and Chehreghani, arXiv 2502.01226,
// Algorithms 1 and 2); priors that are averaged are sampled by their weights. With a
// risk term f is a sample of f - alpha*variance, and alpha Var_R[f(c, R)] of the sample
// itself is taken off (see risk.SpreadRisk).
type Thompson struct{}

func (Thompson) Options(d *Decision) ([]Option, error) {
	out := d.options()
	var only *space.Domain
	if len(d.Sets) == 1 {
		only = d.Domains[d.Sets[0]]
	}
	for i, v := range d.Views {
		s, err := d.Sample(v, only, d.Substream(num.ForSample, i))
		if err != nil {
			return nil, err
		}
		for _, set := range d.Sets {
			o, err := s.Expectation(d, d.Domains[set])
			if err != nil {
				return nil, err
			}
			out = append(out, Option{Set: set, View: v, Objective: d.Criterion.SubtractKnownRisk(o, d.Domains[set]), Offset: s.component.Mean})
		}
	}
	return out, nil
}
