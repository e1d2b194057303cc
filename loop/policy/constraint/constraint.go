package constraint

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// Constraint is a bound on a measured quantity c(x) with what is known of it: a separate
// Gaussian process, with its own hyperparameters by the rules of the objective's
// (fitted; where priors compete, averaged over the built-in set; fitted too where the
// objective's are fixed, because those say nothing of c). Its observations are the
// readings of valid steps; a step without a reading teaches it nothing, and a failed step
// is the exclusion's business. With mean mu and standard deviation s of c at a setting,
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
type Constraint struct {
	Spec
	Model *model.Model

	masses num.Objects[mass]
}

// Set are those of one policy.
type Set struct {
	Each   []*Constraint
	random *space.RandomVariables
	cache  *expectations.Cache

	slabs
}

// slabs are what calls take and nobody keeps, by type.
type slabs struct {
	known    num.Slab[Feasibility]
	counted  num.Slab[*Constraint]
	settings num.Slab[[]float64]
	flags    num.Slab[bool]
	inputs   num.Slab[expectations.Inputs]
	expected num.Slab[*expectations.Expected]
	bySet    num.Slab[[]*expectations.Expected]

	limiters  num.Objects[Limiter]
	penalties num.Objects[penalty]
	adjusted  num.Objects[space.Adjusted]
}

// New makes the constraints of a specification; base is how the objective is
// modelled, and cache keeps their expectations.
func New(bounds []Spec, base *model.Rules, random *space.RandomVariables, cache *expectations.Cache) (*Set, error) {
	out := &Set{random: random, cache: cache}
	for j, c := range bounds {
		if c.Probability == 0 {
			c.Probability = DefaultProbability
		}
		model, err := model.New(base.ForConstraint(j))
		if err != nil {
			return nil, fmt.Errorf("constraint %q: %w", c.Name, err)
		}
		model.Memory = random.Memory
		out.Each = append(out.Each, &Constraint{Spec: c, Model: model})
	}
	return out, nil
}

// DefaultProbability lets decisions come near the edge of what is feasible and seldom across:
// see TestConstrainedOptimum.
const DefaultProbability = 0.95

// hasData reports whether there is something to go by.
func (c *Constraint) hasData() bool { return len(c.Model.Data.Rows) >= 2 }

// observe learns the reading that belongs to an observation of the objective; NaN is
// none.
func (c *Constraint) observe(reading float64, r model.Row) {
	if !math.IsNaN(reading) {
		r.Mean, r.Variance = reading, math.NaN()
		c.Model.Observe(r)
	}
}

// advance passes the boundary before a step as the engine does for the objective, but
// that fits begin at once. failed reports a fit without a result, which leaves
// things as they are.
func (c *Constraint) advance(ctx context.Context, step int, begun bool) (failed, err error) {
	told, err := c.Model.AwaitFit(ctx, step)
	if err == nil && begun && c.hasData() {
		var second *model.Fit
		if second, err = c.Model.LaunchFit(ctx, step); second != nil {
			told = second
		}
	}
	if told != nil && told.Err != nil {
		failed = fmt.Errorf("constraint %q: %w", c.Name, told.Err)
	}
	return failed, err
}

// Advance passes the boundary before a step; begun says that the initial design is over.
func (s *Set) Advance(ctx context.Context, step int, begun bool) (failed, err error) {
	for _, c := range s.Each {
		told, err := c.advance(ctx, step, begun)
		if err != nil {
			return nil, err
		}
		failed = errors.Join(failed, told)
	}
	return failed, nil
}

// Complete says that all readings before a boundary were learnt, as model.Model.Complete.
func (s *Set) Complete(step int) {
	for _, c := range s.Each {
		c.Model.Complete(step)
	}
}

// StartFits lets the fits that were launched at this boundary run in the background.
func (s *Set) StartFits() {
	for _, c := range s.Each {
		c.Model.StartFit()
	}
}

// Observe learns the readings that belong to an observation of the objective, one for
// each constraint (none at all where there is none of any).
func (s *Set) Observe(readings []float64, r model.Row) {
	for j, reading := range readings {
		s.Each[j].observe(reading, r)
	}
}

// Refresh brings every model up to date with the data.
func (s *Set) Refresh() error {
	for _, c := range s.Each {
		if c.hasData() {
			if err := c.Model.Refresh(); err != nil {
				return fmt.Errorf("constraint %q: %w", c.Name, err)
			}
		}
	}
	return nil
}

// withData lists the constraints that count so far.
func (s *Set) withData() []*Constraint {
	out := s.counted.Take(s.random.Memory, len(s.Each))[:0]
	for _, c := range s.Each {
		if c.hasData() {
			out = append(out, c)
		}
	}
	return out
}

// bounds are the constraint's in the model's standardised unit.
func (c *Constraint) bounds() (low, high float64) {
	h := c.Model.Active
	return (c.Low - h.Center) / h.Scale, (c.High - h.Center) / h.Scale
}

// terms are those of the probability P, less farWeight times how far the mean lies
// outside the bounds, in standard deviations of the readings: nothing where P is of a
// size to speak of, but where it is nearly zero it says which way is better.
func (c *Constraint) terms() []expectations.Term {
	m := c.masses.Take(c.Model.Memory)
	if m.of == nil {
		m.of = m.value
	}
	m.low, m.high = c.bounds()
	return c.Model.TermsOf(c.Model.Posterior(), m.of)
}

// mass is what terms says, between two bounds.
type mass struct {
	low, high float64
	of        func(mu, sigma float64) (value, byMu, bySigma float64)
}

func (m *mass) value(mu, sigma float64) (value, byMu, bySigma float64) {
	return termValue(m.low, m.high, mu, sigma)
}

// Of probabilities below minMass nothing is known but that they are small.
const (
	minMass   = 1e-8
	farWeight = 1e-9
)

// termValue is what terms says at one point.
func termValue(low, high, mean, sd float64) (value, byMean, bySD float64) {
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
func (c *Constraint) probabilities(x []float64, n int) []float64 {
	low, high := c.bounds()
	memory := c.Model.Memory
	out, mean, variance := memory.Floats(n), memory.Floats(n), memory.Floats(n)
	for _, q := range c.Model.Posterior() {
		q.GP.Predict(mean, variance, x)
		for k := range out {
			p, _, _ := termValue(low, high, q.Mean+q.Scale*mean[k], q.Scale*math.Sqrt(variance[k]))
			out[k] += q.Weight * p
		}
	}
	return out
}

// massBetween is the probability that a normal variable lies between low and high, and
// its derivatives by mean and standard deviation.
func massBetween(low, high, mean, sd float64) (value, byMean, bySD float64) {
	a, b := (low-mean)/sd, (high-mean)/sd
	if a > 0 { // the upper tail: differences of small numbers keep their digits
		value = num.NormalCDF(-a) - num.NormalCDF(-b)
	} else {
		value = num.NormalCDF(b) - num.NormalCDF(a)
	}
	at, bt := num.NormalDensity(a), num.NormalDensity(b)
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
// derivative; below minMass it goes on as a line, on which terms gives each standard
// deviation outside the bounds one.
func deviations(p float64) (z, slope float64) {
	switch {
	case p >= 1:
		return math.Inf(1), 0
	case p > minMass:
		z = mathext.NormalQuantile(p)
		return z, 1 / num.NormalDensity(z)
	case math.IsNaN(p):
		return math.Inf(-1), 0
	}
	return mathext.NormalQuantile(minMass) + (p-minMass)/farWeight, 1 / farWeight
}

// Feasibility is what is known of constraints at a setting.
type Feasibility struct {
	// each is P for each binding constraint, less a trifle where it is nearly zero.
	each []float64
}

// Min is the smallest probability, 1 without constraints.
func (f Feasibility) Min() float64 {
	p := 1.0
	for _, q := range f.each {
		p = min(p, q)
	}
	return p
}

// All is a lower bound of the probability that all constraints are kept, however they
// depend on each other: 1 - sum of (1 - P). NaN where one does not count yet.
func (s *Set) All(f Feasibility) float64 {
	if len(f.each) < len(s.Each) {
		return math.NaN()
	}
	p := 1.0
	for _, q := range f.each {
		p -= 1 - max(q, 0)
	}
	return max(p, 0)
}

// Feasibilities evaluates P at settings x of a domain. It needs what refresh does. They hold until the policy's
// next call.
func (s *Set) Feasibilities(d *space.Domain, step int, x []float64) ([]Feasibility, error) {
	if d.Size() == 0 {
		return s.feasibilityUncontrolled(d, step)
	}
	memory, n := s.random.Memory, len(x)/d.Size()
	out, counted := s.known.Take(memory, n), s.withData()
	p := memory.Floats(n)
	for j, c := range counted {
		if err := space.Expectation(s.cache, p, c.terms(), s.random.Inputs(d, step), x); err != nil {
			return nil, err
		}
		for k := range out {
			if j == 0 {
				out[k].each = memory.Floats(len(counted))[:0]
			}
			out[k].each = append(out[k].each, min(p[k], 1))
		}
	}
	return out, nil
}

// feasibilityUncontrolled is that of doing nothing, as in summariseUncontrolled.
func (s *Set) feasibilityUncontrolled(d *space.Domain, step int) ([]Feasibility, error) {
	n := s.random.Nodes(d.Random)
	all := &space.Domain{Set: -1, Axes: d.Axes, Coords: d.Random}
	at, err := s.Feasibilities(all, step, n.X)
	if err != nil {
		return nil, err
	}
	out := Feasibility{each: make([]float64, len(s.withData()))}
	for q, f := range at {
		for j, p := range f.each {
			out.each[j] += n.Weight[q] * p
		}
	}
	return []Feasibility{out}, nil
}
