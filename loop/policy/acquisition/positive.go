package acquisition

import "github.com/labtuner/tuner/loop/policy/model"

// moments is a function of a normal variable's mean and standard deviation, with its derivatives.
type moments func(mean, sd float64) (value, byMean, bySD float64)

// positive is one that is above zero and falls by orders of magnitude, with its logarithm, which has no lower end.
type positive struct{ value, log moments }

// inLogs appends the options of E_R[f(mu, s)] for the control sets and a view. The search works on the
// logarithm. Where nothing is averaged, over random variables or priors, that is a term of its own, whose posterior
// at the screening points is kept from step to step.
func (d *Decision) inLogs(out []Option, v model.View, unit Unit, f positive) ([]Option, error) {
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
