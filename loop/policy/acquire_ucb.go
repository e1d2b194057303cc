package policy

import "github.com/labtuner/tuner/gpcore"

// upperBound is the optimistic bound of the mean-variance objective,
//
//	a(x) = E[ mean(x, R) + beta sd(x, R) - alpha v(x, R) ] - alpha Var[ mean(x, R) ]
//
// over the random variables R (for the last term see spreadRisk), with v the lower bound of the noise variance, or the
// variance itself where it is known. It is
// GP-UCB's acquisition (alpha = 0, no R), RAHBO's (alpha > 0; Makarova et al., NeurIPS
// 2021, eq. 8) and UCB-CVS's (R; Tay et al., NeurIPS 2023, Algorithm 1).
type upperBound struct{}

func (upperBound) options(d *decision) ([]option, error) {
	var out []option
	for _, v := range d.views {
		terms := append(v.linear(1, d.beta), d.riskTerms(d.noiseBeta)...)
		objectives, err := d.expectations(terms)
		if err != nil {
			return nil, err
		}
		for i, set := range d.sets {
			out = append(out, option{set: set, view: v, objective: d.lessSpread(d.lessKnownRisk(objectives[i], set), v, set), offset: v.offset()})
		}
	}
	return out, nil
}

// riskTerms are the terms of -alpha v, with v the noise variance beta standard
// deviations below its expectation (above it for a negative beta): none without a
// risk term, before the noise is learnt, or where it is known (see lessKnownRisk).
func (e *engine) riskTerms(beta float64) []gpcore.Term {
	alpha, field := e.alpha(), e.model.v
	if alpha == 0 || field == nil {
		return nil
	}
	return []gpcore.Term{{Process: field.gp, Of: func(mu, sigma float64) (value, byMu, bySigma float64) {
		v, byMean, bySD := field.shotVariance(mu, sigma, -beta)
		return -alpha * v, -alpha * byMean, -alpha * bySD
	}}}
}
