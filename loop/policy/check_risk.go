package policy

import (
	"cmp"

	"github.com/labtuner/tuner/loop/policy/acquisition"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// risk checks the risk term and where the noise comes from.
func (c *checker) risk(p Kind) {
	s := c.spec
	switch {
	case !num.Finite(s.Risk) || s.Risk < 0:
		c.fail("policy.risk", "risk %g must be finite and not negative", s.Risk)
	case s.Risk > 0 && !p.Risk && s.riskyAcquisition(): // else the acquisition's reason is told
		c.fail("policy.risk", "risk %g has no meaning for kind %q here: use kind %q, or risk 0", s.Risk, s.Kind, kindRAHBO)
	}
	if p.Noise == LearntNoise && s.VarianceModel != "" {
		c.oneOf("policy.variance_model", "variance model", s.VarianceModel, varianceLog, varianceRaw)
	}
	if p.Noise == LearntNoise && s.VarianceModel == varianceRaw && s.Risk > 0 && s.several() {
		c.fail("policy.variance_model", "variance model %q takes the sampling noise of a variance as the same everywhere, which that of a single shot is not: where control sets leave variables random use %q", varianceRaw, varianceLog)
	}
	c.oneOf("policy.random_draws", "random draws", cmp.Or(s.RandomDraws, space.DrawnPerShot), space.DrawnPerShot, space.DrawnPerStep)
	if s.ExploreSteps < 0 {
		c.fail("policy.explore_steps", "explore steps %d must not be negative (0: %d)", s.ExploreSteps, acquisition.DefaultExploreSteps)
	}
	switch {
	case p.Noise != KnownNoise:
	case s.NoiseVariance == nil:
		c.fail("policy.kind", "kind %q needs the noise variance as a function of the setting; where it is not known use kind %q, which learns it", s.Kind, kindRAHBO)
	case len(c.problems) == 0:
		c.knownNoise()
	}
}

// knownNoise tries the function at every candidate, else in the middle of the domain:
// what is wrong everywhere shows at once. Elsewhere see NoiseFunction.
func (c *checker) knownNoise() {
	settings := c.spec.Candidates
	if len(settings) == 0 || c.spec.several() {
		middle := make([]float64, len(c.spec.Variables))
		for i, v := range c.spec.Variables {
			middle[i] = v.Low + (v.High-v.Low)/2
		}
		settings = [][]float64{middle}
	}
	known := model.NoiseFunction{Of: c.spec.NoiseVariance}
	for _, x := range settings {
		if why := known.Refusal(x); why != "" {
			c.fail("policy.noise_sd", "noise variance at %v: %s", x, why)
			return
		}
	}
}
