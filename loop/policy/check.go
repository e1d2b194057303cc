package policy

import (
	"cmp"
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore/sobol"
	"github.com/labtuner/tuner/loop/policy/cost"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/schedule"
	"github.com/labtuner/tuner/loop/policy/space"
)

// validate lists every problem of the specification.
func validate(s *Spec) []error {
	c := &checker{spec: s}
	c.variables()
	c.controlSets()
	if len(c.problems) == 0 { // the rest indexes both
		c.candidates()
		c.budget()
	}
	if c.oneOf("policy.kind", "kind", s.Kind, Kinds()...) {
		c.parts()
	}
	c.model()
	c.transform()
	c.drift()
	c.again()
	c.constraints()
	if !num.Finite(s.Beta) || s.Beta <= 0 {
		c.fail("policy.beta", "beta %g must be positive and finite (2 is usual): it sets the lower bound of every recommendation", s.Beta)
	}
	if s.InitialSteps < 0 {
		c.fail("policy.initial", "initial steps %d must not be negative", s.InitialSteps)
	}
	if s.WorkUnits < 0 {
		c.fail("policy", "work units %d must not be negative (0: the default)", s.WorkUnits)
	}
	return c.problems
}

func (c *checker) variables() {
	vars := c.spec.Variables
	if len(vars) == 0 {
		c.fail("variable", "there is no variable: name at least one")
	}
	if len(vars) >= sobol.Dims { // one dimension of the sequence chooses among readings
		c.fail("variable", "%d variables: at most %d are possible in a policy's search, measured ones too; leave some out, they stay as they are", len(vars), sobol.Dims-1)
	}
	seen := map[string]bool{}
	for i := range vars {
		if v := &vars[i]; seen[v.Name] {
			c.fail("variable."+v.Name, "variable %q is named twice", v.Name)
		} else {
			seen[v.Name] = true
			c.variable(v)
		}
	}
}

func (c *checker) variable(v *space.Variable) {
	switch {
	case !num.Finite(v.Low) || !num.Finite(v.High) || !num.Finite(v.High-v.Low):
		c.fail("variable."+v.Name, "variable %q: range [%g, %g] must be finite", v.Name, v.Low, v.High)
		return
	case v.Low >= v.High:
		c.fail("variable."+v.Name, "variable %q: range [%g, %g] must have its low end below its high end", v.Name, v.Low, v.High)
		return
	case v.Log && v.Low <= 0:
		c.fail("variable."+v.Name, "variable %q: range [%g, %g] of a logarithmic scale must lie above 0", v.Name, v.Low, v.High)
		return
	case !num.Finite(v.Resolution) || v.Resolution < 0:
		c.fail("variable."+v.Name, "variable %q: resolution %g must be finite and not negative", v.Name, v.Resolution)
		return
	case v.Integer && v.Resolution != math.Floor(v.Resolution):
		c.fail("variable."+v.Name, "variable %q: resolution %g of an integer must be a whole number", v.Name, v.Resolution)
		return
	}
	if math.IsInf(v.Start, 0) {
		c.fail("variable."+v.Name, "variable %q: start %g must be finite, or NaN where it is unknown", v.Name, v.Start)
	}
	for i, l := range v.Levels {
		switch {
		case !(l >= v.Low && l <= v.High):
			c.fail("variable."+v.Name, "variable %q: level %g lies outside the range [%g, %g]", v.Name, l, v.Low, v.High)
		case i > 0 && l <= v.Levels[i-1]:
			c.fail("variable."+v.Name, "variable %q: level %g follows %g, but levels must grow", v.Name, l, v.Levels[i-1])
		case v.Integer && l != math.Floor(l):
			c.fail("variable."+v.Name, "variable %q: level %g of an integer must be a whole number", v.Name, l)
		}
	}
	if a := space.NewAxis(v); len(v.Levels) == 0 && a.Step > 0 && a.First > a.Last {
		c.fail("variable."+v.Name, "variable %q: no multiple of %g lies in the range [%g, %g]", v.Name, a.Step, v.Low, v.High)
	}
	c.distribution(v)
}

func (c *checker) distribution(v *space.Variable) {
	switch r := v.Random; r.Kind {
	case space.Held, space.Uniform, space.Learnt:
	case space.TruncatedNormal:
		if !num.Finite(r.Mean) || !num.Finite(r.SD) || r.SD <= 0 {
			c.fail("variable."+v.Name, "variable %q: normal distribution with mean %g and sd %g: both must be finite, the sd positive", v.Name, r.Mean, r.SD)
		} else if m := space.NewMarginal(v).Mass(); !(m > 1e-12) {
			c.fail("variable."+v.Name, "variable %q: normal distribution with mean %g and sd %g practically never falls in the range [%g, %g]",
				v.Name, r.Mean, r.SD, v.Low, v.High)
		}
	default:
		c.fail("variable."+v.Name, "variable %q: random kind %d is not known", v.Name, r.Kind)
	}
}

func (c *checker) controlSets() {
	sets := c.spec.ControlSets
	if len(sets) == 0 {
		c.fail("control_set", "there is no control set: name at least one (without a choice, one that holds every variable)")
	}
	for i, s := range sets {
		switch {
		case len(s.Controlled) != len(c.spec.Variables):
			c.fail("control_set", "control set %d has %d entries for %d variables", i+1, len(s.Controlled), len(c.spec.Variables))
		case !slices.Contains(s.Controlled, true):
			c.fail("control_set", "control set %d controls no variable", i+1)
		}
		if !num.Finite(s.Cost) || s.Cost < 0 {
			c.fail("control_set", "control set %d: cost %g must be finite and not negative", i+1, s.Cost)
		}
		for j := range i {
			if slices.Equal(sets[j].Controlled, s.Controlled) {
				c.fail("control_set", "control sets %d and %d hold the same variables: drop one", j+1, i+1)
			}
		}
	}
}

// candidates checks the finite domain; a value may be NaN where no control set
// controls the variable.
func (c *checker) candidates() {
	if c.spec.Once && len(c.spec.Candidates) == 0 {
		c.fail("domain.candidates", "candidates are to be tried once, but there are none: list them")
	}
	controlled := make([]bool, len(c.spec.Variables))
	for _, s := range c.spec.ControlSets {
		for i, held := range s.Controlled {
			controlled[i] = controlled[i] || held
		}
	}
	for k, row := range c.spec.Candidates {
		if len(row) != len(controlled) {
			c.fail("domain.candidates", "candidate %d has %d values for %d variables", k+1, len(row), len(controlled))
			continue
		}
		for i, v := range row {
			if r := &c.spec.Variables[i]; controlled[i] && !(v >= r.Low && v <= r.High) {
				c.fail("domain.candidates", "candidate %d: %g of variable %q lies outside the range [%g, %g]", k+1, v, r.Name, r.Low, r.High)
			}
		}
	}
}

func (c *checker) budget() {
	b := c.spec.Budget
	if !num.Finite(b) || b < 0 {
		c.fail("stop.cost", "budget %g must be finite and not negative (0: no bound)", b)
		return
	}
	least := math.Inf(1)
	for _, s := range c.spec.ControlSets {
		least = min(least, s.Cost)
	}
	if l := (cost.Ledger{Budget: b}); !l.Fits(least) {
		c.fail("stop.cost", "budget %g is below %g, the cost of the cheapest control set: raise it", b, least)
	}
}

// parts checks what the kind needs.
func (c *checker) parts() {
	s := c.spec
	p, _ := KindOf(s.Kind)
	if len(s.ControlSets) > 0 {
		p.applyTo(s)
	}
	if len(s.ControlSets) > 0 && s.several() && !p.Subsets {
		c.fail("policy.kind", "kind %q needs exactly one control set that holds every variable: for a choice among control sets use %q or %q", s.Kind, kindRAHBO, kindUCBCVS)
	}
	c.risk(p)
	if c.oneOf("policy.acquisition", "acquisition", s.Acquisition, Acquisitions()...) && s.Acquisition != acquireNothing {
		if a, _ := AcquisitionOf(s.Acquisition); a.Bounded || s.Confidence != "" {
			c.confidence()
		}
		c.oneOf("policy.initial", "initial design", s.Design, designSobol, designRandom)
	}
	c.acquisitions()
	if (s.Kind == kindUCBCVS || s.Schedule != "") && c.oneOf("policy.schedule", "schedule", s.Schedule, schedule.Auto, schedule.ETCAda, schedule.ETC50, schedule.ETC100, schedule.Epsilon, schedule.None) &&
		s.Schedule == schedule.Epsilon {
		if len(s.Epsilon) == 0 {
			c.fail("policy.schedule", "schedule %q needs a list of epsilon, in the objective's unit; the last value holds", s.Schedule)
		}
		for _, v := range s.Epsilon {
			if !num.Finite(v) || v < 0 {
				c.fail("policy.epsilon", "epsilon %g must be finite and not negative", v)
			}
		}
	}
}

// transform refuses a learnt transformation where it is not sound.
func (c *checker) transform() {
	s := c.spec
	if !c.oneOf("model.transform", "transform", cmp.Or(s.Model.Transform, transformNone), transformAuto, transformNone, transformLearnt) || s.Model.Transform != transformLearnt {
		return
	}
	for _, why := range s.keepsUnit() {
		c.fail("model.transform", "a learnt transformation is not sound here: %s; leave it out", why)
	}
}

func (c *checker) model() {
	m := &c.spec.Model
	c.oneOf("model.kernel", "kernel", m.Kernel, model.Kernels()...)
	if m.LengthscalePrior != "" {
		c.oneOf("model.lengthscale_prior", "lengthscale prior", m.LengthscalePrior, model.LengthscalePriors()...)
	}
	if m.Lengthscales != "" {
		c.oneOf("model.lengthscales", "lengthscales", m.Lengthscales, model.LengthscaleChoices()...)
	}
	c.priors()
	for _, n := range []struct {
		what         string
		value, least int
	}{{"capacity", m.Capacity, 2}, {"refit every", m.RefitEvery, 1}, {"refit lag", m.RefitLag, 1}} {
		if n.value < n.least {
			c.fail("model.capacity", "%s %d must be at least %d", n.what, n.value, n.least)
		}
	}
	if m.RefitLag > m.RefitEvery {
		c.fail("model", "refit lag %d must not exceed refit every %d: a fit has to end before the next", m.RefitLag, m.RefitEvery)
	}
	if !c.oneOf("model.hyperparameters", "hyperparameters", m.Hyperparameters, model.HyperFit, model.HyperPriors, model.HyperFixed) || m.Hyperparameters != model.HyperFixed {
		return
	}
	if len(m.Lengthscale) != len(c.spec.Variables) {
		c.fail("policy.priors", "%d fixed lengthscales for %d variables", len(m.Lengthscale), len(c.spec.Variables))
	}
	for _, l := range m.Lengthscale {
		if !num.Finite(l) || l <= 0 {
			c.fail("policy.priors", "fixed lengthscale %g must be positive and finite", l)
		}
	}
	if !num.Finite(m.Outputscale) || m.Outputscale <= 0 {
		c.fail("policy.priors", "fixed outputscale %g must be positive and finite", m.Outputscale)
	}
	if !num.Finite(m.NoiseSD) || m.NoiseSD < 0 {
		c.fail("policy.priors", "fixed noise sd %g must be finite and not negative", m.NoiseSD)
	}
	if !num.Finite(m.Mean) {
		c.fail("policy.priors", "fixed mean %g must be finite", m.Mean)
	}
}
