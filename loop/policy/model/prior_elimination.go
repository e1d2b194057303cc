package model

import "math"

// Eliminate has the priors that compete put to the test.
func (m *Model) Eliminate(count, beta func(step int) float64, delta float64) {
	m.Priors.trials = &elimination{trials: make([]trial, len(m.Priors.members)), count: count, beta: beta, delta: delta}
}

// Competing is the number of priors that compete, 0 where none do.
func (m *Model) Competing() int {
	if m.Priors == nil {
		return 0
	}
	return len(m.Priors.members)
}

// predict is what member i said of the observation r before it learns it.
func (c *priorSet) predict(i int, r *Row) pair {
	var mean, variance [1]float64
	c.set.Member(i).Predict(mean[:], variance[:], r.X)
	unit := c.units[i] * c.scale
	b := &c.members[i]
	p := pair{sigma: unit * math.Sqrt(variance[0])}
	p.eta = c.scale*(c.rest(i, r)-c.means[i]) - unit*mean[0]
	shots := float64(r.Shots)
	switch {
	case !b.follows():
		p.noiseVariance = b.ratio * unit * unit / shots
	case c.Known != nil:
		p.noiseVariance = c.Known.At(r.X) / shots
	case !math.IsNaN(b.shotVariance):
		p.noiseVariance = b.shotVariance / shots
	default:
		p.noiseVariance = c.Noise.at(r.X, c.scale) / shots
	}
	return p
}

// Eliminates reports whether priors are put to the test.
func (m *Model) Eliminates() bool { return m.Priors != nil && m.Priors.trials != nil }

// LastTested is the latest step of which a prior was put to the test.
func (m *Model) LastTested() int { return m.Priors.trials.tested.step }

// DeciderOf is the member that decided a step, where it is known: of the step that was
// proposed last, or of one of which an observation was already put to the test.
func (m *Model) DeciderOf(step int) (member int, known bool) {
	q := m.Priors.trials
	switch step {
	case q.tested.step:
	case q.proposed.step:
		q.tested = q.proposed
	default:
		return -1, false
	}
	return q.tested.member, true
}

// SetDecider says which member decided the step of an observation that is about to be put
// to the test; -1: none did.
func (m *Model) SetDecider(step, member int) { m.Priors.trials.tested = decidedStep{step, member} }

// SetProposer says which member decided a step that is proposed.
func (m *Model) SetProposer(step, member int) { m.Priors.trials.proposed = decidedStep{step, member} }

// Test puts the member that decided a step to the test, before the observation r of it is
// learnt.
func (m *Model) Test(member, step int, r *Row) {
	c := m.Priors
	if member < 0 || !c.set.Alive(member) {
		return
	}
	if q := c.trials; q.test(member, step, c.predict(member, r)) && c.set.Eliminate(member) != nil {
		q.refuted = true // it is the last
	}
}
