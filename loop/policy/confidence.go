package policy

import "math"

// confidence is the confidence parameter: what multiplies the posterior standard
// deviation in the bounds of one step's acquisition. Papers write it in two ways, as
// mu + beta*sd (Makarova, Tay, Kirschner) and as mu + sqrt(beta)*sd (Srinivas, Takeno,
// Sandberg, Paria); here beta always multiplies the standard deviation, and what stands
// under the root is called zeta.
//
// One draw serves a step: a randomised parameter is a function of the seed and the
// step, so it is the same for all control sets.
type confidence interface {
	beta(step int) float64
}

// noiseConfidence is a confidence parameter that is another for the process of the
// noise.
type noiseConfidence interface{ noiseBeta(step int) float64 }

// noiseBeta is the parameter of the noise variance's bound: the objective's, unless the
// rule has one of its own.
func noiseBeta(c confidence, step int) float64 {
	if n, ok := c.(noiseConfidence); ok {
		return n.noiseBeta(step)
	}
	return c.beta(step)
}

// Words of Spec.Confidence and Spec.ConfidenceSetting.
const (
	confidenceConstant  = "constant"
	confidenceSrinivas  = "srinivas"
	confidenceData      = "data"
	confidenceRGP       = "rgp"
	confidenceIRGP      = "irgp"
	confidenceHeuristic = "heuristic"

	settingFinite     = "finite"
	settingContinuous = "continuous"
	settingTheory     = "theory"
	settingWide       = "wide"
)

// Confidences lists the words of Spec.Confidence. With t the number of decisions after
// the initial design, d the number of variables, |X| the number of settings and delta
// Spec.Delta, beta is the root of zeta:
//
//	"constant"  beta = Spec.Beta
//	"heuristic" zeta = 0.2 d log(2t)
//	"irgp"      finite: zeta = 2 log(|X|/2) + Z; continuous: d/2 + Z; wide: 2 d + Z;
//	            theory: s_t + Z; Z exponential with mean 2 (see irgp)
//	"rgp"       zeta from Gamma(shape, scale 1), finite: shape log(|X| t^2)/log 1.5;
//	            continuous: 0.2 d log(2t) (see rgp)
//	"srinivas"  finite: zeta = 2 log(|X| t^2 pi^2/(6 delta)); continuous: see srinivas
//	"data"      beta = sqrt(log det(I + S^-1 K) - 2 log delta) + Spec.NormBound (see
//	            selfNormalised)
func Confidences() []string {
	return []string{confidenceConstant, confidenceHeuristic, confidenceIRGP, confidenceRGP, confidenceSrinivas, confidenceData}
}

// constant is the same in every step (Makarova et al., NeurIPS 2021, take 2; Tay et
// al., NeurIPS 2023, too).
type constant float64

func (c constant) beta(int) float64 { return float64(c) }

// counter turns steps into the t of the papers: decisions after the initial design,
// from 1.
type counter struct{ initial int }

func (c counter) t(step int) float64 { return float64(max(step-c.initial, 1)) }

// heuristic is zeta_t = 0.2 d log(2t), with which GP-UCB is usually compared
// (Kandasamy et al., ICML 2015; Takeno et al., arXiv 2409.00979, section 5).
type heuristic struct {
	counter
	dims int
}

func (c heuristic) beta(step int) float64 { return math.Sqrt(c.zeta(step)) }

func (c heuristic) zeta(step int) float64 { return 0.2 * float64(c.dims) * math.Log(2*c.t(step)) }

// confidenceSpec describes a confidence parameter.
type confidenceSpec struct {
	word, form string // of Spec.Confidence and Spec.ConfidenceSetting
	initial    int    // steps of the initial design
	dims       int
	finite     int // the number of settings where that counts, else 0
	seed       uint64
	// beta is the constant, delta the probability of failure, norm the bound of the
	// objective's norm.
	beta, delta, norm float64
}

// newConfidence makes the confidence parameter; m is the model whose bounds it is for.
func newConfidence(s confidenceSpec, m *model) confidence {
	count := counter{s.initial}
	switch s.word {
	case confidenceHeuristic:
		return heuristic{count, s.dims}
	case confidenceIRGP:
		return irgp{counter: count, dims: s.dims, finite: s.finite, form: s.form, seed: s.seed, model: m, noise: s.beta}
	case confidenceRGP:
		return rgp{heuristic: heuristic{count, s.dims}, finite: s.finite, seed: s.seed}
	case confidenceSrinivas:
		return srinivas{counter: count, dims: s.dims, finite: s.finite, delta: s.delta, model: m}
	case confidenceData:
		return selfNormalised{delta: s.delta, norm: s.norm, model: m}
	}
	return constant(s.beta)
}
