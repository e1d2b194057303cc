// Package warp looks at an objective through a logarithm: a process that is smooth and of one scale describes
// some objectives better so, those that are steep far from their optimum and flat near it, and those of many
// orders of magnitude. Whether it does, and from where on, the readings say by their evidence ([Choose]).
package warp

import "math"

// Log is a logarithm to both sides of a reference c, from about a width w on:
//
//	z = c + sign(y-c) w log(1 + |y-c|/w)
//
// (a "bi-log" transformation; Whittaker et al., J. R. Stat. Soc. C 54 (2005), and of constraints Eriksson and
// Poloczek, AISTATS 2021). It has y's unit, leaves c with slope 1, grows with y and has a value for every y. The
// zero Log leaves values as they are.
type Log struct {
	Center float64
	// Width is positive; 0 for no logarithm.
	Width float64
}

// Acts reports whether values change.
func (t Log) Acts() bool { return t.Width > 0 }

// leastSlope is below what differences of readings give, and its square is no zero.
const leastSlope = 1e-100

// Of is the transformed value, and its slope.
func (t Log) Of(y float64) (z, slope float64) {
	if !t.Acts() {
		return y, 1
	}
	u := min(math.Abs(y-t.Center)/t.Width, math.MaxFloat64)
	return t.Center + t.Width*math.Copysign(math.Log1p(u), y-t.Center), max(1/(1+u), leastSlope)
}

// Back is the value that has this transformed one. Beyond e^200 widths from the reference it grows no more, so
// that it stays a number.
func (t Log) Back(z float64) float64 {
	if !t.Acts() {
		return z
	}
	const end = 200
	w := (z - t.Center) / t.Width
	return t.Center + t.Width*math.Copysign(math.Expm1(min(math.Abs(w), end)), w)
}

// Spread is the half-width of what lies within sd of a transformed value.
func (t Log) Spread(z, sd float64) float64 {
	if !t.Acts() {
		return sd
	}
	return (t.Back(z+sd) - t.Back(z-sd)) / 2
}
