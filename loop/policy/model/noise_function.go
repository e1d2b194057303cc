package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/space"
)

// NoiseFunction is the variance of one shot where the specification gives it, as a
// function of the setting (RAHBO with known variance; Makarova et al., NeurIPS 2021,
// section 4.1). Where it is not a finite number, zero or above, the setting counts as
// infinitely noisy: it is not proposed, not recommended, and an observation there is
// refused.
type NoiseFunction struct {
	Axes []space.Axis
	Of   func(x []float64) float64
}

// At is the variance at a point of all unit coordinates, in squared units of the
// objective. Safe for concurrent use.
func (k *NoiseFunction) At(unit []float64) float64 {
	x := make([]float64, len(k.Axes))
	for i := range x {
		x[i] = k.Axes[i].User(unit[i])
	}
	if v := k.Of(x); v >= 0 { // not NaN
		return v
	}
	return math.Inf(1)
}

// Refusal says why a reading at a point cannot be used; empty where it can.
func (k *NoiseFunction) Refusal(x []float64) string {
	if v := k.Of(slices.Clone(x)); !num.Finite(v) || v < 0 {
		return fmt.Sprintf("the known noise variance there is %g, it must be finite and not negative", v)
	}
	return ""
}
