package policy

import "github.com/labtuner/tuner/gpcore"

// criterion is the mean-variance objective f - risk*variance of Makarova et al. (NeurIPS
// 2021) as the model sees it: what an acquisition and a recommendation take off the
// objective.
type criterion struct {
	model  *model
	around *surroundings
	risk   float64 // alpha in 1/(the objective's unit); 0: none
}

// alpha is the risk factor of the standardised objective: with y = scale*z,
// f - alpha*variance is scale*(z - alpha*scale*variance of z) and a constant. It is 0
// where nothing is known of the noise.
func (e *criterion) alpha() float64 {
	if e.model.v == nil && e.model.known == nil {
		return 0
	}
	return e.risk * e.model.inForce.scale
}

// spreadAlpha is the risk factor of the standardised objective for what random variables
// add to the variance, which counts where the noise is constant as well.
func (e *criterion) spreadAlpha() float64 { return e.risk * e.model.inForce.scale }

// terms are the terms of -alpha v, with v the noise variance beta standard
// deviations below its expectation (above it for a negative beta): none without a
// risk term, before the noise is learnt, or where it is known (see lessKnownRisk).
func (e *criterion) terms(beta float64) []gpcore.Term {
	alpha, field := e.alpha(), e.model.v
	if alpha == 0 || field == nil {
		return nil
	}
	return []gpcore.Term{{Process: field.gp, Of: func(mu, sigma float64) (value, byMu, bySigma float64) {
		v, byMean, bySD := field.shotVariance(mu, sigma, -beta)
		return -alpha * v, -alpha * byMean, -alpha * bySD
	}}}
}
