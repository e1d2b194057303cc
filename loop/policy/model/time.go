package model

import "github.com/labtuner/tuner/gpcore/kernels"

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
// prior of a set is one for each of them, with equal weights. That set is open to the
// same preference, so its longest member is the slowest drift that makes sense.
//
// Nothing is merged: readings at one setting at different times are different facts.

// drifts reports whether time is a coordinate of the model.
func (m *Rules) drifts() bool { return len(m.Timescales) > 0 }

// Width is the number of coordinates of the model.
func (m *Rules) Width() int {
	if m.drifts() {
		return m.Dims + 1
	}
	return m.Dims
}

// timescale is the one of a model without competitors, 0 without drift. Of several the
// longest serves the process of the noise, which needs many readings.
func (m *Rules) timescale() float64 {
	longest := 0.0
	for _, t := range m.Timescales {
		longest = max(longest, t)
	}
	return longest
}

// timed is a kernel of the variables multiplied with the kernel of time under drift.
func (m *Rules) timed(k kernels.Kernel, timescale float64) kernels.Kernel {
	if !m.drifts() {
		return k
	}
	return kernels.Drifting(k, timescale)
}

// withTime states a prior's member for each timescale.
func (m *Rules) withTime(b member) []member {
	if !m.drifts() {
		return []member{b}
	}
	out := make([]member, len(m.Timescales))
	for i, t := range m.Timescales {
		out[i] = b
		out[i].kernel = m.timed(b.kernel, t)
		out[i].weight /= float64(len(out))
	}
	return out
}

// Point is a point of all variables as the model takes it at a step: with the time under
// drift.
func (m *Rules) Point(x []float64, step int) []float64 {
	if !m.drifts() {
		return x
	}
	return append(x[:len(x):len(x)], float64(step))
}

// AppendPoint appends Point to dst.
func (m *Rules) AppendPoint(dst, x []float64, step int) []float64 {
	if dst = append(dst, x...); m.drifts() {
		dst = append(dst, float64(step))
	}
	return dst
}
