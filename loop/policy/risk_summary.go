package policy

import (
	"math"

	"github.com/labtuner/tuner/gpcore"
)

// judgement says how settings are looked at: by which posterior, with which variables
// left random, before which step, and how many standard deviations off the noise
// variance's expectation its bound lies (below for positive beta).
type judgement struct {
	view   view
	domain *domain
	step   int
	beta   float64
}

// summary has the expectations at one setting over the variables left random, of the
// standardised objective.
type summary struct {
	mean float64 // E[mean]
	// sd is E[sd]; with several components the standard deviation of their mixture.
	sd float64
	// within is E[sd] with several components too: their average, which a confidence
	// bound averaged over them has.
	within float64
	// bound is E[v], the noise variance's bound that enters the criterion; NaN where the
	// noise is constant.
	bound float64
	// spread is the variance of the mean over the random variables, where risk counts.
	spread float64
	// shot is the variance of one shot: that of the mean over the random variables
	// plus the expected noise.
	shot float64
}

// risky is the variance that enters the criterion: the noise's bound, unless the noise is
// constant, and the spread.
func (s *summary) risky() float64 {
	if math.IsNaN(s.bound) {
		return s.spread
	}
	return s.bound + s.spread
}

// summarise evaluates settings x, one row of the domain's coordinates each.
func (e *criterion) summarise(j judgement, x []float64) ([]summary, error) {
	if j.domain.size() == 0 {
		return e.summariseUncontrolled(j)
	}
	in, err := shared(e.around.inputs(j.domain, j.step), j.view)
	if err != nil {
		return nil, err
	}
	out := make([]summary, len(x)/j.domain.size())
	moments := make([][]summary, len(j.view)) // of each component; shot is the mean's variance
	for i, c := range j.view {
		m, err := componentMoments(c, in, x, len(j.domain.random) > 0)
		if err != nil {
			return nil, err
		}
		moments[i] = m
		for k := range out {
			out[k].mean += c.weight * m[k].mean
			out[k].within += c.weight * m[k].sd
			out[k].shot += c.weight * m[k].shot
		}
	}
	for k := range out {
		variance := 0.0
		for i, c := range j.view {
			d := moments[i][k].mean - out[k].mean
			variance += c.weight * (moments[i][k].sd*moments[i][k].sd + d*d)
		}
		out[k].sd = math.Sqrt(variance)
		if len(j.view) == 1 { // without the rounding of the square's root
			out[k].sd = moments[0][k].sd
		}
	}
	if r := e.spreadOf(j.view, j.domain, j.step); r != nil {
		size := j.domain.size()
		for k := range out {
			out[k].spread = r.variance(x[k*size : (k+1)*size])
		}
	}
	return out, e.addNoise(j, out, in, x)
}

// shared has the components of a mixture take the expectations over the same nodes, those
// for the first one: choosing nodes costs more than an expectation. A single process
// keeps its own, which spares it nodes for what has a closed form.
func shared(in gpcore.Inputs, v view) (gpcore.Inputs, error) {
	if len(v) == 1 || len(in.Random) == 0 {
		return in, nil
	}
	shape, err := gpcore.NewExpected([]gpcore.Term{{Process: v[0].gp, Mean: 1}}, in)
	if err != nil {
		return in, err
	}
	full, _ := shape.Rules()
	in.Random, in.Nodes = nil, &full
	return in, nil
}

// componentMoments has one component's E[mean], E[sd] and, where there are any, the
// variance of its mean over the random variables.
func componentMoments(c component, in gpcore.Inputs, x []float64, random bool) ([]summary, error) {
	out := make([]summary, len(x)/len(in.Controlled))
	// Negative coefficients of the standard deviation have no Jensen bound, which takes
	// O(n^3) to prepare and is of no use here.
	sd, err := expectation([]gpcore.Term{{Process: c.gp, SD: -1}}, in, x)
	if err != nil {
		return nil, err
	}
	lower, err := expectation([]gpcore.Term{{Process: c.gp, Mean: 1, SD: -1, Offset: c.offset}}, in, x)
	if err != nil {
		return nil, err
	}
	for k := range out {
		out[k].sd = -sd[k]
		out[k].mean = lower[k] - sd[k]
	}
	if random {
		square, err := expectation([]gpcore.Term{{Process: c.gp, Offset: c.offset, Of: func(mu, _ float64) (value, byMu, bySigma float64) {
			return mu * mu, 2 * mu, 0
		}}}, in, x)
		if err != nil {
			return nil, err
		}
		for k := range out {
			out[k].shot = max(square[k]-out[k].mean*out[k].mean, 0)
		}
	}
	for k := range out {
		out[k].mean = c.mean + c.scale*out[k].mean
		out[k].sd *= c.scale
		out[k].shot *= c.scale * c.scale
	}
	return out, nil
}

// addNoise adds what the noise contributes.
func (e *criterion) addNoise(j judgement, out []summary, in gpcore.Inputs, x []float64) error {
	field := e.model.v
	if known := e.model.known; known != nil {
		r := knownRisk{noise: known, d: j.domain, nodes: e.around.nodes(j.domain.random)}
		scale, size := e.model.inForce.scale, j.domain.size()
		for k := range out {
			out[k].bound = r.expected(x[k*size:(k+1)*size]) / (scale * scale)
			out[k].shot += out[k].bound
		}
		return nil
	}
	if field == nil {
		for k := range out {
			out[k].bound = math.NaN()
			out[k].shot += e.model.inForce.shotVariance
		}
		return nil
	}
	expected := func(beta float64) ([]float64, error) {
		return expectation([]gpcore.Term{{Process: field.gp, Of: func(mu, sigma float64) (value, byMu, bySigma float64) {
			return field.shotVariance(mu, sigma, -beta)
		}}}, in, x)
	}
	bound, err := expected(j.beta)
	if err != nil {
		return err
	}
	likely, err := expected(0)
	if err != nil {
		return err
	}
	for k := range out {
		out[k].bound = bound[k]
		out[k].shot += likely[k]
	}
	return nil
}

// summariseUncontrolled is the summary of doing nothing: every variable is random, so
// the nodes themselves are settings of all of them.
func (e *criterion) summariseUncontrolled(j judgement) ([]summary, error) {
	n := e.around.nodes(j.domain.random)
	all := &domain{set: -1, axes: j.domain.axes, coords: j.domain.random}
	j.domain = all
	each, err := e.summarise(j, n.x)
	if err != nil {
		return nil, err
	}
	var out summary
	square := 0.0
	for q, s := range each {
		w := n.weight[q]
		out.mean += w * s.mean
		out.sd += w * s.sd
		out.within += w * s.within
		out.bound += w * s.bound
		out.shot += w * s.shot
		square += w * s.mean * s.mean
	}
	out.spread = max(square-out.mean*out.mean, 0)
	out.shot += out.spread
	return []summary{out}, nil
}
