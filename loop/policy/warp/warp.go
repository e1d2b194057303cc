// Package warp looks at an objective through a power: a process that is smooth and of one scale describes
// the logarithm or the root of some objectives better than themselves. Which power that is, if any, the
// readings say by their evidence ([Choose]).
package warp

import "math"

// Power is Box and Cox's transformation (J. R. Stat. Soc. B 26 (1964)) of values of one sign, scaled so that
// at a reference it leaves the value and has slope 1: with u = |y| and r the reference,
//
//	|z| = r + r ((u/r)^Exponent - 1)/Exponent,   r + r log(u/r) for exponent 0,
//
// so that z has y's unit. z grows with y, also where both are negative, as an objective that is minimised is.
type Power struct {
	Exponent float64
	// Reference is positive, and negative where values are.
	Reference float64
}

// None leaves values as they are.
func None() Power { return Power{Exponent: 1, Reference: 1} }

// Acts reports whether values change.
func (p Power) Acts() bool { return p.Exponent != 1 }

// Takes reports whether a value has a transformed one.
func (p Power) Takes(y float64) bool { return !p.Acts() || y/p.Reference > 0 }

// Of is the transformed value, and its slope. [Power.Takes] y.
func (p Power) Of(y float64) (z, slope float64) {
	if !p.Acts() {
		return y, 1
	}
	u := y / p.Reference
	if p.Exponent == 0 {
		return p.Reference * (1 + math.Log(u)), 1 / u
	}
	raised := math.Pow(u, p.Exponent)
	return p.Reference * (1 + (raised-1)/p.Exponent), raised / u
}

// Back is the value that has this transformed one; the nearest to it where none has: far enough below, a root
// has no value. A logarithm's ends at e^200 references, so that it stays a number.
func (p Power) Back(z float64) float64 {
	if !p.Acts() {
		return z
	}
	w := z/p.Reference - 1
	if p.Exponent == 0 {
		const end = 200
		return p.Reference * math.Exp(min(w, end))
	}
	return p.Reference * math.Pow(max(1+p.Exponent*w, 0), 1/p.Exponent)
}

// Spread is the half-width of what lies within sd of a transformed value.
func (p Power) Spread(z, sd float64) float64 {
	if !p.Acts() {
		return sd
	}
	return math.Abs(p.Back(z+sd)-p.Back(z-sd)) / 2
}
