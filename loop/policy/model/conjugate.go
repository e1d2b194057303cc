package model

import (
	"math"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/loop/policy/internal/num"
)

// conjugate estimates a process's constant mean m and unit a in closed form. With K the
// covariance of the observations in the process's unit, noise included, and t what was
// read,
//
//	t ~ N(m 1, a^2 K),  m ~ N(0, a^2),  a^2 ~ inverse gamma(1/2, 1/2),
//
// integrating both out leaves, with u = 1'K^-1 t, q = 1'K^-1 1 and
// S = t'K^-1 t - u^2/(q+1), the evidence
//
//	gamma((n+1)/2)/gamma(1/2) (1/2)^(1/2) (1/2 + S/2)^(-(n+1)/2) (2 pi)^(-n/2) |K|^(-1/2) (q+1)^(-1/2)
//
// (the normal-inverse-gamma model of textbooks). Predictions take the most probable mean,
// u/(q+1), and the unit whose square is (1+S)/(1+n), the inverse of the precision's mean.
// The prior of the unit is as wide as that of the fits: the standard deviation of its
// log variance is 2.2. A mean or a unit that is not open stays as it is.
type conjugate struct {
	mean, unit         float64
	openMean, openUnit bool
}

// estimate estimates what is open from the readings t, leaves the process with targets
// (t - mean)/unit, and returns the log evidence of t. O(n^2).
func (c *conjugate) estimate(memory *num.Memory, g *gpcore.GP, t []float64) (evidence float64, err error) {
	n := float64(len(t))
	weights, targets := memory.Floats(len(t)), memory.Floats(len(t))
	q := 0.0
	if c.openMean {
		for k := range targets {
			targets[k] = 1
		}
		if err := g.SetTargets(targets); err != nil {
			return 0, err
		}
		g.Weights(weights)
		u := 0.0
		for k, w := range weights {
			q += w
			u += w * t[k]
		}
		c.mean = u / (q + 1)
	}
	if err := c.setTargets(g, targets, t); err != nil {
		return 0, err
	}
	g.Weights(weights)
	quadratic := 0.0 // of the targets
	for k, w := range weights {
		quadratic += w * targets[k]
	}
	// log |K|^(-1/2) and all that depends on n alone
	evidence = g.LogLikelihood() + quadratic/2 - math.Log1p(q)/2
	if c.openMean {
		quadratic += c.mean * c.mean / (c.unit * c.unit)
	}
	if !c.openUnit {
		return evidence - quadratic/2 - n*math.Log(c.unit), nil
	}
	s := quadratic * c.unit * c.unit
	c.unit = math.Sqrt((1 + s) / (1 + n))
	top, _ := math.Lgamma((n + 1) / 2)
	bottom, _ := math.Lgamma(0.5)
	return evidence + top - bottom - math.Ln2/2 - (n+1)/2*math.Log((1+s)/2), c.setTargets(g, targets, t)
}

// setTargets gives the process its targets.
func (c *conjugate) setTargets(g *gpcore.GP, targets, t []float64) error {
	for k, v := range t {
		targets[k] = (v - c.mean) / c.unit
	}
	return g.SetTargets(targets)
}
