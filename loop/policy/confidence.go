package policy

import "math"

// confidence is the confidence parameter: what multiplies the posterior standard
// deviation in the bounds of one step's acquisition.
type confidence interface {
	beta(step int) float64
}

// constant is the same in every step (Makarova et al., NeurIPS 2021, take 2; Tay et
// al., NeurIPS 2023, too).
type constant float64

func (c constant) beta(int) float64 { return float64(c) }

// irgp is IRGP-UCB's randomised confidence for continuous domains,
//
//	beta_t = sqrt(d/2 + Z),  Z exponential with mean 2
//
// (Takeno et al., arXiv 2409.00979, section 5: s = d/2, rate lambda = 1/2). One
// draw serves both bounds of a step.
type irgp struct {
	dims int
	seed uint64
}

func (c irgp) beta(step int) float64 {
	z := 2 * stream(c.seed, forConfidence, step).ExpFloat64()
	return math.Sqrt(float64(c.dims)/2 + z)
}
