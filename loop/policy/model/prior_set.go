package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/loop/policy/internal/num"
)

// priorSet is the model of several priors side by side: a process for each, all
// with the same observations, weighted by how well they predicted them. Nothing is ever
// refitted: an observation costs O(n^2) for each prior and is learnt when it comes.
//
// Where every prior states its mean, its output scale and a noise that does not move,
// the weights are the hyperposterior of Sandberg and Chehreghani (arXiv 2502.01226,
// section 4),
//
//	P_t(p) ~ N(y_t; mean_p(x_t), variance_p(x_t) + noise_p) P_(t-1)(p),
//
// in which an observation that leaves the model keeps its share. Where something is
// estimated or the noise is learnt, targets and noise variances of the past move with
// every observation, and the weights are
//
//	P_t(p) ~ p(y held | p) P_0(p),
//
// the marginal likelihood of the observations that are held, with estimated means and
// output scales integrated out (conjugate.go). Both agree while nothing moves or leaves.
//
// All priors share one standardisation, so that their values compare: the data's mean and
// standard deviation, or, where every prior states its own, the average of the priors'.
type priorSet struct {
	*Rules
	members []member
	set     *gpcore.PriorSet
	Noise   *noisePriors // nil unless the noise is learnt
	trials  *elimination // nil unless priors are eliminated
	// sequential: the weights are products of predictions.
	sequential bool

	center, scale float64
	// Of each member, in standardised units: the prior mean (without meanOf) and the unit.
	means, units []float64
	Broken       bool // an update failed: the next load starts from scratch

	owner  *Model // whose memory it uses
	given  Hyper  // what hyper returns
	probed []float64
	each   []gpcore.Reading
	spare  []bool
	// spread is the scale when all members were revised last.
	spread float64
}

// negligible is the weight below which a component is left out of an average: what it would add is a five hundredth of how far it is
// from the others, and each component takes as much of a decision's time as the next.
const negligible = 2e-3

// memberNoiseRule says how the noise of members whose noise moves is followed: exactly while that
// is cheaper than 16 updates, else the 16 largest changes of more than 2% a step. Members are not loaded anew, as the one
// process of "fit" is, and their units move all noises at once, so fewer would stay behind for good.
func memberNoiseRule() gpcore.NoiseRule { return gpcore.NoiseRule{Exact: 96, Tau: 0.02, Max: 16} }

func newPriorSet(owner *Model) *priorSet {
	m := owner.Rules
	c := &priorSet{Rules: m, owner: owner, members: m.members(), sequential: !m.Learnt, scale: 1}
	priors := make([]gpcore.Prior, len(c.members))
	sum, squares, weights := 0.0, 0.0, 0.0
	for i := range c.members {
		b := &c.members[i]
		priors[i] = gpcore.Prior{Kernel: b.kernel, Weight: b.weight}
		c.sequential = c.sequential && b.unit > 0 && !math.IsNaN(b.mean) && !b.follows()
		middle := slices.Repeat([]float64{0.5}, b.kernel.Dim())
		sum += b.weight * b.mean
		squares += b.weight * b.unit * b.unit * b.kernel.Variance(middle)
		weights += b.weight
	}
	c.set = gpcore.NewPriorSet(priors, m.Spec.Capacity)
	c.means, c.units, c.probed = make([]float64, len(priors)), make([]float64, len(priors)), make([]float64, len(priors))
	c.each, c.spare = make([]gpcore.Reading, len(priors)), make([]bool, len(priors))
	if c.sequential {
		c.center = sum / weights
		if s := math.Sqrt(squares / weights); s > 0 {
			c.scale = s
		}
	}
	for i := range c.members {
		c.units[i] = 1
		if a := c.members[i].amplitude; a > 0 {
			c.units[i] = a
		}
	}
	c.standardise(nil)
	if m.Learnt {
		c.Noise = newNoisePriors(m)
	}
	return c
}

// standardise takes the data's mean and spread, and brings what is given in the
// objective's unit into the standardised one.
func (c *priorSet) standardise(rows []Row) {
	if !c.sequential && len(rows) > 0 {
		c.center, c.scale = moments(rows)
	}
	for i := range c.members {
		b := &c.members[i]
		if b.unit > 0 {
			c.units[i] = b.unit / c.scale
		}
		if !math.IsNaN(b.mean) {
			c.means[i] = (b.mean - c.center) / c.scale
		}
	}
}

// rest is a row's standardised mean without member i's prior mean of the setting.
func (c *priorSet) rest(i int, r *Row) float64 {
	y := r.Mean
	if of := c.members[i].meanOf; of != nil {
		y -= of(r.X)
	}
	return (y - c.center) / c.scale
}

// noiseOf is the noise variance of row k's mean for member i, in the process's unit;
// bounds are the learnt ones, in squared units of the objective.
func (c *priorSet) noiseOf(i, k int, rows []Row, bounds []float64) float64 {
	b := &c.members[i]
	shots := float64(rows[k].Shots)
	if !b.follows() {
		return max(b.ratio/shots, MinNoise)
	}
	unit := c.units[i] * c.scale
	switch {
	case c.Known != nil:
		return max(c.Known.At(rows[k].X)/shots/(unit*unit), MinNoise)
	case c.Noise != nil:
		return max(bounds[k]/(unit*unit), MinNoise)
	}
	return max(b.shotVariance/shots/(unit*unit), MinNoise)
}

// observe learns the last of the rows; left is the index that another one had which is
// held no more, -1 if there is none.
func (c *priorSet) observe(rows []Row, left int) {
	var errors []shotError
	if c.Noise != nil && c.Singles && !c.Broken { // as the rows before it predict it
		errors = c.shotErrors(rows, left)
	}
	spared := c.spared(len(rows), left)
	c.restandardise(rows, spared)
	if c.Broken && c.Singles {
		return // everything is loaded anew
	}
	var bounds []float64
	var err error
	if c.Noise != nil {
		bounds, err = c.Noise.observe(rows, left, c.scale, errors)
	}
	if err == nil && !c.Broken {
		err = c.update(rows, left, bounds, spared)
	}
	// Numerical trouble of an update is not the observation's fault: the next load
	// starts from scratch and reports what it cannot mend.
	c.Broken = c.Broken || err != nil
}

// shotErrors are the errors of the rows under the most probable prior, in squared units of the
// objective: of those that it holds against all others, of the last one, which it does not hold
// yet, against them all. left is as in observe.
func (c *priorSet) shotErrors(rows []Row, left int) []shotError {
	best := c.set.Best()
	g, unit := c.set.Member(best), c.units[best]*c.scale
	out := shotErrors(g)
	if left >= 0 {
		out = slices.Delete(out, left, left+1)
	}
	if len(out) < len(rows) {
		r := &rows[len(rows)-1]
		var mean, variance [1]float64
		g.Predict(mean[:], variance[:], r.X)
		d := (c.rest(best, r)-c.means[best])/c.units[best] - mean[0]
		out = append(out, shotError{d * d, variance[0]})
	}
	for i := range out {
		out[i] = shotError{out[i].square * unit * unit, out[i].doubt * unit * unit}
	}
	return out
}

// update takes the newest row into every process, and revises those that are not spared.
func (c *priorSet) update(rows []Row, left int, bounds []float64, spared []bool) error {
	last := len(rows) - 1
	r := &rows[last]
	each := c.each
	for i := range each {
		each[i] = gpcore.Reading{Target: (c.rest(i, r) - c.means[i]) / c.units[i], NoiseVariance: c.noiseOf(i, last, rows, bounds)}
		c.probed[i] = c.set.LogEvidence(i)
	}
	var err error
	if left >= 0 {
		err = c.set.ReplaceEach(left, r.X, each)
	} else {
		err = c.set.AppendEach(r.X, each)
	}
	if err != nil {
		return err
	}
	for i := range c.members {
		spared[i] = spared[i] && c.set.LogEvidence(i)-c.probed[i] > surprise
		switch {
		case !c.set.Alive(i):
		case c.sequential || spared[i]: // the density of y, not of the target
			c.set.SetLogEvidence(i, c.set.LogEvidence(i)-math.Log(c.units[i]))
		default:
			if err := c.revise(i, rows, bounds); err != nil {
				return err
			}
		}
	}
	return nil
}

// revise brings member i's noise variances, mean and unit up to date with the rows.
func (c *priorSet) revise(i int, rows []Row, bounds []float64) error {
	b, g := &c.members[i], c.set.Member(i)
	if b.unit == 0 && b.amplitude > 0 { // it may have been spared while the spread of the data changed
		c.units[i] = b.amplitude
	}
	if b.follows() {
		want := c.owner.Memory.Floats(len(rows))
		for k := range rows {
			want[k] = c.noiseOf(i, k, rows, bounds)
		}
		if _, err := g.TrackNoises(want, memberNoiseRule()); err != nil {
			return err
		}
	}
	rest := c.owner.Memory.Floats(len(rows))
	for k := range rows {
		rest[k] = c.rest(i, &rows[k])
	}
	e := conjugate{mean: c.means[i], unit: c.units[i], openMean: math.IsNaN(b.mean), openUnit: b.unit == 0 && b.amplitude == 0}
	evidence, err := e.estimate(c.owner.Memory, g, rest)
	if err != nil {
		return err
	}
	evidence += b.doubt // 0 but for the fitted member
	if !num.Finite(evidence) {
		return fmt.Errorf("evidence %g of prior %d", evidence, b.prior+1)
	}
	c.means[i], c.units[i] = e.mean, e.unit
	c.set.SetLogEvidence(i, evidence)
	return nil
}

// repair loads every process anew after an update failed.
func (c *priorSet) repair(rows []Row) error {
	if !c.Broken {
		return nil
	}
	var bounds []float64
	if c.Noise != nil {
		var err error
		if bounds, err = c.repairNoise(rows); err != nil {
			return err
		}
	}
	if err := c.loadAll(rows, bounds); err != nil {
		return err
	}
	c.Broken = false
	return nil
}

// repairNoise loads the processes of the noise anew, and gives the bounds as noiseOf takes them.
func (c *priorSet) repairNoise(rows []Row) ([]float64, error) {
	c.Noise.reset(rows, c.scale)
	if !c.hasSingles(rows) {
		return c.Noise.repair(rows, c.scale, nil)
	}
	bounds := guessedBounds(rows, c.scale)
	for range residualRounds {
		err := c.loadAll(rows, bounds)
		if err == nil {
			bounds, err = c.Noise.repair(rows, c.scale, c.shotErrors(rows, -1))
		}
		if err != nil {
			return nil, err
		}
	}
	return bounds, nil
}

// loadAll loads every process with all rows; bounds as in noiseOf.
func (c *priorSet) loadAll(rows []Row, bounds []float64) error {
	for i := range c.members {
		if !c.set.Alive(i) {
			continue
		}
		if err := c.loadMember(i, rows, bounds); err != nil {
			return err
		}
	}
	return nil
}

// loadMember loads member i's process with all rows.
func (c *priorSet) loadMember(i int, rows []Row, bounds []float64) error {
	x := make([]float64, 0, len(rows)*c.Dims)
	for k := range rows {
		x = append(x, rows[k].X...)
	}
	y, noise := make([]float64, len(rows)), make([]float64, len(rows))
	for k := range rows {
		y[k] = (c.rest(i, &rows[k]) - c.means[i]) / c.units[i]
		noise[k] = c.noiseOf(i, k, rows, bounds)
	}
	if err := LoadWithJitter(c.set.Member(i), x, y, noise); err != nil {
		return fmt.Errorf("prior %d: %w", c.members[i].prior+1, err)
	}
	if err := c.revise(i, rows, bounds); err != nil {
		return fmt.Errorf("prior %d: %w", c.members[i].prior+1, err)
	}
	return nil
}

// component is member i as a part of a view.
func (c *priorSet) component(i int, weight float64) Component {
	return Component{GP: c.set.Member(i), Mean: c.means[i], Scale: c.units[i], Weight: weight, Member: i, Offset: c.offsetOf(i)}
}

// offsetOf is member i's prior mean of the setting in the process's unit, nil where it
// has none. Its slope is by central differences: the specification gives values only.
func (c *priorSet) offsetOf(i int) func(grad, x []float64) float64 {
	of := c.members[i].meanOf
	if of == nil {
		return nil
	}
	per, dims := 1/(c.units[i]*c.scale), c.Dims
	return func(grad, x []float64) float64 {
		if grad != nil {
			const h = 1e-5 // of the range
			clear(grad)
			at := slices.Clone(x)
			for j := range dims {
				low, high := max(x[j]-h, 0), min(x[j]+h, 1)
				at[j] = high
				up := of(at)
				at[j] = low
				grad[j] = per * (up - of(at)) / (high - low)
				at[j] = x[j]
			}
		}
		return per * of(x)
	}
}

// averaged is the mixture of all members that are left, by their probabilities;
// negligible ones are left out.
func (c *priorSet) averaged() View {
	p := c.probed
	c.set.Probabilities(p)
	sum := 0.0
	for i, w := range p {
		if w < negligible {
			p[i] = 0
		}
		sum += p[i]
	}
	out := View(c.owner.components.Take(c.owner.Memory, len(p)))[:0]
	for i, w := range p {
		if w > 0 {
			out = append(out, c.component(i, w/sum))
		}
	}
	return out
}

// hyper is what the model takes as given: the common standardisation, the noise of the
// mixture, and the kernel of the most probable member. It holds until the next call.
func (c *priorSet) hyper() *Hyper {
	h := &c.given
	*h = Hyper{Center: c.center, Scale: c.scale, kernel: c.members[c.set.Best()].kernel, known: c.Known}
	for _, q := range c.averaged() {
		b, unit := &c.members[q.Member], c.units[q.Member]
		switch {
		case !b.follows():
			h.ShotVariance += q.Weight * b.ratio * unit * unit
		case !math.IsNaN(b.shotVariance):
			h.ShotVariance += q.Weight * b.shotVariance / (c.scale * c.scale)
		default:
			h.ShotVariance += q.Weight * noiseMedian
		}
	}
	h.ShotVariance = max(h.ShotVariance, MinNoise)
	if c.Noise != nil && c.Noise.field != nil {
		h.noise = c.Noise.field.Hyper
	}
	return h
}

// Views are the posteriors that the decision of a step looks at:
//
//	"averaged"     one, the mixture of all priors by their probabilities
//	"sampled"      one, of a prior drawn with its probability (HP-GP-TS: Sandberg and
//	               Chehreghani, arXiv 2502.01226, Algorithm 2)
//	"greedy"       one, of the most probable prior (MAP-GP-TS of the same)
//	"elimination"  one of each prior that is left (PE-GP-TS of the same, Algorithm 1;
//	               PE-GP-UCB): the decision takes the greatest value over priors and
//	               settings
func (c *priorSet) Views(step int) []View {
	m := c.owner
	alone := func(i int) View {
		out := View(m.components.Take(m.Memory, 1))
		out[0] = c.component(i, 1)
		return out
	}
	out := m.views.Take(m.Memory, len(c.members))[:1]
	switch c.Spec.PriorRule {
	case PriorsSampled:
		out[0] = alone(c.set.Draw(m.generator.Stream(c.Seed, num.ForPriors, step)))
	case PriorsGreedy:
		out[0] = alone(c.set.Best())
	case PriorsElimination:
		out = out[:0]
		for i := range c.members {
			if c.set.Alive(i) {
				out = append(out, alone(i))
			}
		}
	default:
		out[0] = c.averaged()
	}
	return out
}
