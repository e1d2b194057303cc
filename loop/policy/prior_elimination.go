package policy

import (
	"context"
	"math"

	"github.com/labtuner/tuner/gpcore"
)

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
	trials  []trial // one per member
	beta    srinivas
	refuted bool

	proposed, tested verdict // of the latest step that was proposed, put to the test
}

// verdict says which member decided a step; -1: none did.
type verdict struct{ step, member int }

func newElimination(s *Spec, m *model) *elimination {
	q := &elimination{trials: make([]trial, len(m.priors.members))}
	q.beta = srinivas{counter: counter{s.InitialSteps}, dims: len(s.Variables), delta: s.Delta, model: m}
	if s.confidenceSetting() == settingFinite {
		q.beta.finite = s.finiteSize()
	}
	return q
}

// trial is what became of the steps that one prior decided, in the objective's unit.
type trial struct {
	residuals float64 // sum of eta
	noise     float64 // sum of the noise variances
	width     float64 // sum of sqrt(beta) sigma
}

// pair is one step's part of a trial.
type pair struct{ eta, sigma, noiseVariance float64 }

// judge counts a step for the member that decided it and says whether that fails.
func (q *elimination) judge(member, step int, p pair) bool {
	r := &q.trials[member]
	r.residuals += p.eta
	r.noise += p.noiseVariance
	r.width += q.beta.beta(step) * p.sigma
	t := q.beta.t(step)
	xi := 2 * math.Log(float64(len(q.trials))*math.Pi*math.Pi*t*t/(3*q.beta.delta)) // over sigma^2
	return math.Abs(r.residuals) > math.Sqrt(xi*r.noise)+r.width
}

// foretold is what member i said of the observation r before it learns it.
func (c *contest) foretold(i int, r *row) pair {
	var mean, variance [1]float64
	c.set.Member(i).Predict(mean[:], variance[:], r.x)
	unit := c.units[i] * c.scale
	b := &c.members[i]
	p := pair{sigma: unit * math.Sqrt(variance[0])}
	p.eta = c.scale*(c.rest(i, r)-c.means[i]) - unit*mean[0]
	shots := float64(r.shots)
	switch {
	case !b.follows():
		p.noiseVariance = b.ratio * unit * unit / shots
	case c.known != nil:
		p.noiseVariance = c.known.at(r.x) / shots
	case !math.IsNaN(b.shotVariance):
		p.noiseVariance = b.shotVariance / shots
	default:
		p.noiseVariance = c.noise.at(r.x, c.scale) / shots
	}
	return p
}

// decider is the prior that decides a step which tries a setting (in the users' units):
// the one whose option of that control set is greatest there.
func (d *decision) decider(options []option, set int, user []float64) int {
	dom := d.domains[set]
	x := make([]float64, dom.size())
	for j, i := range dom.coords {
		x[j] = d.axes[i].unit(user[i])
	}
	best, member := math.Inf(-1), -1
	for _, o := range options {
		if o.set != set {
			continue
		}
		if p, ok := o.objective.(gpcore.Preparer); ok {
			p.Prepare()
		}
		var v [1]float64
		o.objective.Values(v[:], x)
		if value := o.leaves(d.model.inForce, v[0]); value > best {
			best, member = value, o.view[0].member
		}
	}
	return member
}

// try puts the prior that decided a step to the test, before the observation r of it is
// learnt.
func (e *engine) try(o Observation, r *row) error {
	c := e.model.priors
	if c == nil || c.trials == nil || o.ControlSet < 0 || o.Step <= e.spec.InitialSteps || e.designOnly || o.Step < c.trials.tested.step {
		return nil
	}
	if err := e.model.refresh(); err != nil {
		return err
	}
	q := c.trials
	switch {
	case o.Step == q.tested.step: // another shot of it
	case o.Step == q.proposed.step:
		q.tested = q.proposed
	case !e.ready():
		return nil
	default:
		member, err := e.redecide(o)
		if err != nil {
			return err
		}
		q.tested = verdict{o.Step, member}
	}
	member := q.tested.member
	if member < 0 || !c.set.Alive(member) {
		return nil
	}
	if q.judge(member, o.Step, c.foretold(member, r)) && c.set.Eliminate(member) != nil {
		q.refuted = true // it is the last
	}
	return nil
}

// redecide finds out who decided the step of an observation that this process did not
// propose.
func (e *engine) redecide(o Observation) (member int, err error) {
	x := o.Requested
	for _, i := range e.domains[o.ControlSet].coords {
		if x == nil || math.IsNaN(x[i]) {
			x = o.X
			break
		}
	}
	if err := e.refresh(); err != nil {
		return -1, err
	}
	d := e.decision(context.Background(), o.Step, e.fitting())
	if err := d.constrain(); err != nil {
		return -1, err
	}
	options, err := d.options()
	if err != nil {
		return -1, err
	}
	return d.decider(options, o.ControlSet, x), nil
}
