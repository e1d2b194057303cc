package loop

import (
	"errors"
	"math"

	"github.com/labtuner/tuner/loop/advisor"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// outcome is the step as the journal and the user see it.
func (l *Loop) outcome() journal.Outcome {
	s := &l.step
	values := make([]float64, len(s.shots))
	for i, p := range s.shots {
		values[i] = p.objective
	}
	o := journal.Outcome{Step: s.n, X: l.achieved(), Mean: math.NaN(), Variance: plan.Variance(values), StandardError: l.statistic.StandardError(values),
		Shots: len(values), Cost: l.stepMoney(len(values)).Float(), Valid: len(values) > 0 && s.problem == "",
		Problem: s.problem, At: l.stamp()}
	if len(values) > 0 {
		o.Mean = l.statistic.Value(values)
	}
	return o
}

// achieved is the mean of the variables over the shots; without shots, what was
// last read.
func (l *Loop) achieved() []float64 {
	s := &l.step
	x := policy.NaNs(len(l.opt.Variables))
	for i := range x {
		if len(s.shots) == 0 {
			x[i] = l.instrument.TakeOver(i)
			if e := l.instrument.Variable(i); e.Known {
				x[i] = e.Value
			}
			if l.opt.Variables[i].Dose {
				x[i] = l.instrument.Given(i)
			}
			continue
		}
		x[i] = 0
		for _, p := range s.shots {
			x[i] += p.x[i] / float64(len(s.shots))
		}
	}
	return x
}

// learnt takes in what the policy makes of a step, and goes on with the next one.
func (l *Loop) learnt(a advisor.Learnt) {
	if a.Err != nil && !l.failed(a.Err) {
		return
	}
	l.meterModel(a.Size)
	l.progress.LowerBound = math.NaN()
	if a.Best != nil {
		best := l.inUsersSense(*a.Best)
		l.best = &best
		l.progress.LowerBound = best.LowerBound
	}
	if l.phase == concluding {
		l.afterStep()
	}
}

// tellFits tells of hyperparameter fits that came to nothing: those before them stay.
func (l *Loop) tellFits(p policy.Proposal) {
	l.meterFit(p)
	err := p.FailedFits
	if p.Fit != nil {
		err = errors.Join(p.Fit.Err, err)
	}
	if err != nil {
		l.event("warn", "fit", err.Error())
	}
}

// failpoint tells a test where the loop is.
func (l *Loop) failpoint(name string) {
	if l.deps.Failpoint != nil {
		l.deps.Failpoint(name)
	}
}
