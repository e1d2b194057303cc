package policy

// thompson is Thompson sampling: a decision maximises a sample f of the posterior,
//
//	a_i(c) = E_R[ f(c, R) ]  over control set i's random variables R,
//
// the same f for all control sets (TS-PSQ of Tay et al., NeurIPS 2023; without R, TS of
// Takeno et al., arXiv 2409.00979). Every view has a sample of its own: PE-GP-TS takes
// the greatest value over the priors that are left, HP-GP-TS and MAP-GP-TS have one
// view, of the prior that they chose (Sandberg and Chehreghani, arXiv 2502.01226,
// Algorithms 1 and 2); priors that are averaged are sampled by their weights. With a
// risk term f is a sample of f - alpha*variance, and alpha Var_R[f(c, R)] is taken off
// (see spreadRisk).
type thompson struct{}

func (thompson) options(d *decision) ([]option, error) {
	var out []option
	var only *domain
	if len(d.sets) == 1 {
		only = d.domains[d.sets[0]]
	}
	for i, v := range d.views {
		s, err := d.sample(v, only, d.substream(forSample, i))
		if err != nil {
			return nil, err
		}
		for _, set := range d.sets {
			o, err := s.over(d, d.domains[set])
			if err != nil {
				return nil, err
			}
			out = append(out, option{set: set, view: v, objective: d.criterion.lessKnownRisk(o, d.domains[set]), offset: s.component.mean})
		}
	}
	return out, nil
}
