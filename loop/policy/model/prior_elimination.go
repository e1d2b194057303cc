package model

import "math"

// elimination is the test of PE-GP-TS and PE-GP-UCB (Sandberg and Chehreghani, arXiv
// 2502.01226, Algorithm 1): after step t the prior p that decided it is out if the
// residuals of the steps that it decided so far, S, are more than chance allows,
//
//	|sum over S of eta_i| > sqrt(xi_t |S|) + sum over S of sqrt(beta_i) sigma_i,
//	eta_i  = y_i - mean_(i,p)(x_i),  sigma_i = sd_(i,p)(x_i)  before y_i was learnt,
//	xi_t   = 2 sigma^2 log(|P| pi^2 t^2/(3 delta)),
//	beta_i = 2 log(|X| pi^2 i^2/(6 delta)),
//
// with |P| the number of priors at the start and t the number of decisions. eta and sigma stay what they were when
// they were made. The paper's theorem has 2 log(2|X||P| pi^2 t^2/(3 delta)) for beta;
// the one here is Srinivas et al.'s, without |P|, which gives the regret that the paper
// reports. Where shots of a setting are averaged, sigma^2 |S| is the sum of the means'
// noise variances. Where settings are not listed, beta is Srinivas et al.'s for
// continuous domains (see srinivas).
//
// The last prior stays even if it fails (the paper leaves this open): what is out does
// not learn any more, so no other could take over. [PriorReport] says so.
type elimination struct {
	trials []trial // one per member
	// count is t of a step, beta the confidence parameter of it.
	count, beta func(step int) float64
	delta       float64
	refuted     bool

	proposed, tested decidedStep // of the latest step that was proposed, put to the test
}

// decidedStep says which member decided a step; -1: none did.
type decidedStep struct{ step, member int }

// Eliminate has the priors that compete put to the test.
func (m *Model) Eliminate(count, beta func(step int) float64, delta float64) {
	m.Priors.trials = &elimination{trials: make([]trial, len(m.Priors.members)), count: count, beta: beta, delta: delta}
}

// trial is what became of the steps that one prior decided, in the objective's unit.
type trial struct {
	residuals float64 // sum of eta
	noise     float64 // sum of the noise variances
	width     float64 // sum of sqrt(beta) sigma
}

// pair is one step's part of a trial.
type pair struct{ eta, sigma, noiseVariance float64 }

// test counts a step for the member that decided it and reports whether that fails.
func (q *elimination) test(member, step int, p pair) bool {
	r := &q.trials[member]
	r.residuals += p.eta
	r.noise += p.noiseVariance
	r.width += q.beta(step) * p.sigma
	t := q.count(step)
	xi := 2 * math.Log(float64(len(q.trials))*math.Pi*math.Pi*t*t/(3*q.delta)) // over sigma^2
	return math.Abs(r.residuals) > math.Sqrt(xi*r.noise)+r.width
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
