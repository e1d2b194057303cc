package policy

import "fmt"

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
