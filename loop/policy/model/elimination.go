package model

import "math"

// elimination is the test of PE-GP-TS and PE-GP-UCB (Sandberg and Chehreghani, arXiv
// 2502.01226, Algorithm 1): after step t the prior p that decided it is out if the
// residuals of the steps that it decided so far, S, are more than chance allows,
//
//	|sum over S of eta_i| > sqrt(xi_t |S|) + sum over S of sqrt(beta_i) sigma_i,
//	eta_i  = y_i - mean_(i,p)(x_i),  sigma_i = sd_(i,p)(x_i)  before y_i was learnt,
//	xi_t   = 2 sigma^2 log(|P| pi^2 t^2/(3 delta)),
//
// with beta_i under the root the confidence parameter of the policy's own bounds, one for both as
// in the paper, |P| the number of priors at the start and t the number of decisions. eta and sigma stay what they were when
// they were made. The paper's theorem has 2 log(2|X||P| pi^2 t^2/(3 delta)) for beta, form
// "all-priors" of confidence "srinivas"; where nothing is said it is Srinivas et al.'s, without |P|,
// which gives the regret that the paper reports. Where shots of a setting are averaged, sigma^2 |S|
// is the sum of the means' noise variances.
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

// pair is one step's part of a trial.
type pair struct{ eta, sigma, noiseVariance float64 }

// trial is what became of the steps that one prior decided, in the objective's unit.
type trial struct {
	residuals float64 // sum of eta
	noise     float64 // sum of the noise variances
	width     float64 // sum of sqrt(beta) sigma
}

// decidedStep says which member decided a step; -1: none did.
type decidedStep struct{ step, member int }

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
