package fitting

import "math"

// Earlier is what a fit of nearly the same data has found beside its kernel.
type Earlier struct {
	// NoiseVariance is the extra noise variance, where Noise is fitted; 0: not known.
	NoiseVariance float64
	// Mean, where not nil, is the constant mean that it has found, as one of Y; it counts in
	// Result.Gain alone.
	Mean *float64
}

// short is how much a posterior falls short of the one with the most probable mean by a mean that was found earlier: it
// is quadratic in the mean, with this precision.
func (q *Earlier) short(mean, precision float64) float64 {
	if q == nil || q.Mean == nil {
		return 0
	}
	off := *q.Mean - mean
	return 0.5 * off * off * precision
}

// farFromPrior is how many prior standard deviations from its median the logarithm of a noise variance may be where a
// search begins: further off, the likelihood may be flat.
const farFromPrior = 5

// noise is the logarithm of the noise variance where a search begins.
func (q *Earlier) noise(prior LogNormal) float64 {
	if q == nil || !(q.NoiseVariance > 0) {
		return prior.Mean
	}
	off := (math.Log(q.NoiseVariance) - prior.Mean) / prior.SD
	return prior.Mean + prior.SD*min(max(off, -farFromPrior), farFromPrior)
}
