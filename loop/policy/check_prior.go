package policy

import (
	"math"

	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
)

// maxPriors bounds a set: each prior has its own factor in memory, and several
// where it leaves something open.
const maxPriors = 64

// priors checks the priors that compete and the rule by which they decide.
func (c *checker) priors() {
	m := &c.spec.Model
	if m.PriorRule != "" {
		c.oneOf("policy.prior_rule", "prior rule", m.PriorRule, model.PriorRules()...)
	}
	if m.Hyperparameters != model.HyperPriors {
		if m.PriorRule != "" {
			c.fail("policy.prior_rule", "prior rule %q has no effect with hyperparameters %q: use hyperparameters %q, where priors compete", m.PriorRule, m.Hyperparameters, model.HyperPriors)
		}
		return
	}
	if m.Priors != nil && len(m.Priors) == 0 {
		c.fail("policy.priors", "the list of priors is empty: name at least one, or leave it out for the built-in set")
	}
	if len(m.Priors) > maxPriors {
		c.fail("policy.priors", "%d priors: at most %d can compete", len(m.Priors), maxPriors)
	}
	for i := range m.Priors {
		c.prior(i+1, &m.Priors[i])
	}
}

func (c *checker) prior(n int, p *model.Prior) {
	if p.Kernel != "" && p.Custom == nil {
		c.oneOf("policy.priors", "kernel", p.Kernel, model.Kernels()...)
	}
	if dims := len(c.spec.Variables); p.Custom != nil {
		if d := p.Custom.Dim(); d != dims {
			c.fail("policy.priors", "prior %d: the kernel is for %d variables, there are %d", n, d, dims)
		}
	} else if l := len(p.Lengthscale); l > 1 && l != dims {
		c.fail("policy.priors", "prior %d: %d lengthscales for %d variables: give one for all, one for each, or none", n, l, dims)
	}
	for _, l := range p.Lengthscale {
		if !num.Finite(l) || l <= 0 {
			c.fail("policy.priors", "prior %d: lengthscale %g must be positive and finite", n, l)
		}
	}
	if v := p.Outputscale; p.Custom == nil && !math.IsNaN(v) && (!num.Finite(v) || v <= 0) {
		c.fail("policy.priors", "prior %d: outputscale %g must be positive and finite, or NaN: estimated", n, v)
	}
	if v := p.NoiseSD; !math.IsNaN(v) && (!num.Finite(v) || v < 0) {
		c.fail("policy.priors", "prior %d: noise sd %g must be finite and not negative, or NaN: estimated", n, v)
	}
	if math.IsInf(p.Mean, 0) {
		c.fail("policy.priors", "prior %d: mean %g must be finite, or NaN: estimated", n, p.Mean)
	}
	if !num.Finite(p.Weight) || p.Weight < 0 {
		c.fail("policy.priors", "prior %d: weight %g must be finite and not negative", n, p.Weight)
	}
}
