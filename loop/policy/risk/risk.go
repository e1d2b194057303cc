package risk

import (
	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// Criterion is the mean-variance objective f - risk*variance of Makarova et al. (NeurIPS
// 2021) as the model sees it: what an acquisition and a recommendation take off the
// objective.
type Criterion struct {
	Model  *model.Model
	Random *space.RandomVariables
	Risk   float64 // alpha in 1/(the objective's unit); 0: none
	// Cache keeps expectations from one use to the next; nil: they are made anew.
	Cache *expectations.Cache

	terms     num.Objects[noiseTerm]
	summaries num.Slab[Summary]
	lists     num.Slab[[]Summary]
	noise     [2]expectations.Term // scratch
}

// noiseTerm is -alpha times the variance of one shot where the noise's process is, beta standard deviations below
// its expectation.
type noiseTerm struct {
	field       *model.NoiseField
	alpha, beta float64
	of          func(mu, sigma float64) (value, byMu, bySigma float64)
	values      func(dst, mu, sigma []float64)
}

// noiseTerm gives one until the policy's next call.
func (e *Criterion) noiseTerm(field *model.NoiseField, alpha, beta float64) expectations.Term {
	t := e.terms.Take(e.Model.Memory)
	if t.of == nil {
		t.of, t.values = t.one, t.many
	}
	t.field, t.alpha, t.beta = field, alpha, beta
	return expectations.Term{Process: field.GP, Of: t.of, Values: t.values}
}

func (t *noiseTerm) one(mu, sigma float64) (value, byMu, bySigma float64) {
	v, byMean, bySD := t.field.ShotVariance(mu, sigma, -t.beta)
	return -t.alpha * v, -t.alpha * byMean, -t.alpha * bySD
}

func (t *noiseTerm) many(dst, mu, sigma []float64) {
	t.field.ShotVariances(dst, mu, sigma, -t.beta)
	for i, v := range dst {
		dst[i] = -t.alpha * v
	}
}

// Alpha is the risk factor of the standardised objective: with y = scale*z,
// f - alpha*variance is scale*(z - alpha*scale*variance of z) and a constant. It is 0
// where nothing is known of the noise.
func (e *Criterion) Alpha() float64 {
	if e.Model.Noise == nil && e.Model.Known == nil {
		return 0
	}
	return e.Risk * e.Model.Active.Scale
}

// SpreadAlpha is the risk factor of the standardised objective for what random variables
// add to the variance, which counts where the noise is constant as well: see SpreadRisk.
func (e *Criterion) SpreadAlpha() float64 {
	return e.Risk * e.Model.Active.Scale * e.Random.Inflation()
}

// Terms appends the terms of -alpha v to dst, with v the noise variance beta standard
// deviations below its expectation (above it for a negative beta): none without a
// risk term, before the noise is learnt, or where it is known (see SubtractKnownRisk).
// They hold until the policy's next call.
func (e *Criterion) Terms(dst []expectations.Term, beta float64) []expectations.Term {
	alpha, field := e.Alpha(), e.Model.Noise
	if alpha == 0 || field == nil {
		return dst
	}
	return append(dst, e.noiseTerm(field, alpha, beta))
}
