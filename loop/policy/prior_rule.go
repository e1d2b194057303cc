package policy

// views are the posteriors that the decision of a step looks at:
//
//	"averaged"     one, the mixture of all priors by their probabilities
//	"sampled"      one, of a prior drawn with its probability (HP-GP-TS: Sandberg and
//	               Chehreghani, arXiv 2502.01226, Algorithm 2)
//	"greedy"       one, of the most probable prior (MAP-GP-TS of the same)
//	"elimination"  one of each prior that is left (PE-GP-TS of the same, Algorithm 1;
//	               PE-GP-UCB): the decision takes the greatest value over priors and
//	               settings
func (c *contest) views(step int) []view {
	alone := func(i int) view { return view{c.component(i, 1)} }
	switch c.spec.PriorRule {
	case priorsSampled:
		return []view{alone(c.set.Draw(stream(c.seed, forPriors, step)))}
	case priorsGreedy:
		return []view{alone(c.set.Best())}
	case priorsElimination:
		var out []view
		for i := range c.members {
			if c.set.Alive(i) {
				out = append(out, alone(i))
			}
		}
		return out
	}
	return []view{c.averaged()}
}

// priorRules lists the words of Model.PriorRule.
func priorRules() []string {
	return []string{priorsAveraged, priorsSampled, priorsGreedy, priorsElimination}
}
