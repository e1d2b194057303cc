package policy

import (
	"github.com/labtuner/tuner/loop/policy/drift"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
)

// drift checks how the objective changes.
func (c *checker) drift() {
	d, m := &c.spec.Drift, &c.spec.Model
	for _, t := range d.Timescale {
		if !num.Finite(t) || t <= 0 {
			c.fail("policy.drift.timescale", "timescale %g of the drift, in steps, must be positive and finite (%d is usual)", t, drift.DefaultTimescale)
		}
	}
	if !(d.Hold >= 0 && d.Hold <= 1) {
		c.fail("policy.drift.hold", "hold %g must lie between 0 and 1: it is a fraction of each range", d.Hold)
	}
	switch {
	case len(d.Timescale) > drift.MaxTimescales:
		c.fail("policy.drift.timescale", "%d timescales of the drift: at most %d can compete", len(d.Timescale), drift.MaxTimescales)
	case len(d.Timescale) > 1 && m.Hyperparameters == model.HyperFit:
		c.fail("policy.drift.timescale", "hyperparameters %q take one timescale of the drift, got %d: name one, or use hyperparameters %q, where they compete by their evidence",
			model.HyperFit, len(d.Timescale), model.HyperPriors)
	}
	if c.spec.Acquisition == acquireNothing && (d.Hold != 0 || d.Detect) {
		c.fail("policy.drift", "kind %q follows nothing: leave out hold and detection, or use kind %q", c.spec.Kind, kindTrack)
	}
}
