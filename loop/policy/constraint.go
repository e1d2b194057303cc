package policy

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/labtuner/tuner/gpcore"
	"gonum.org/v1/gonum/mathext"
)

// constraint is a bound on a measured quantity c(x) with what is known of it: a Gaussian
// process of its own, with hyperparameters of its own by the rules of the objective's
// (fitted; where priors compete, averaged over the built-in set; fitted too where the
// objective's are fixed, because those say nothing of c). Its observations are the
// readings of valid steps; a step without a reading teaches it nothing, and a failed step
// is the vote's business. With mean mu and standard deviation s of c at a setting,
//
//	P(x) = Phi((High - mu)/s) - Phi((Low - mu)/s)
//
// is the probability that the setting keeps the constraint: the quantity itself, not one
// noisy reading of it. For a control set that leaves variables R random, P(x) is
// E_R[P(x, R)], the probability that a step keeps it; where priors compete, the average
// over them. (Gardner et al., ICML 2014; Gelbart, Snoek and Adams, UAI 2014.)
//
// Constraints limit decisions to settings with P(x) >= Probability for each constraint,
// whatever the acquisition; while there is none, the setting comes nearest to it that a
// search finds, which is the search for a first feasible one. Recommendations keep the
// bound of the confidence that they are made with, P(x) >= Phi(beta). A constraint
// counts from its second reading on: before that its scale is unknown.
//
// This is advice learnt from the data: it is broken while it is learnt. What must never
// happen belongs to the safety layer.
type constraint struct {
	Constraint
	model  *model
	refits refits
}

// newConstraints makes the constraints of a specification; base is how the objective is
// modelled.
func newConstraints(s *Spec, base *modelling) ([]*constraint, error) {
	var out []*constraint
	for j, c := range s.Constraints {
		if c.Probability == 0 {
			c.Probability = defaultProbability
		}
		m := *base
		m.seed = mix(s.Seed + uint64(j) + 1)
		m.learnt, m.known = false, nil
		m.spec.Priors, m.spec.PriorRule = nil, priorsAveraged
		if m.fixed() {
			m.spec.Hyperparameters = hyperFit
		}
		model, err := newModel(&m)
		if err != nil {
			return nil, fmt.Errorf("constraint %q: %w", c.Name, err)
		}
		out = append(out, &constraint{c, model, refits{every: s.Model.RefitEvery, lag: s.Model.RefitLag}})
	}
	return out, nil
}

// defaultProbability lets decisions come near the edge of what is feasible and seldom across:
// see TestConstrainedOptimum.
const defaultProbability = 0.95

// known says that there is something to go by.
func (c *constraint) known() bool { return len(c.model.data.rows) >= 2 }

// observe learns the reading that belongs to an observation of the objective; NaN is
// none.
func (c *constraint) observe(reading float64, r row) {
	if !math.IsNaN(reading) {
		r.mean, r.variance = reading, math.NaN()
		c.model.observe(r)
	}
}

// advance passes the boundary before a step as the engine does for the objective.
// failed tells of a fit that came to nothing, which leaves things as they are.
func (c *constraint) advance(ctx context.Context, step int, begun bool) (failed, err error) {
	take := func() error {
		p, err := c.refits.join(ctx, step)
		switch {
		case err != nil || p == nil:
			return err
		case p.err != nil:
			failed = fmt.Errorf("constraint %q: %w", c.Name, p.err)
			return nil
		}
		return c.model.adopt(p.hyper)
	}
	if err := take(); err != nil {
		return nil, err
	}
	if begun && c.known() && c.model.fits() && c.refits.due(step) {
		c.refits.launch(c.model.task(step))
		if err := take(); err != nil {
			return nil, err
		}
	}
	return failed, nil
}

// advanceConstraints does so for all of them.
func (e *engine) advanceConstraints(ctx context.Context, step int) error {
	var told []error
	for _, c := range e.constraints {
		failed, err := c.advance(ctx, step, step > e.spec.InitialSteps)
		if err != nil {
			return err
		}
		told = append(told, failed)
	}
	e.failedFits = errors.Join(e.failedFits, errors.Join(told...))
	return nil
}

// refresh brings every model up to date with the data.
func (e *engine) refresh() error {
	if err := e.model.refresh(); err != nil {
		return err
	}
	for _, c := range e.constraints {
		if c.known() {
			if err := c.model.refresh(); err != nil {
				return fmt.Errorf("constraint %q: %w", c.Name, err)
			}
		}
	}
	return nil
}

// binding lists the constraints that count so far.
func (e *engine) binding() []*constraint {
	var out []*constraint
	for _, c := range e.constraints {
		if c.known() {
			out = append(out, c)
		}
	}
	return out
}

// bounds are the constraint's in the model's standardised unit.
func (c *constraint) bounds() (low, high float64) {
	h := c.model.inForce
	return (c.Low - h.center) / h.scale, (c.High - h.center) / h.scale
}

// terms are those of the probability P, less farWeight times how far the mean lies
// outside the bounds, in standard deviations of the readings: nothing where P is of a
// size to speak of, but where it is nearly zero it says which way is better.
func (c *constraint) terms() []gpcore.Term {
	low, high := c.bounds()
	return c.model.belief().of(func(mu, sigma float64) (value, byMu, bySigma float64) {
		return keptMass(low, high, mu, sigma)
	})
}

// Of probabilities below leastMass nothing is known but that they are small.
const (
	leastMass = 1e-8
	farWeight = 1e-9
)

// keptMass is what terms says at one point.
func keptMass(low, high, mean, sd float64) (value, byMean, bySD float64) {
	value, byMean, bySD = massBetween(low, high, mean, sd)
	switch {
	case mean < low:
		return value - farWeight*(low-mean), byMean + farWeight, bySD
	case mean > high:
		return value - farWeight*(mean-high), byMean - farWeight, bySD
	}
	return value, byMean, bySD
}

// probabilities are the same at n points of all coordinates, row after row.
func (c *constraint) probabilities(x []float64, n int) []float64 {
	low, high := c.bounds()
	out, mean, variance := make([]float64, n), make([]float64, n), make([]float64, n)
	for _, q := range c.model.belief() {
		q.gp.Predict(mean, variance, x)
		for k := range out {
			p, _, _ := keptMass(low, high, q.mean+q.scale*mean[k], q.scale*math.Sqrt(variance[k]))
			out[k] += q.weight * p
		}
	}
	return out
}

// massBetween is the probability that a normal variable lies between low and high, and
// its derivatives by mean and standard deviation.
func massBetween(low, high, mean, sd float64) (value, byMean, bySD float64) {
	a, b := (low-mean)/sd, (high-mean)/sd
	if a > 0 { // the upper tail: differences of small numbers keep their digits
		value = normalCDF(-a) - normalCDF(-b)
	} else {
		value = normalCDF(b) - normalCDF(a)
	}
	at, bt := normalDensity(a), normalDensity(b)
	byMean = (at - bt) / sd
	if at > 0 { // an infinite bound has no density
		bySD += a * at / sd
	}
	if bt > 0 {
		bySD -= b * bt / sd
	}
	return value, byMean, bySD
}

// deviations is how many standard deviations a probability is above one half, and its
// derivative; below leastMass it goes on as a line, on which terms gives each standard
// deviation outside the bounds one.
func deviations(p float64) (z, slope float64) {
	switch {
	case p >= 1:
		return math.Inf(1), 0
	case p > leastMass:
		z = mathext.NormalQuantile(p)
		return z, 1 / normalDensity(z)
	case math.IsNaN(p):
		return math.Inf(-1), 0
	}
	return mathext.NormalQuantile(leastMass) + (p-leastMass)/farWeight, 1 / farWeight
}

// feasibility is what is known of constraints at a setting.
type feasibility struct {
	// each is P for each binding constraint, less a trifle where it is nearly zero.
	each []float64
}

// least is the smallest probability, 1 without constraints.
func (f feasibility) least() float64 {
	p := 1.0
	for _, q := range f.each {
		p = min(p, q)
	}
	return p
}

// all is a lower bound of the probability that all constraints are kept, however they
// depend on each other: 1 - sum of (1 - P). NaN where one does not count yet.
func (e *engine) all(f feasibility) float64 {
	if len(f.each) < len(e.constraints) {
		return math.NaN()
	}
	p := 1.0
	for _, q := range f.each {
		p -= 1 - max(q, 0)
	}
	return max(p, 0)
}

// feasibilities evaluates P at settings x of a domain. It needs what refresh does.
func (e *engine) feasibilities(d *domain, step int, x []float64) ([]feasibility, error) {
	if d.size() == 0 {
		return e.feasibilityUncontrolled(d, step)
	}
	out := make([]feasibility, len(x)/d.size())
	for _, c := range e.binding() {
		p, err := expectation(c.terms(), e.around.inputs(d, step), x)
		if err != nil {
			return nil, err
		}
		for k := range out {
			out[k].each = append(out[k].each, min(p[k], 1))
		}
	}
	return out, nil
}

// feasibilityUncontrolled is that of doing nothing, as in summariseUncontrolled.
func (e *engine) feasibilityUncontrolled(d *domain, step int) ([]feasibility, error) {
	n := e.around.nodes(d.random)
	all := &domain{set: -1, axes: e.axes, coords: d.random}
	at, err := e.feasibilities(all, step, n.x)
	if err != nil {
		return nil, err
	}
	out := feasibility{each: make([]float64, len(e.binding()))}
	for q, f := range at {
		for j, p := range f.each {
			out.each[j] += n.weight[q] * p
		}
	}
	return []feasibility{out}, nil
}
