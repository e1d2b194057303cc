package search

import (
	"fmt"
	"math"

	"github.com/labtuner/tuner/gpcore/internal/check"
)

// maxSteps bounds the values of one axis.
const maxSteps = 1 << 30

// Axis is the range of one coordinate. At most one of Step and Levels is set; without
// them every value between Low and High may be chosen.
type Axis struct {
	Low, High float64
	// Step above zero leaves the values Low, Low+Step, ... up to High: with Step 1 and an
	// integer Low, integers.
	Step float64
	// Levels are the values, ascending; Low and High are ignored.
	Levels []float64
}

func (a *Axis) check() error {
	if len(a.Levels) > 0 {
		for i, v := range a.Levels {
			if !check.IsFinite(v) || !check.IsFinite(v-a.Levels[0]) || i > 0 && v <= a.Levels[i-1] {
				return fmt.Errorf("gpcore: levels must be finite, as their range, and ascending; level %d is %g", i, v)
			}
		}
		return nil
	}
	if !check.IsFinite(a.Low) || !check.IsFinite(a.High) || a.Low > a.High || !check.IsFinite(a.High-a.Low) {
		return fmt.Errorf("gpcore: range [%g, %g] must be finite with low <= high", a.Low, a.High)
	}
	if !check.IsFinite(a.Step) || a.Step < 0 {
		return fmt.Errorf("gpcore: step %g must be finite and not negative", a.Step)
	}
	if a.Step > 0 && (a.High-a.Low)/a.Step > maxSteps {
		return fmt.Errorf("gpcore: step %g makes more than %d values between %g and %g; use a larger one, or none", a.Step, maxSteps, a.Low, a.High)
	}
	return nil
}

// count is the number of values that may be chosen, 0 where every value may.
func (a *Axis) count() int {
	switch {
	case len(a.Levels) > 0:
		return len(a.Levels)
	case a.Step > 0:
		const slack = 1e-9 // of a step: (14.0-0)/0.005 may be 2799.9999999999995
		return int(math.Floor((a.High-a.Low)/a.Step+slack)) + 1
	case a.Low == a.High:
		return 1
	}
	return 0
}

// at is value i of a discrete axis.
func (a *Axis) at(i int) float64 {
	if len(a.Levels) > 0 {
		return a.Levels[i]
	}
	return min(a.Low+float64(i)*a.Step, a.High)
}

// index is the position of the value nearest to v.
func (a *Axis) index(v float64) int {
	if len(a.Levels) == 0 {
		if a.Step == 0 {
			return 0
		}
		return min(max(int(math.Round((v-a.Low)/a.Step)), 0), a.count()-1)
	}
	best := 0
	for i, l := range a.Levels {
		if math.Abs(l-v) < math.Abs(a.Levels[best]-v) {
			best = i
		}
	}
	return best
}

// bounds are the least and the largest value.
func (a *Axis) bounds() (low, high float64) {
	if n := a.count(); n > 0 {
		return a.at(0), a.at(n - 1)
	}
	return a.Low, a.High
}
