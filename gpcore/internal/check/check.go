// Package check refuses numbers that no observation, point or kernel can have, and names
// them; its errors are those of every room of gpcore.
package check

import (
	"errors"
	"fmt"
	"math"
)

// What data can cause; package gpcore explains them.
var (
	ErrFull                = errors.New("gpcore: capacity reached; remove or replace an observation first")
	ErrNotPositiveDefinite = errors.New("gpcore: covariance matrix is not positive definite; raise the noise variance or merge coinciding points")
	ErrIndex               = errors.New("gpcore: no observation has this index")
	ErrShape               = errors.New("gpcore: lengths of the slices do not agree")
)

// ValueError names a number that cannot be used.
type ValueError struct {
	What  string  // "x", "y", "noise variance", "covariance", "list" or "prior SD"
	Index int     // position in the slice or, for a scalar, 0
	Value float64 // the number itself
}

// Error names the number, its place and what it must be.
func (e *ValueError) Error() string {
	want := "must be finite"
	switch {
	case e.What == NameY && IsFinite(e.Value):
		want = fmt.Sprintf("must be within %g of zero", largestTarget)
	case e.What == NameNoise && IsFinite(e.Value) && e.Value > 0:
		want = fmt.Sprintf("must be at most %g", largestNoise)
	case e.What == NameNoise:
		want = "must be finite and not negative"
	case e.What == NameSD:
		want = "must be positive and finite"
	}
	return fmt.Sprintf("gpcore: %s[%d] = %g %s", e.What, e.Index, e.Value, want)
}

const (
	NameX     = "x"
	NameY     = "y"
	NameNoise = "noise variance"
	NameCov   = "covariance"
	NameSD    = "prior SD"
)

// largestTarget and largestNoise bound what can be computed with: squares of whitened
// targets, and reciprocals of noises, must neither overflow nor lose digits.
const (
	largestTarget = 1e100
	largestNoise  = 1e300
)

func Target(i int, v float64) error {
	if !(math.Abs(v) <= largestTarget) {
		return &ValueError{NameY, i, v}
	}
	return nil
}

func Targets(y []float64) error {
	for i, v := range y {
		if err := Target(i, v); err != nil {
			return err
		}
	}
	return nil
}

func IsFinite(v float64) bool { return math.Abs(v) <= math.MaxFloat64 }

func Finite(what string, v []float64) error {
	for i, e := range v {
		if !IsFinite(e) {
			return &ValueError{what, i, e}
		}
	}
	return nil
}

func Noises(v []float64) error {
	for i, e := range v {
		if err := Noise(i, e); err != nil {
			return err
		}
	}
	return nil
}

func Noise(i int, v float64) error {
	if !(v >= 0 && v <= largestNoise) {
		return &ValueError{NameNoise, i, v}
	}
	return nil
}
