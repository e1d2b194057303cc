package risk

import (
	"math"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/gpcore/quadrature"
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
// Expectations are over the nodes that the objective's own expectation has. Cost of a point: O(n^2)
// a node.
type SpreadRisk struct {
	view         model.View
	domain       *space.Domain
	full, coarse quadrature.Nodes // over all coordinates that are not controlled
	random       []int            // those
	alpha        float64          // in units of the standardised objective, with h
	beta         float64          // standard deviations below for positive values, above for negative ones

	readers                                          []*gpcore.Reader // one for each component
	x, mean, variance, byMean, byVariance, at, bound []float64        // scratch
}

// SpreadOf bounds the spread over what a domain leaves alone, beta standard deviations below
// what is likely; nil where nothing is left alone or where risk does not count. full are the nodes
// of the objective's expectation, coarse the fewer ones by which a search screens.
func (e *Criterion) SpreadOf(j Evaluation, beta float64, full, coarse quadrature.Nodes) *SpreadRisk {
	if !e.spreads(j) {
		return nil
	}
	r := &SpreadRisk{view: j.View, domain: j.Domain, full: full, coarse: coarse, alpha: e.SpreadAlpha(), beta: beta}
	for i := range j.View[0].GP.Dim() {
		if num.Position(j.Domain.Coords, i) < 0 {
			r.random = append(r.random, i)
		}
	}
	return r.fork()
}

// spreads reports whether a domain leaves something alone whose spread counts.
func (e *Criterion) spreads(j Evaluation) bool { return e.Risk > 0 && len(j.Domain.Random) > 0 }

func (r *SpreadRisk) fork() *SpreadRisk {
	f := &SpreadRisk{view: r.view, domain: r.domain, full: r.full, coarse: r.coarse, random: r.random, alpha: r.alpha, beta: r.beta}
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
	if len(r.coarse.Weight) < len(r.full.Weight) {
		return search.Approximation
	}
	return inner
}

// Adjust implements [space.Adjustment].
func (r *SpreadRisk) Adjust(dst, grad, x []float64, surrogate bool) {
	nodes := &r.full
	if surrogate {
		nodes = &r.coarse
	}
	r.bound = num.Resized(r.bound, len(dst))
	r.bounds(r.bound, x, nodes, grad)
	for j, v := range r.bound {
		dst[j] -= r.alpha * v
	}
}

// Bound is the bound of Var_R[f] of the standardised objective at setting c.
func (r *SpreadRisk) Bound(c []float64) float64 {
	var out [1]float64
	r.bounds(out[:], c, &r.full, nil)
	return out[0]
}

// bounds sets dst to the bounds at settings x, row after row, with expectations over the nodes, and
// takes alpha times their gradients off grad where that is not nil.
func (r *SpreadRisk) bounds(dst, x []float64, n *quadrature.Nodes, grad []float64) {
	if len(dst) == 0 { // a list that the search has nothing of
		return
	}
	size, count := len(r.domain.Coords), len(n.Weight)
	d := size + len(r.random)
	r.x = num.Resized(r.x, len(dst)*count*d)
	for j := range dst {
		r.load(r.x[j*count*d:(j+1)*count*d], x[j*size:(j+1)*size], n)
	}
	clear(dst)
	for k := range r.view {
		r.predict(k, len(dst)*count, grad != nil)
		for j := range dst {
			var slope []float64
			if grad != nil {
				slope = grad[j*size : (j+1)*size]
			}
			dst[j] += r.view[k].Weight * r.ofComponent(k, n.Weight, j*count, slope)
		}
	}
}

// load writes the points of all coordinates behind a setting.
func (r *SpreadRisk) load(dst, c []float64, n *quadrature.Nodes) {
	d, size := len(r.domain.Coords)+len(r.random), len(r.random)
	for q := range n.Weight {
		x := dst[q*d : (q+1)*d]
		for j, i := range r.domain.Coords {
			x[i] = c[j]
		}
		for j, v := range n.X[q*size : (q+1)*size] {
			x[r.random[j]] = v
		}
	}
}

// predict fills means and variances of component k at the points in units of the standardised
// objective, and their gradients where asked for.
func (r *SpreadRisk) predict(k, points int, slopes bool) {
	c := &r.view[k]
	d := len(r.x) / points
	r.mean, r.variance = num.Resized(r.mean, points), num.Resized(r.variance, points)
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
	for q := range points {
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

// ofComponent is the bound at a setting by what was predicted at nodes of these weights, the first
// of which is point number first.
func (r *SpreadRisk) ofComponent(k int, weight []float64, first int, slope []float64) float64 {
	mu, variance := r.mean[first:first+len(weight)], r.variance[first:first+len(weight)]
	mean, doubt := 0.0, 0.0
	for q, w := range weight {
		mean += w * mu[q]
		doubt += w * max(variance[q], 0)
	}
	square := 0.0
	for q, w := range weight {
		square += w * (mu[q] - mean) * (mu[q] - mean)
	}
	sd, wide := math.Sqrt(square), math.Sqrt(doubt)
	end := max(sd-r.beta*wide, 0)
	if slope == nil || end == 0 {
		return end * end
	}
	c := &r.view[k]
	d := len(r.domain.Coords) + len(r.random)
	for q, w := range weight {
		byMean, byVariance := 0.0, 0.0 // of the bound, by this node's
		if sd > 0 {
			byMean = 2 * end * w * (mu[q] - mean) / sd
		}
		if wide > 0 {
			byVariance = -end * r.beta * w / wide
		}
		for j, i := range r.domain.Coords {
			at := (first+q)*d + i
			slope[j] -= r.alpha * c.Weight * c.Scale * (byMean*r.byMean[at] + byVariance*c.Scale*r.byVariance[at])
		}
	}
	return end * end
}

// Subtract takes off an objective of the standardised unit what of the risk is no term of an
// expectation: a noise that is known, and the spread, beta standard deviations below what is likely.
func (e *Criterion) Subtract(o *expectations.Expected, j Evaluation, beta float64) search.Objective {
	out := e.SubtractKnownRisk(o, j.Domain)
	full, coarse := o.Rules()
	if r := e.SpreadOf(j, beta, full, coarse); r != nil {
		return space.Adjust(out, r)
	}
	return out
}
