package model

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore/fitting"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// The fitted member of the built-in set has a lengthscale for each variable, where the others have one for
// all: the one of a variable without effect becomes long. Its hyperparameters t, the lengthscales and the
// noise or the prior variance, are the most probable ones under the prior of LengthscalePrior "dimension",
// from a fit in the background. The integral over t, by the approximation of Laplace,
//
//	log p(y) = log p(y|t) + log p(t) + k/2 log(2 pi) + 1/2 log |C|,
//
// with k their number and C the covariance of their posterior, is the evidence by which it competes:
// freedom to choose counts against it, and with few data more than it brings. The first term is kept up to
// date with each observation, as that of every member; the others are those of the latest fit.

const (
	// absent is the log weight of a fitted member before its first fit.
	absent = -1e9
	// enoughForMany: Hartmann's function of three variables among forty, 80 steps, is found with 24 (10 seeds: median
	// regret 0.014), with 84 = 2 d + 4 it is not (0.18).
	enoughForMany = 24
	// memberFitLimit bounds the observations behind a fit of a member: of ten variables it takes 0.06 s, of
	// twenty 0.1 s.
	memberFitLimit = 128
	// surelyFitted is from how many observations on a fit begins at the one before it alone: another start
	// seldom finds a better one then.
	surelyFitted = 64
	// Fits become rarer as observations become many, and those of a member have more steps to end in.
	fitEvery, fitLag = 8, 32 // observations for one more step
)

// fitsMember reports whether one of the priors that compete is fitted. None is where single shots teach the noise by
// their errors: a fit that smooths too much takes the objective's shape for noise, and is then confirmed by it.
func (m *Rules) fitsMember() bool {
	return m.competing() && len(m.Spec.Priors) == 0 && m.Spec.Lengthscales != LengthscalesShared && m.Spec.PriorRule != PriorsElimination &&
		!m.drifts() && !m.Singles && m.Dims > 1 && slices.Contains([]string{kernelSE, kernelMatern52, kernelMatern32, kernelRQ}, m.Spec.Kernel)
}

// enoughToFit is how many observations the first fit of a member needs: many variables do not have to wait longer
// than ten, since the evidence of a fit counts what it was free to choose.
func (m *Rules) enoughToFit() int { return min(2*m.Dims+4, enoughForMany) }

// fittedMember is the member that fits will describe, if there is one.
func (m *Rules) fittedMember() []member {
	if !m.fitsMember() {
		return nil
	}
	b := member{fitted: true, doubt: absent, weight: 1, mean: math.NaN(), ratio: noiseMedian, shotVariance: math.NaN(),
		kernel: newKernel(m.Spec.Kernel, 1, slices.Repeat([]float64{lengthscaleMedian}, m.Dims))}
	if m.Learnt || m.Known != nil {
		b.ratio, b.amplitude = math.NaN(), 1
	}
	return []member{b}
}

// fittedAt is the position of the fitted member, -1 where there is none.
func (c *priorSet) fittedAt() int {
	return slices.IndexFunc(c.members, func(b member) bool { return b.fitted })
}

// runMember is run for the member of a set.
func (t *FitTask) runMember(ctx context.Context) (*Hyper, error) {
	h := &Hyper{}
	h.Center, h.Scale = moments(t.rows)
	prior := dimensionPrior(t.Dims)
	p := fitting.Problem{Variance: t.prior(1, outputLogSD), Lengthscale: prior, MeanSD: 1, Starts: 2, Seed: t.streamSeed(0),
		Kernel: newKernel(t.Spec.Kernel, 1, slices.Repeat([]float64{math.Exp(prior.Mean)}, t.Dims))}
	if t.start != nil {
		p.Kernel, p.Starts = scaled(t.start.kernel, t.start.Scale/h.Scale), 1
		if t.near() {
			p.Starts, p.Earlier = 0, t.earlier(h, t.rows)
		}
	}
	p.X, p.Y = standardised(t.rows, h)
	for _, v := range t.noise {
		p.NoiseVariance = append(p.NoiseVariance, max(v/(h.Scale*h.Scale), MinNoise))
	}
	if t.noise == nil {
		prior := t.prior(noiseMedian, noiseLogSD)
		p.Noise, p.NoiseVariance = &prior, slices.Repeat([]float64{MinNoise}, len(t.rows))
	}
	r, err := t.memory.evidence.Fit(ctx, p)
	if err != nil {
		return nil, t.memberError(err)
	}
	if h.doubt, err = fitting.Occam(p, r); err != nil {
		return nil, t.memberError(err)
	}
	h.kernel, h.doubt = r.Kernel, max(h.doubt, absent)
	h.Center += h.Scale * r.Mean
	h.ShotVariance = (r.NoiseVariance + MinNoise) * meanShots(t.rows)
	return h, nil
}

func (t *FitTask) memberError(err error) error {
	return fmt.Errorf("fit of a lengthscale for each variable at step %d: %w", t.step, err)
}

// boundsOfRows is the noise variance of each row's mean where it moves with the data, in squared units of the
// objective; nil where it does not.
func (c *priorSet) boundsOfRows(rows []Row) []float64 {
	switch {
	case c.Known != nil:
		out := make([]float64, len(rows))
		for k := range rows {
			out[k] = c.Known.At(rows[k].X) / float64(rows[k].Shots)
		}
		return out
	case c.Noise != nil && c.Noise.field != nil:
		return c.Noise.Bounds(rows, c.scale)
	case c.Noise != nil:
		return guessedBounds(rows, c.scale)
	}
	return nil
}

// adoptFit puts a fit of the fitted member in force. Where its process cannot be computed, the one before it
// stays.
func (c *priorSet) adoptFit(h *Hyper, rows []Row) error {
	i := c.fittedAt()
	before, unit := c.members[i], c.units[i]
	c.describe(i, h)
	err := Reset(c.set.Member(i), c.members[i].kernel)
	if err == nil && !c.Broken {
		err = c.loadMember(i, rows, c.boundsOfRows(rows))
	}
	if err == nil {
		return nil
	}
	c.members[i], c.units[i], c.Broken = before, unit, true // the next load has all rows
	return errors.Join(err, Reset(c.set.Member(i), before.kernel))
}

// describe states member i by a fit.
func (c *priorSet) describe(i int, h *Hyper) {
	b, logs, variance := &c.members[i], h.kernel.Params(nil), 1.0
	for k, kind := range h.kernel.Kinds(nil) {
		if kind == kernels.OutputVariance {
			variance, logs[k] = math.Exp(logs[k]), 0
		}
	}
	b.kernel, b.doubt = h.kernel.WithParams(logs), h.doubt
	if b.follows() {
		b.amplitude = math.Sqrt(variance)
		c.units[i] = b.amplitude
	} else {
		b.ratio = max(h.ShotVariance/variance, MinNoise)
	}
}

// OwnLengthscales is the probability that the fitted member has among the priors that compete, NaN where none
// is fitted.
func (m *Model) OwnLengthscales() float64 {
	if !m.fitsMember() {
		return math.NaN()
	}
	p := make([]float64, len(m.Priors.members))
	m.Priors.set.Probabilities(p)
	return p[m.Priors.fittedAt()]
}
