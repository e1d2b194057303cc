package risk

import (
	"slices"
	"sync"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// SpreadRisk is what the variables that a control set leaves alone add to the variance of
// a step's outcome. With R those variables, one shot with control set i at c is f(c, R)
// plus noise of variance rho^2(c, R), so by the law of total variance the mean-variance
// objective of Makarova et al. (NeurIPS 2021) over the control sets of Tay et al. (NeurIPS
// 2023) is
//
//	MV_i(c) = E_R[f(c, R)] - alpha ( E_R[rho^2(c, R)] + Var_R[f(c, R)] ),
//
// and risk-averse UCB-CVS, a combination that neither paper has, maximises
//
//	a_i(c) = E_R[mu + beta s] - alpha ( E_R[v] + Var_R[mu] ),      mu, s, v at (c, R),
//
// with v the lower bound of the noise variance (nothing where the noise is constant: that
// shifts all settings alike) and mu the posterior mean in place of f. That takes the
// spread for less than is expected, E[Var_R f] = Var_R[mu] + E_R[s^2] - Var[E_R f] >=
// Var_R[mu], which is optimism, as in v; both sides meet as data come in. Letting a
// variable vary is as risky as the objective is steep along it: an expensive control set earns
// its cost where that is steep. Recommendations count the same Var_R[mu]. Of priors that
// are averaged it is the average of Var_R[mu] under each.
//
// Var_R is by the rule of space.RandomVariables. Cost of a point: O(n) a node.
type SpreadRisk struct {
	view   model.View
	domain *space.Domain
	nodes  space.Nodes
	time   []float64  // the last coordinate under drift, else none
	pool   *sync.Pool // of *spreadScratch
}

// spreadScratch serves one evaluation at a time.
type spreadScratch struct {
	readers []*gpcore.Reader // one per component
	x, mean []float64
}

// SpreadOf is the spread of a view, at a step, over what a domain leaves alone; nil where
// nothing is left alone or where risk does not count.
func (e *Criterion) SpreadOf(v model.View, d *space.Domain, step int) *SpreadRisk {
	if e.Risk == 0 || len(d.Random) == 0 {
		return nil
	}
	r := &SpreadRisk{view: v, domain: d, nodes: e.Random.Nodes(d.Random), time: e.Model.Point(nil, step)}
	r.pool = &sync.Pool{New: func() any {
		s := &spreadScratch{}
		for _, c := range v {
			s.readers = append(s.readers, c.GP.Reader())
		}
		return s
	}}
	return r
}

// Variance is Var_R[mu] of the standardised objective at setting c. Safe for concurrent
// use.
func (r *SpreadRisk) Variance(c []float64) float64 {
	s := r.pool.Get().(*spreadScratch)
	defer r.pool.Put(s)
	n, d := r.nodes.Count(), len(r.domain.Coords)+len(r.domain.Random)+len(r.time)
	s.x, s.mean = num.Resized(s.x, n*d), num.Resized(s.mean, n)
	for q := range n {
		x := s.x[q*d : (q+1)*d]
		for j, i := range r.domain.Coords {
			x[i] = c[j]
		}
		for j, v := range r.nodes.At(q) {
			x[r.domain.Random[j]] = v
		}
		copy(x[d-len(r.time):], r.time)
	}
	sum := 0.0
	for k, b := range r.view {
		s.readers[k].Predict(s.mean, nil, s.x)
		for q := range s.mean {
			s.mean[q] += b.OffsetAt(s.x[q*d : (q+1)*d])
		}
		sum += b.Weight * b.Scale * b.Scale * num.VarianceOf(s.mean, r.nodes.Weight)
	}
	return sum
}

// slope adds factor times the gradient of variance to grad, by central differences: they
// take O(n) a node, a gradient from the process O(n^2).
func (r *SpreadRisk) slope(grad, c []float64, factor float64) {
	const h = 1e-4 // of the range
	x := slices.Clone(c)
	for j := range c {
		low, high := max(c[j]-h, 0), min(c[j]+h, 1)
		x[j] = high
		up := r.Variance(x)
		x[j] = low
		grad[j] += factor * (up - r.Variance(x)) / (high - low)
		x[j] = c[j]
	}
}

// SubtractSpread subtracts a domain's spread risk, by a view and before a step, from an
// objective of the standardised unit.
func (e *Criterion) SubtractSpread(o search.Objective, v model.View, d *space.Domain, step int) search.Objective {
	r := e.SpreadOf(v, d, step)
	if r == nil {
		return o
	}
	alpha := e.SpreadAlpha()
	return space.Adjust(o, space.Subtrahend{
		Value: func(c []float64) float64 { return alpha * r.Variance(c) },
		Slope: func(grad, c []float64, factor float64) { r.slope(grad, c, alpha*factor) },
	})
}
