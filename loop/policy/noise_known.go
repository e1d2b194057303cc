package policy

import (
	"fmt"
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore"
)

// noiseFunction is the variance of one shot where the specification gives it, as a
// function of the setting (RAHBO with known variance; Makarova et al., NeurIPS 2021,
// section 4.1). Where it is not a finite number, zero or above, the setting counts as
// infinitely noisy: it is not proposed, not recommended, and an observation there is
// refused.
type noiseFunction struct {
	axes []axis
	of   func(x []float64) float64
}

// at is the variance at a point of all unit coordinates, in squared units of the
// objective. Safe for concurrent use.
func (k *noiseFunction) at(unit []float64) float64 {
	x := make([]float64, len(k.axes))
	for i := range x {
		x[i] = k.axes[i].user(unit[i])
	}
	if v := k.of(x); v >= 0 { // not NaN
		return v
	}
	return math.Inf(1)
}

// refusal says why a reading at a point cannot be used; empty where it can.
func (k *noiseFunction) refusal(x []float64) string {
	if v := k.of(slices.Clone(x)); !finite(v) || v < 0 {
		return fmt.Sprintf("the known noise variance there is %g, it must be finite and not negative", v)
	}
	return ""
}

// knownRisk is the part of the mean-variance objective that is known: as a function of
// the controlled coordinates c of a domain
//
//	alpha E_R[ rho^2(c, R) ]
//
// in units of the standardised objective, R the variables that the domain leaves alone.
type knownRisk struct {
	noise *noiseFunction
	d     *domain
	nodes nodes
	alpha float64 // in 1/(the objective's unit), over the objective's scale
}

// expected is E_R[rho^2(c, R)] in squared units of the objective.
func (r *knownRisk) expected(c []float64) float64 {
	x := make([]float64, len(r.noise.axes))
	for j, i := range r.d.coords {
		x[i] = c[j]
	}
	sum := 0.0
	for q := range r.nodes.count() {
		for j, v := range r.nodes.at(q) {
			x[r.d.random[j]] = v
		}
		sum += r.nodes.weight[q] * r.noise.at(x)
	}
	return sum
}

func (r *knownRisk) value(c []float64) float64 { return r.alpha * r.expected(c) }

// slope adds scale times the gradient of value to grad, by central differences over
// 1e-5 of the range (one-sided at its ends): the function is the user's, and the search
// needs directions, not digits. Where it is infinite the gradient is left alone.
func (r *knownRisk) slope(grad, c []float64, scale float64) {
	const h = 1e-5
	x := slices.Clone(c)
	for j := range c {
		low, high := max(c[j]-h, 0), min(c[j]+h, 1)
		x[j] = high
		up := r.value(x)
		x[j] = low
		if slope := (up - r.value(x)) / (high - low); finite(slope) {
			grad[j] += scale * slope
		}
		x[j] = c[j]
	}
}

// knownRiskOf is the known risk of a control set; nil where there is none.
func (e *engine) knownRiskOf(d *domain) *knownRisk {
	if e.model.known == nil || e.alpha() == 0 {
		return nil
	}
	return &knownRisk{e.model.known, d, e.around.nodes(d.random), e.risk / e.model.inForce.scale}
}

// lessKnownRisk subtracts a control set's known risk from an objective of the
// standardised unit. Where the noise is learnt or constant it changes nothing.
func (e *engine) lessKnownRisk(o gpcore.Objective, set int) gpcore.Objective {
	r := e.knownRiskOf(e.domains[set])
	if r == nil {
		return o
	}
	return less(o, subtrahend{value: r.value, slope: r.slope})
}
