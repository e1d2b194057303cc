package acquisition

import (
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
)

// moments is a function of a normal variable's mean and standard deviation, with its derivatives.
type moments func(mean, sd float64) (value, byMean, bySD float64)

// positive is one of what lies above a level, which is above zero and falls by orders of magnitude, with its
// logarithm, which has no lower end.
type positive struct {
	level      float64
	value, log moments
}

// above takes one from memory, until the policy's next call. The objects of a memory are all of the same two functions.
func (d *Decision) above(from *num.Objects[positive], level float64, value, log moments) *positive {
	f := from.Take(d.memory())
	if f.level = level; f.value == nil {
		f.value = func(mean, sd float64) (v, byMean, bySD float64) { return value(mean-f.level, sd) }
		f.log = func(mean, sd float64) (v, byMean, bySD float64) { return log(mean-f.level, sd) }
	}
	return f
}

// inLogs appends the options of E_R[f(mu, s)] for the control sets and a view. The search works on the
// logarithm. Where nothing is averaged, over random variables or priors, that is a term of its own, whose posterior
// at the screening points is kept from step to step.
func (d *Decision) inLogs(out []Option, v model.View, unit Unit, f *positive) ([]Option, error) {
	if len(v) == 1 && d.leavesNothing() {
		objectives, err := d.objectiveValues(d.Criterion.Model.TermsOf(v, f.log))
		if err != nil {
			return nil, err
		}
		return append(out, Option{Set: d.Sets[0], View: v, Objective: objectives[0], Unit: unit, logged: true}), nil
	}
	objectives, err := d.Expectations(d.Criterion.Model.TermsOf(v, f.value))
	if err != nil {
		return nil, err
	}
	for i, set := range d.Sets {
		out = append(out, Option{Set: set, View: v, Objective: objectives[i], Unit: unit, logFloor: minImprovement,
			tail: d.tail(objectives[i], set, v, f.log)})
	}
	return out, nil
}
