package policy

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/labtuner/tuner/gpcore"
)

// view is one posterior of the standardised objective: a mixture of processes. With
// given or fitted hyperparameters it has one component; priors that are averaged give
// one for each.
type view []component

// component is one process of a mixture: the objective is mean + scale*(process + offset).
type component struct {
	gp     *gpcore.GP
	mean   float64
	scale  float64
	weight float64 // the components' weights sum to one
	member int     // of the contest of priors, where there is one
	// offset is a prior mean that depends on the point, as in gpcore.Term; nil: none.
	offset func(grad, x []float64) float64
}

// lift is the offset at a point of all coordinates.
func (c *component) lift(x []float64) float64 {
	if c.offset == nil {
		return 0
	}
	return c.offset(nil, x)
}

// knows says that the process's observations are at exactly the points x, in this order.
func (c *component) knows(x []float64) bool {
	d := c.gp.Dim()
	if c.gp.Len()*d != len(x) {
		return false
	}
	for i := range c.gp.Len() {
		if !slices.Equal(c.gp.X(i), x[i*d:(i+1)*d]) {
			return false
		}
	}
	return true
}

// offset is the part of the view's mean that no process knows.
func (v view) offset() float64 {
	sum := 0.0
	for _, c := range v {
		sum += c.weight * c.mean
	}
	return sum
}

// linear lists the terms of E[a*mean + b*sd], averaged over the components.
func (v view) linear(a, b float64) []gpcore.Term {
	out := make([]gpcore.Term, len(v))
	for i, c := range v {
		out[i] = gpcore.Term{Process: c.gp, Mean: c.weight * c.scale * a, SD: c.weight * c.scale * b, Offset: c.offset}
	}
	return out
}

// of lists the terms of a function of the mean (the prior's included) and the standard
// deviation, averaged over the components: of an improvement or an information, say.
func (v view) of(f func(mu, sigma float64) (value, byMu, bySigma float64)) []gpcore.Term {
	out := make([]gpcore.Term, len(v))
	for i, c := range v {
		out[i] = gpcore.Term{Process: c.gp, Offset: c.offset, Of: func(mu, sigma float64) (value, byMu, bySigma float64) {
			value, byMu, bySigma = f(c.mean+c.scale*mu, c.scale*sigma)
			return c.weight * value, c.weight * c.scale * byMu, c.weight * c.scale * bySigma
		}}
	}
	return out
}

// means are the mixture's means at points x of all coordinates, row after row: O(n)
// each, O(1) where they are the observations that a process holds.
func (v view) means(mean, x []float64) {
	clear(mean)
	m := make([]float64, len(mean))
	d := len(x) / max(len(mean), 1)
	for _, c := range v {
		if c.knows(x) {
			c.gp.FittedMeans(m)
		} else {
			c.gp.Predict(m, nil, x)
		}
		for j := range m {
			mean[j] += c.weight * (c.mean + c.scale*(m[j]+c.lift(x[j*d:(j+1)*d])))
		}
	}
}

// moments are the mixture's mean and standard deviation at points x of all
// coordinates, row after row: the variance is the mean of the variances plus the
// variance of the means.
func (v view) moments(mean, sd, x []float64) {
	clear(mean)
	clear(sd)
	m, s := make([]float64, len(mean)), make([]float64, len(mean))
	d := len(x) / max(len(mean), 1)
	for _, c := range v {
		c.gp.Predict(m, s, x)
		for j := range m {
			mu := c.mean + c.scale*(m[j]+c.lift(x[j*d:(j+1)*d]))
			s[j] *= c.scale * c.scale
			mean[j] += c.weight * mu
			sd[j] += c.weight * (s[j] + mu*mu)
		}
	}
	for j := range sd {
		if len(v) == 1 { // without the cancellation
			sd[j] = math.Sqrt(s[j])
			continue
		}
		sd[j] = math.Sqrt(max(sd[j]-mean[j]*mean[j], 0))
	}
}

// likeliest is the component with the greatest weight.
func (v view) likeliest() component {
	return slices.MaxFunc(v, func(a, b component) int { return cmp.Compare(a.weight, b.weight) })
}

// share is the component alone, with a weight.
func (c component) share(weight float64) view {
	c.weight = weight
	return view{c}
}

// pick chooses a component by the weights.
func (v view) pick(rng *rand.Rand) component {
	u := rng.Float64()
	for _, c := range v {
		if u -= c.weight; u < 0 {
			return c
		}
	}
	return v[len(v)-1] // the weights' sum is off one by rounding
}
