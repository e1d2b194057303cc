package risk

import (
	"math"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// SpreadRisk bounds what the variables that a control set leaves alone add to the variance of
// a step's outcome. With R those variables, one shot with control set i at c is f(c, R)
// plus noise of variance rho^2(c, R), so by the law of total variance the mean-variance
// objective of Makarova et al. (NeurIPS 2021) over the control sets of Tay et al. (NeurIPS
// 2023), a combination that neither paper has, is
//
//	MV_i(c) = E_R[f(c, R)] - alpha ( E_R[rho^2(c, R)] + h Var_R[f(c, R)] ).
//
// It assumes that noise and R are independent and that R does what its distribution says. h is 1
// where each shot has a draw of its own. Where a draw holds for a step, averaging over n shots
// reduces rho^2 and not the spread: the variance of a step's mean is E[rho^2]/n + Var[f], which is
// counted n times, so h = n (see space.RandomVariables.Inflation).
//
// The posterior's Var_R[mu] is no bound of Var_R[f]. In L2(R) the standard deviation is a
// seminorm below the norm, so where |f - mu| <= beta s,
//
//	sd_R[mu] - beta sqrt(E_R[s^2]) <= sd_R[f] <= sd_R[mu] + beta sqrt(E_R[s^2]),
//
// mu and s at (c, R). The lower end, at least 0, explores: letting a variable vary is taken for as
// harmless as it may be. The upper end is what a recommendation counts. Of priors that are averaged
// it is the average of their bounds.
//
// Expectations are by the rule of space.RandomVariables. Cost of a point: O(n^2) a node.
type SpreadRisk struct {
	view   model.View
	domain *space.Domain
	nodes  space.Nodes
	time   []float64 // the last coordinate under drift, else none
	alpha  float64   // in units of the standardised objective, with h
	beta   float64   // standard deviations below for positive values, above for negative ones

	readers                                   []*gpcore.Reader // one for each component
	x, mean, variance, byMean, byVariance, at []float64        // scratch
}

// SpreadOf bounds the spread over what a domain leaves alone, beta standard deviations below
// what is likely; nil where nothing is left alone or where risk does not count.
func (e *Criterion) SpreadOf(j Evaluation, beta float64) *SpreadRisk {
	if e.Risk == 0 || len(j.Domain.Random) == 0 {
		return nil
	}
	r := &SpreadRisk{view: j.View, domain: j.Domain, nodes: e.Random.Nodes(j.Domain.Random), time: e.Model.Point(nil, j.Step),
		alpha: e.SpreadAlpha(), beta: beta}
	return r.fork()
}

func (r *SpreadRisk) fork() *SpreadRisk {
	f := &SpreadRisk{view: r.view, domain: r.domain, nodes: r.nodes, time: r.time, alpha: r.alpha, beta: r.beta}
	for _, c := range r.view {
		f.readers = append(f.readers, c.GP.Reader())
	}
	return f
}

// Fork implements [space.Adjustment].
func (r *SpreadRisk) Fork() space.Adjustment { return r.fork() }

// Surrogate is the kind of the adjusted objective's surrogate: it takes fewer nodes, so that an
// upper bound of the objective is none of the adjusted one.
func (r *SpreadRisk) Surrogate(inner search.SurrogateKind) search.SurrogateKind {
	if r.nodes.Coarse() < r.nodes.Count() {
		return search.Approximation
	}
	return inner
}

// Adjust implements [space.Adjustment].
func (r *SpreadRisk) Adjust(dst, grad, x []float64, surrogate bool) {
	size, nodes := len(r.domain.Coords), r.nodes.Count()
	if surrogate {
		nodes = r.nodes.Coarse()
	}
	for j := range dst {
		var slope []float64
		if grad != nil {
			slope = grad[j*size : (j+1)*size]
		}
		dst[j] -= r.alpha * r.bound(x[j*size:(j+1)*size], nodes, slope)
	}
}

// Bound is the bound of Var_R[f] of the standardised objective at setting c.
func (r *SpreadRisk) Bound(c []float64) float64 { return r.bound(c, r.nodes.Count(), nil) }

// bound takes so many of the nodes, and takes alpha times its gradient off slope where that is
// not nil.
func (r *SpreadRisk) bound(c []float64, nodes int, slope []float64) float64 {
	r.load(c, nodes)
	sum := 0.0
	for k := range r.view {
		r.predict(k, nodes, slope != nil)
		sum += r.view[k].Weight * r.ofComponent(k, nodes, slope)
	}
	return sum
}

// load writes the points of all coordinates behind a setting.
func (r *SpreadRisk) load(c []float64, nodes int) {
	d := len(r.domain.Coords) + len(r.domain.Random) + len(r.time)
	r.x = num.Resized(r.x, nodes*d)
	for q := range nodes {
		x := r.x[q*d : (q+1)*d]
		for j, i := range r.domain.Coords {
			x[i] = c[j]
		}
		for j, v := range r.nodes.At(q) {
			x[r.domain.Random[j]] = v
		}
		copy(x[d-len(r.time):], r.time)
	}
}

// predict fills means and variances of component k in units of the standardised objective, and
// their gradients where asked for.
func (r *SpreadRisk) predict(k, nodes int, slopes bool) {
	c := &r.view[k]
	d := len(r.x) / nodes
	r.mean, r.variance = num.Resized(r.mean, nodes), num.Resized(r.variance, nodes)
	switch {
	case slopes:
		r.byMean, r.byVariance, r.at = num.Resized(r.byMean, len(r.x)), num.Resized(r.byVariance, len(r.x)), num.Resized(r.at, d)
		r.readers[k].PredictGrads(r.mean, r.variance, r.byMean, r.byVariance, r.x)
	case r.beta == 0:
		clear(r.variance)
		r.readers[k].Predict(r.mean, nil, r.x)
	default:
		r.readers[k].Predict(r.mean, r.variance, r.x)
	}
	for q := range nodes {
		x := r.x[q*d : (q+1)*d]
		if c.Offset != nil && slopes {
			r.mean[q] += c.Offset(r.at, x)
			for i, v := range r.at {
				r.byMean[q*d+i] += v
			}
		} else {
			r.mean[q] += c.OffsetAt(x)
		}
		r.mean[q] *= c.Scale
		r.variance[q] *= c.Scale * c.Scale
	}
}

// ofComponent is the bound by what was predicted.
func (r *SpreadRisk) ofComponent(k, nodes int, slope []float64) float64 {
	mean, doubt := 0.0, 0.0
	for q := range nodes {
		w := r.weight(q, nodes)
		mean += w * r.mean[q]
		doubt += w * max(r.variance[q], 0)
	}
	square := 0.0
	for q := range nodes {
		square += r.weight(q, nodes) * (r.mean[q] - mean) * (r.mean[q] - mean)
	}
	sd, wide := math.Sqrt(square), math.Sqrt(doubt)
	end := max(sd-r.beta*wide, 0)
	if slope == nil || end == 0 {
		return end * end
	}
	c := &r.view[k]
	d := len(r.x) / nodes
	for q := range nodes {
		w := r.weight(q, nodes)
		byMean, byVariance := 0.0, 0.0 // of the bound, by this node's
		if sd > 0 {
			byMean = 2 * end * w * (r.mean[q] - mean) / sd
		}
		if wide > 0 {
			byVariance = -end * r.beta * w / wide
		}
		for j, i := range r.domain.Coords {
			slope[j] -= r.alpha * c.Weight * c.Scale * (byMean*r.byMean[q*d+i] + byVariance*c.Scale*r.byVariance[q*d+i])
		}
	}
	return end * end
}

// weight is that of a node among so many.
func (r *SpreadRisk) weight(q, nodes int) float64 {
	if nodes < r.nodes.Count() {
		return 1 / float64(nodes)
	}
	return r.nodes.Weight[q]
}

// Subtract takes off an objective of the standardised unit what of the risk is no term of an
// expectation: a noise that is known, and the spread, beta standard deviations below what is likely.
func (e *Criterion) Subtract(o search.Objective, j Evaluation, beta float64) search.Objective {
	o = e.SubtractKnownRisk(o, j.Domain)
	if r := e.SpreadOf(j, beta); r != nil {
		return space.Adjust(o, r)
	}
	return o
}
