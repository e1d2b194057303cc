package policy

import (
	"fmt"
	"slices"

	"github.com/labtuner/tuner/loop/policy/confidence"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// confidenceSetting is the setting in force: what is named, else finite where the user
// lists the settings. Variables with levels do not make a domain finite by themselves:
// a device with 1000 positions is a continuous one for all that matters here, and the
// finite forms would explore it as 1000 unrelated settings.
func (s *Spec) confidenceSetting() string {
	switch {
	case s.ConfidenceSetting != "":
		return s.ConfidenceSetting
	case len(s.Candidates) > 0 && !s.several():
		return confidence.SettingFinite
	}
	return confidence.SettingContinuous
}

// settings is |X| of the confidence parameter: the number of settings where that counts,
// else 0.
func (s *Spec) settings() int {
	if finiteForm(s.confidenceSetting()) {
		return s.finiteSize()
	}
	return 0
}

// finiteForm reports whether a form of a confidence parameter counts settings.
func finiteForm(form string) bool {
	return slices.Contains([]string{confidence.SettingFinite, confidence.SettingHighProbability, confidence.SettingAllPriors, confidence.SettingExpected}, form)
}

// finiteSize is the number of settings of a finite domain that one control set of all
// variables spans; 0 where it is not finite: then a bound over settings is none over
// expectations.
func (s *Spec) finiteSize() int {
	if s.several() {
		return 0
	}
	var axes []space.Axis
	for i := range s.Variables {
		axes = append(axes, space.NewAxis(&s.Variables[i]))
	}
	return space.NewDomain(axes, s.ControlSets[0].Controlled, 0, s.Candidates).Listed()
}

// confidence checks the confidence parameter. The rest of the specification is valid.
func (c *checker) confidence() {
	s := c.spec
	if !c.oneOf("policy.confidence", "confidence", s.Confidence, confidence.Names()...) {
		return
	}
	if !(s.Delta > 0 && s.Delta < 1) {
		c.fail("policy.delta", "delta %g must lie between 0 and 1, both excluded (0.05 is usual): it is a probability of failure", s.Delta)
	}
	if !num.Finite(s.NormBound) || s.NormBound < 0 {
		c.fail("policy.norm_bound", "norm bound %g must be finite and not negative", s.NormBound)
	}
	settings := map[string][]string{
		confidence.IRGP:     {confidence.SettingFinite, confidence.SettingContinuous, confidence.SettingTheory, confidence.SettingWide, confidence.SettingHighProbability},
		confidence.RGP:      {confidence.SettingFinite, confidence.SettingContinuous},
		confidence.Srinivas: {confidence.SettingFinite, confidence.SettingContinuous, confidence.SettingAllPriors, confidence.SettingExpected},
	}[s.Confidence]
	switch {
	case s.ConfidenceSetting == "":
	case len(settings) == 0:
		c.fail("policy.confidence_setting", "confidence setting %q has no meaning for confidence %q: leave it out", s.ConfidenceSetting, s.Confidence)
	case c.oneOf("policy.confidence_setting", fmt.Sprintf("setting of confidence %q", s.Confidence), s.ConfidenceSetting, settings...) &&
		finiteForm(s.ConfidenceSetting) && len(c.problems) == 0 && s.finiteSize() == 0:
		c.fail("policy.confidence_setting", "confidence setting %q needs a finite domain: one control set that holds every variable, and candidates or at most %d settings of discrete variables; use %q",
			s.ConfidenceSetting, space.ListLimit, confidence.SettingContinuous)
	case s.ConfidenceSetting == confidence.SettingAllPriors && s.Model.Hyperparameters != model.HyperPriors:
		c.fail("policy.confidence_setting", "confidence setting %q counts the priors that compete, and none do: use hyperparameters %q, or setting %q",
			s.ConfidenceSetting, model.HyperPriors, confidence.SettingFinite)
	}
}
