package plan

import (
	"fmt"
	"math"

	"github.com/labtuner/tuner/loop/journal"
)

// GreatestObjective is the greatest amount of a shot's objective: in units of readings that scatter by as little as its
// reciprocal it is the greatest target that gpcore takes, 1e100, and squares of that can be summed.
const GreatestObjective = 1e50

// Of is the objective of one shot, in the user's sense, of what its sensors read.
//
// Errors: the formula cannot be evaluated, or the value is not finite or beyond GreatestObjective.
func (o *Objective) Of(sensors []float64) (y float64, err error) {
	if o.Formula == nil {
		y = sensors[o.Sensor]
	} else if y, err = o.Formula(sensors); err != nil {
		return math.NaN(), err
	}
	if !(math.Abs(y) <= GreatestObjective) {
		return math.NaN(), fmt.Errorf("%s is %.5g, and only values from %g to %g can be learnt from", o.Name, y, -GreatestObjective, GreatestObjective)
	}
	return y, nil
}

// Summarise is what a step's shots come to: the mean of each of n variables, the statistic of
// the objective with its standard error, and the variance of a single shot. What no shot says
// is NaN.
func (s Statistic) Summarise(shots []journal.Shot, n int) journal.Outcome {
	// One piece for both, the values at its beginning and with room for an even number of them: see even. Memory for three
	// numbers need not begin at a multiple of 16 bytes, for more it does.
	k := len(shots)
	x := make([]float64, even(k)+n)
	values := x[:k:k]
	for i := range shots {
		values[i] = shots[i].Objective
	}
	o := journal.Outcome{X: x[even(k):], Mean: math.NaN(), Variance: Variance(values), StandardError: s.StandardError(values), Shots: len(shots)}
	if len(shots) > 0 {
		o.Mean = s.Value(values)
	}
	for i := range o.X {
		if len(shots) == 0 {
			o.X[i] = math.NaN()
		}
		for k := range shots {
			o.X[i] += shots[k].X[i] / float64(len(shots))
		}
	}
	return o
}

// even is room for n numbers after which others begin at a multiple of 16 bytes, as those do that have memory of their own:
// gonum's sums depend on it in their last bit.
func even(n int) int { return n + n%2 }
