package model

import (
	"math"
)

// PriorRules lists the words of Model.PriorRule.
func PriorRules() []string {
	return []string{PriorsAveraged, PriorsSampled, PriorsGreedy, PriorsElimination}
}

// Averages reports whether the built-in priors, with a lengthscale for each variable among them, decide together.
func (s *Spec) Averages() bool {
	return (s.PriorRule == "" || s.PriorRule == PriorsAveraged) && s.Hyperparameters == HyperPriors && len(s.Priors) == 0 && s.Lengthscales != LengthscalesShared
}

// Deciding reports whether each view is one prior's, which decides what is chosen by it.
func (m *Model) Deciding() bool {
	return m.Priors != nil && m.Spec.PriorRule != PriorsAveraged && m.Spec.PriorRule != ""
}

// PriorOf is the position in Spec.Priors of the prior that a member belongs to.
func (m *Model) PriorOf(member int) int { return m.Priors.members[member].prior }

// PriorReport describes the state of the priors. It has one element for each of Model.Priors; one
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

// Report describes the state of the priors; nil where none compete.
func (m *Model) Report() *PriorReport {
	c := m.Priors
	if c == nil {
		return nil
	}
	n := c.members[len(c.members)-1].prior + 1
	out := &PriorReport{Probability: make([]float64, n), Eliminated: make([]bool, n), Fit: m.Active.Describe()}
	best := c.set.Best()
	unit := c.units[best] * c.scale
	out.Fit.Outputscale *= c.units[best] * c.units[best]
	out.Fit.Mean = c.center + c.scale*c.means[best]
	if b := &c.members[best]; !b.follows() {
		out.Fit.NoiseSD = unit * math.Sqrt(b.ratio)
	}
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
