package policy

import "math"

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

// priorOf is the prior that decided a step with an option's setting, in the users' units:
// a position in Model.Priors, -1 where there is none.
func (d *decision) priorOf(options []option, o *option, setting []float64) int {
	c := d.model.priors
	if c == nil || len(o.view) != 1 || c.spec.PriorRule == priorsAveraged || c.spec.PriorRule == "" {
		return -1
	}
	member := o.view[0].member
	if c.trials != nil {
		member = d.decider(options, o.set, setting)
		c.trials.proposed = verdict{d.step, member}
	}
	return c.members[member].prior
}

// PriorReporter is a policy whose priors may compete.
type PriorReporter interface {
	// Priors tells how the priors stand; nil where none compete.
	Priors() *PriorReport
}

// PriorReport tells how priors stand. It has one element for each of Model.Priors; one
// where the built-in set competes.
type PriorReport struct {
	// Probability of each prior given the data, 0 where it was eliminated.
	Probability []float64
	// Eliminated says which priors were found wrong.
	Eliminated []bool
	// Refuted says that the last prior left failed its test as well: none of them
	// describes the objective. It stays in force.
	Refuted bool
	// Fit describes the most probable hyperparameters.
	Fit Fit
}

// Priors implements [PriorReporter].
func (e *engine) Priors() *PriorReport {
	c := e.model.priors
	if c == nil {
		return nil
	}
	n := c.members[len(c.members)-1].prior + 1
	out := &PriorReport{Probability: make([]float64, n), Eliminated: make([]bool, n), Fit: e.model.inForce.describe()}
	best := c.set.Best()
	unit := c.units[best] * c.scale
	out.Fit.Outputscale *= c.units[best] * c.units[best]
	out.Fit.Mean = c.center + c.scale*c.means[best]
	if b := &c.members[best]; !b.follows() {
		out.Fit.NoiseSD = unit * math.Sqrt(b.ratio)
	}
	out.Fit.Through = e.seen
	p := make([]float64, len(c.members))
	c.set.Probabilities(p)
	for i := range out.Eliminated {
		out.Eliminated[i] = true
	}
	for i, v := range p {
		out.Probability[c.members[i].prior] += v
		if c.set.Alive(i) {
			out.Eliminated[c.members[i].prior] = false
		}
	}
	out.Refuted = c.trials != nil && c.trials.refuted
	return out
}
