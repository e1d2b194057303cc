package policy

import (
	"fmt"
	"math"
	"slices"
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
