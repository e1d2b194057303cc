package model

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/loop/policy/internal/num"
)

// View is one posterior of the standardised objective: a mixture of processes. With
// given or fitted hyperparameters it has one component; priors that are averaged give
// one for each.
type View []Component

// Component is one process of a mixture: the objective is mean + scale*(process + offset).
type Component struct {
	GP     *gpcore.GP
	Mean   float64
	Scale  float64
	Weight float64 // the components' weights sum to one
	Member int     // of the set of priors that compete, where there is one
	// Offset is a prior mean that depends on the point, as in expectations.Term; nil: none.
	Offset func(grad, x []float64) float64
}

// OffsetAt is the offset at a point of all coordinates.
func (c *Component) OffsetAt(x []float64) float64 {
	if c.Offset == nil {
		return 0
	}
	return c.Offset(nil, x)
}

// Offset is the part of the view's mean that no process knows.
func (v View) Offset() float64 {
	sum := 0.0
	for _, c := range v {
		sum += c.Weight * c.Mean
	}
	return sum
}

// LinearTerms appends the terms of E[a*mean + b*sd], averaged over the components, to dst.
func (v View) LinearTerms(dst []expectations.Term, a, b float64) []expectations.Term {
	for _, c := range v {
		dst = append(dst, expectations.Term{Process: c.GP, Mean: c.Weight * c.Scale * a, SD: c.Weight * c.Scale * b, Offset: c.Offset})
	}
	return dst
}

// componentTerm is a function of a component's mean and standard deviation, times its weight.
type componentTerm struct {
	mean, scale, weight float64
	f, of               func(mu, sigma float64) (value, byMu, bySigma float64)
}

func (t *componentTerm) value(mu, sigma float64) (value, byMu, bySigma float64) {
	value, byMu, bySigma = t.f(t.mean+t.scale*mu, t.scale*sigma)
	return t.weight * value, t.weight * t.scale * byMu, t.weight * t.scale * bySigma
}

// TermsOf lists the terms of a function of the mean (the prior's included) and the standard
// deviation, averaged over the components of a view: of an improvement or an information, say. They hold until the
// policy's next call.
func (m *Model) TermsOf(v View, f func(mu, sigma float64) (value, byMu, bySigma float64)) []expectations.Term {
	out := m.terms.Take(m.Memory, len(v))
	for i, c := range v {
		t := m.functions.Take(m.Memory)
		if t.of == nil {
			t.of = t.value
		}
		t.mean, t.scale, t.weight, t.f = c.Mean, c.Scale, c.Weight, f
		out[i] = expectations.Term{Process: c.GP, Offset: c.Offset, Of: t.of}
	}
	return out
}

// Means are the mixture's means at points x of all coordinates, row after row: O(n)
// each, O(1) where they are the observations that a process holds.
func (v View) Means(memory *num.Memory, mean, x []float64) {
	clear(mean)
	m := memory.Floats(len(mean))
	d := len(x) / max(len(mean), 1)
	for _, c := range v {
		c.GP.Means(m, x)
		for j := range m {
			mean[j] += c.Weight * (c.Mean + c.Scale*(m[j]+c.OffsetAt(x[j*d:(j+1)*d])))
		}
	}
}

// Moments are the mixture's mean and standard deviation at points x of all
// coordinates, row after row: the variance is the mean of the variances plus the
// variance of the means.
func (v View) Moments(memory *num.Memory, mean, sd, x []float64) {
	clear(mean)
	clear(sd)
	m, s := memory.Floats(len(mean)), memory.Floats(len(mean))
	d := len(x) / max(len(mean), 1)
	for _, c := range v {
		c.GP.Predict(m, s, x)
		for j := range m {
			mu := c.Mean + c.Scale*(m[j]+c.OffsetAt(x[j*d:(j+1)*d]))
			s[j] *= c.Scale * c.Scale
			mean[j] += c.Weight * mu
			sd[j] += c.Weight * (s[j] + mu*mu)
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

// MostProbable is the component with the greatest weight.
func (v View) MostProbable() Component {
	return slices.MaxFunc(v, func(a, b Component) int { return cmp.Compare(a.Weight, b.Weight) })
}

// Sample chooses a component by the weights.
func (v View) Sample(rng *rand.Rand) Component {
	u := rng.Float64()
	for _, c := range v {
		if u -= c.Weight; u < 0 {
			return c
		}
	}
	return v[len(v)-1] // the weights' sum is off one by rounding
}
