package space

import (
	"math"
	"sort"
	"strconv"
)

// maxStepwise separates discrete variables from continuous ones that a device
// rounds: with at most this many values a search steps from value to value, with
// more it climbs the gradient and rounds at the end.
const maxStepwise = 64

// Axis scales one variable between the user's unit and [0, 1], linearly or by the logarithm,
// and knows which values may be proposed: any in the range, multiples of a step, or a list.
type Axis struct {
	low, high   float64
	span        float64 // log(high/low) on a logarithmic scale; 0: a linear one
	Step        float64 // 0: no grid
	First, Last float64 // the grid's values are first*step ... last*step
	levels      []float64
}

func NewAxis(v *Variable) Axis {
	a := Axis{low: v.Low, high: v.High, levels: v.Levels, Step: v.Resolution}
	if v.Log {
		a.span = math.Log(v.High / v.Low)
	}
	if v.Integer {
		a.Step = max(1, v.Resolution)
	}
	if a.Step > 0 {
		const slack = 1e-9 // of a step: 14.0/0.005 may be 2800.0000000000005
		a.First, a.Last = math.Ceil(v.Low/a.Step-slack), math.Floor(v.High/a.Step+slack)
	}
	return a
}

// Unit gives a value's place in [0, 1]: (v - low)/(high - low), or log(v/low)/log(high/low).
// Without a place on a logarithmic scale, which has nothing at or below 0, it is that of low.
func (a *Axis) Unit(v float64) float64 {
	switch {
	case a.span == 0:
		return (v - a.low) / (a.high - a.low)
	case v <= 0:
		return 0
	}
	return math.Log(v/a.low) / a.span
}

// User is the value at a place.
func (a *Axis) User(u float64) float64 {
	if a.span == 0 {
		return a.low + u*(a.high-a.low)
	}
	return a.low * math.Exp(u*a.span)
}

// slope is by how much the place moves with the value there.
func (a *Axis) slope(v float64) float64 {
	if a.span == 0 {
		return 1 / (a.high - a.low)
	}
	return 1 / (v * a.span)
}

// count is the number of values that may be proposed, 0 if any may.
func (a *Axis) count() int {
	switch {
	case len(a.levels) > 0:
		return len(a.levels)
	case a.Step > 0:
		return int(a.Last-a.First) + 1
	}
	return 0
}

// stepwise reports whether the search has to step from value to value.
func (a *Axis) stepwise() bool { return a.count() > 0 && a.count() <= maxStepwise }

// at is proposable value i, in the user's unit.
func (a *Axis) at(i int) float64 {
	if len(a.levels) > 0 {
		return a.levels[i]
	}
	return roundDigits((a.First + float64(i)) * a.Step)
}

// index is the position of the proposable value nearest to v.
func (a *Axis) index(v float64) int {
	if len(a.levels) > 0 {
		i := sort.SearchFloat64s(a.levels, v)
		if i == len(a.levels) || i > 0 && a.nearer(v, a.levels[i-1], a.levels[i]) {
			i--
		}
		return i
	}
	return int(min(max(math.Round(v/a.Step), a.First), a.Last) - a.First)
}

// nearer says that v between two values is not nearer to the upper one, on the axis's scale.
func (a *Axis) nearer(v, lower, upper float64) bool {
	if a.span == 0 {
		return v-lower <= upper-v
	}
	return v*v <= lower*upper
}

// nearest is the proposable value nearest to v, in the user's unit.
func (a *Axis) nearest(v float64) float64 {
	if a.count() == 0 {
		return min(max(v, a.low), a.high)
	}
	return a.at(a.index(v))
}

// roundDigits rounds to twelve significant digits, so that the third multiple of 0.1 is
// 0.3 in a log and on a wire, not 0.30000000000000004.
func roundDigits(v float64) float64 {
	t, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64)
	if err != nil { // cannot be: the text is a number
		return v
	}
	return t
}
