package policy

import (
	"fmt"
	"math"
)

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

// newConfidence makes the part that the specification names.
func newConfidence(s *Spec, m *model) confidence {
	count, dims := counter{s.InitialSteps}, len(s.Variables)
	finite := 0
	if s.confidenceSetting() == settingFinite {
		finite = s.finiteSize()
	}
	switch s.Confidence {
	case confidenceHeuristic:
		return heuristic{count, dims}
	case confidenceIRGP:
		return irgp{counter: count, dims: dims, finite: finite, form: s.ConfidenceSetting, seed: s.Seed, model: m, noise: s.Beta}
	case confidenceRGP:
		return rgp{heuristic: heuristic{count, dims}, finite: finite, seed: s.Seed}
	case confidenceSrinivas:
		return srinivas{counter: count, dims: dims, finite: finite, delta: s.Delta, model: m}
	case confidenceData:
		return selfNormalised{delta: s.Delta, norm: s.NormBound, model: m}
	}
	return constant(s.Beta)
}

// confidenceSetting is the setting in force: what is named, else finite where the user
// lists the settings. Variables with levels do not make a domain finite by themselves:
// a device with 1000 positions is a continuous one for all that matters here, and the
// finite forms would explore it as 1000 unrelated settings.
func (s *Spec) confidenceSetting() string {
	switch {
	case s.ConfidenceSetting != "":
		return s.ConfidenceSetting
	case len(s.Candidates) > 0 && !s.several():
		return settingFinite
	}
	return settingContinuous
}

// finiteSize is the number of settings of a finite domain that one control set of all
// variables spans; 0 where it is not finite: then a bound over settings is none over
// expectations.
func (s *Spec) finiteSize() int {
	if s.several() {
		return 0
	}
	var axes []axis
	for i := range s.Variables {
		axes = append(axes, newAxis(&s.Variables[i]))
	}
	return newDomain(axes, s.ControlSets[0].Controlled, 0, s.Candidates).listed()
}

// confidence checks the confidence parameter. The rest of the specification is valid.
func (c *checker) confidence() {
	s := c.spec
	if !c.oneOf("confidence", s.Confidence, Confidences()...) {
		return
	}
	if !(s.Delta > 0 && s.Delta < 1) {
		c.fail("delta %g must lie between 0 and 1, both excluded (0.05 is usual): it is a probability of failure", s.Delta)
	}
	if !finite(s.NormBound) || s.NormBound < 0 {
		c.fail("norm bound %g must be finite and not negative", s.NormBound)
	}
	settings := map[string][]string{
		confidenceIRGP:     {settingFinite, settingContinuous, settingTheory, settingWide},
		confidenceRGP:      {settingFinite, settingContinuous},
		confidenceSrinivas: {settingFinite, settingContinuous},
	}[s.Confidence]
	switch {
	case s.ConfidenceSetting == "":
	case len(settings) == 0:
		c.fail("confidence setting %q has no meaning for confidence %q: leave it out", s.ConfidenceSetting, s.Confidence)
	case c.oneOf(fmt.Sprintf("setting of confidence %q", s.Confidence), s.ConfidenceSetting, settings...) &&
		s.ConfidenceSetting == settingFinite && len(c.problems) == 0 && s.finiteSize() == 0:
		c.fail("confidence setting %q needs a finite domain: one control set that holds every variable, and candidates or at most %d settings of discrete variables; use %q",
			settingFinite, listLimit, settingContinuous)
	}
}
