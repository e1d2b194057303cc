package policy

import "github.com/labtuner/tuner/gpcore"

// A drifting objective is a process in the variables and in time with the kernel
//
//	k((x, t), (x', t')) = k(x, x') exp(-|t - t'| / timescale)
//
// (Bogunovic, Scarlett and Cevher, AISTATS 2016, whose TV-GP-UCB has
// (1-epsilon)^(|t-t'|/2) in place of the exponential: timescale = -2/log(1-epsilon)).
// Time counts in steps. It is one more coordinate of the model, the last, and every
// decision and every recommendation holds it at the step about to be played. A noise
// that is learnt drifts likewise.
//
// A fit leaves the timescale as it is, because readings near the optimum hide the drift
// and the evidence then prefers the longest. Several timescales are a prior set: each
// prior of a contest is one for each of them, with equal weights. That set is open to the
// same preference, so its longest member is the slowest drift that makes sense.
//
// Nothing is merged: readings at one setting at different times are different facts.

// defaultTimescale, in steps: 500 to 2000 differed little on bumps that move by 40% of
// the range in 1000 steps.
const defaultTimescale = 1000

// tracks says that the objective changes with time.
func (d *Drift) tracks() bool { return len(d.Timescale) > 0 }

// completeDrift names the timescale where the other words ask for one, and turns fixed
// hyperparameters with several timescales into a prior set.
func (s *Spec) completeDrift() {
	d, m := &s.Drift, &s.Model
	if !d.tracks() && (d.Hold != 0 || d.Detect) {
		d.Timescale = []float64{defaultTimescale}
	}
	if len(d.Timescale) > 1 && m.Hyperparameters == hyperFixed {
		m.Hyperparameters = hyperPriors
		m.Priors = []Prior{{Lengthscale: m.Lengthscale, Outputscale: m.Outputscale, NoiseSD: m.NoiseSD, Mean: m.Mean}}
	}
}

// mostTimescales bounds a prior set of timescales, which multiplies the others.
const mostTimescales = 16

// drift checks how the objective changes.
func (c *checker) drift() {
	d, m := &c.spec.Drift, &c.spec.Model
	for _, t := range d.Timescale {
		if !finite(t) || t <= 0 {
			c.fail("timescale %g of the drift, in steps, must be positive and finite (%d is usual)", t, defaultTimescale)
		}
	}
	if !(d.Hold >= 0 && d.Hold <= 1) {
		c.fail("hold %g must lie between 0 and 1: it is a fraction of each range", d.Hold)
	}
	switch {
	case len(d.Timescale) > mostTimescales:
		c.fail("%d timescales of the drift: at most %d can compete", len(d.Timescale), mostTimescales)
	case len(d.Timescale) > 1 && m.Hyperparameters == hyperFit:
		c.fail("hyperparameters %q take one timescale of the drift, got %d: name one, or use hyperparameters %q, where they compete by their evidence",
			hyperFit, len(d.Timescale), hyperPriors)
	}
	if c.spec.Acquisition == acquireNothing && (d.Hold != 0 || d.Detect) {
		c.fail("kind %q follows nothing: leave out hold and detection, or use kind %q", c.spec.Kind, kindTrack)
	}
}

// drifts says that time is a coordinate of the model.
func (m *modelling) drifts() bool { return len(m.timescales) > 0 }

// width is the number of coordinates of the model.
func (m *modelling) width() int {
	if m.drifts() {
		return m.dims + 1
	}
	return m.dims
}

// timescale is the one of a model without competitors, 0 without drift. Of several the
// longest serves the process of the noise, which needs many readings.
func (m *modelling) timescale() float64 {
	longest := 0.0
	for _, t := range m.timescales {
		longest = max(longest, t)
	}
	return longest
}

// timed is a kernel of the variables multiplied with the kernel of time under drift.
func (m *modelling) timed(k gpcore.Kernel, timescale float64) gpcore.Kernel {
	if !m.drifts() {
		return k
	}
	return gpcore.Drifting(k, timescale)
}

// withTime states a prior's member for each timescale.
func (m *modelling) withTime(b member) []member {
	if !m.drifts() {
		return []member{b}
	}
	out := make([]member, len(m.timescales))
	for i, t := range m.timescales {
		out[i] = b
		out[i].kernel = m.timed(b.kernel, t)
		out[i].weight /= float64(len(out))
	}
	return out
}

// point is a point of all variables as the model takes it at a step: with the time under
// drift.
func (m *modelling) point(x []float64, step int) []float64 {
	if !m.drifts() {
		return x
	}
	return append(x[:len(x):len(x)], float64(step))
}

// appendTime appends a step to each row of size values.
func appendTime(x []float64, size, step int) []float64 {
	var out []float64
	for i := 0; i+size <= len(x); i += size {
		out = append(append(out, x[i:i+size]...), float64(step))
	}
	return out
}
