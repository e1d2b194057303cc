package policy

import (
	"cmp"
	"github.com/labtuner/tuner/loop/policy/schedule"
	"math"
	"slices"

	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
)

// acquisitions checks what the acquisition needs, and the costs.
func (c *checker) acquisitions() {
	s := c.spec
	if a, ok := AcquisitionOf(s.Acquisition); ok && s.Risk > 0 && a.NoRisk != "" && !s.knownWorth() {
		c.fail("policy.risk", "risk %g has no meaning for acquisition %q: %s; use %q or %q, or risk 0, or with one control set of all variables give the noise", s.Risk, s.Acquisition, a.NoRisk, acquireUCB, acquireTS)
	}
	if s.PerCost && (s.Schedule == schedule.Epsilon || s.Schedule == schedule.Auto) {
		c.fail("policy.per_cost", "values per cost and schedule %q both weigh costs: use one of them", s.Schedule)
	}
	if s.Acquisition == acquireGittins && (s.PerCost || s.Schedule == schedule.Auto || s.Schedule == schedule.Epsilon) {
		c.fail("policy.acquisition", "acquisition %q weighs costs itself: leave out values per cost, and a schedule that weighs them", s.Acquisition)
	}
	if s.Acquisition == acquireIDS && !(num.Finite(s.Rho) && s.Rho >= 1) {
		c.fail("policy.rho", "rho %g must be finite and at least 1 (2 is usual): a step may have so many times the best information ratio", s.Rho)
	}
	if len(c.problems) == 0 {
		c.fidelities()
	}
	c.costs()
}

// costs checks costs of settings, of movement, and that what is divided by them is not
// divided by zero.
func (c *checker) costs() {
	s := c.spec
	if n := len(s.MoveCost); n != 0 && n != len(s.Variables) {
		c.fail("cost.per_move", "%d costs of movement for %d variables", n, len(s.Variables))
	}
	for i, v := range s.MoveCost {
		if !num.Finite(v) || v < 0 {
			c.fail("cost.per_move", "cost %g per unit that variable %d moves must be finite and not negative", v, i+1)
		}
	}
	if !s.PerCost || s.SettingCost != nil || s.CostsRead {
		return
	}
	for i := range s.ControlSets {
		if s.ControlSets[i].Cost == 0 {
			c.fail("control_set", "control set %d is free: values per cost need a cost above 0 for each control set, or a cost of settings", i+1)
		}
	}
}

// again checks what follows a stalled run and what may be recommended, and that neither is asked for where it
// has no effect.
func (c *checker) again() {
	s := c.spec
	c.oneOf("policy.stalled", "stalled", cmp.Or(s.Stalled, stalledRepeat), stalledExplore, stalledRepeat)
	c.oneOf("policy.region", "region", cmp.Or(s.Region, regionWhole), regionWhole, regionTrust)
	c.oneOf("policy.recommended", "recommended", cmp.Or(s.Recommended, recommendedMeasured), recommendedMeasured, recommendedModel)
	for _, a := range []struct {
		key   string
		asked bool
	}{{"policy.stalled", s.Stalled == stalledExplore}, {"policy.recommended", s.Recommended == recommendedModel}, {"policy.region", s.Region == regionTrust}} {
		if a.asked && !s.undivided() {
			c.fail(a.key, "has no effect with kind %q here: it needs one control set of all variables, and neither drift, constraints nor a fidelity; leave it out", s.Kind)
		}
	}
	if s.Region == regionTrust && len(s.Candidates) > 0 {
		c.fail("policy.region", "has no effect among listed settings: leave it out")
	}
	if rule := s.Model.PriorRule; s.Stalled == stalledExplore && rule != "" && rule != model.PriorsAveraged {
		c.fail("policy.stalled", "has no effect with prior rule %q, by which each prior decides for itself: leave it out, or use %q", rule, model.PriorsAveraged)
	}
}

// fidelities checks the target fidelity.
func (c *checker) fidelities() {
	s := c.spec
	if s.Fidelity == nil {
		return
	}
	if s.Acquisition != acquireMFMES {
		c.fail("variable", "a target fidelity has no meaning for acquisition %q: use %q, or leave it out", s.Acquisition, acquireMFMES)
	}
	if len(s.Fidelity) != len(s.Variables) {
		c.fail("variable", "%d target fidelities for %d variables (NaN for one that is no fidelity)", len(s.Fidelity), len(s.Variables))
		return
	}
	for i, v := range s.Fidelity {
		if r := &s.Variables[i]; !math.IsNaN(v) && !(v >= r.Low && v <= r.High) {
			c.fail("variable."+r.Name, "target fidelity %g of variable %q lies outside the range [%g, %g]", v, r.Name, r.Low, r.High)
		}
	}
	if open := slices.ContainsFunc(s.Fidelity, math.IsNaN); !open || !slices.ContainsFunc(s.Fidelity, num.Finite) {
		c.fail("variable", "of %d variables at least one must be a fidelity and one none (NaN)", len(s.Fidelity))
	}
}
