package loop

import (
	"errors"
	"fmt"
	"math"

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
			x[i] = l.takeOverFrom(i)
			if e := l.board.variables[i]; e.known {
				x[i] = e.value
			}
			if l.opt.Variables[i].Dose {
				x[i] = l.aims[i].amount
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

// learn teaches the policy on its lane; then runs on the loop's goroutine.
func (l *Loop) learn(observations []policy.Observation, then func()) {
	showProgress := l.deps.Watch.Progress != nil
	p := l.deps.Policy
	l.post(l.mishaps.lane, func() func() {
		bound := math.NaN()
		var rec policy.Recommendation
		recErr := policy.ErrNoData
		var size policy.Size
		err := isolated(func() error {
			if err := observeAll(p, observations); err != nil {
				return err
			}
			size = sizeOf(p)
			if rec, recErr = p.Recommend(); showProgress && recErr == nil {
				bound = rec.LowerBound
			}
			return nil
		})
		return func() {
			if err != nil && !l.failed(err) {
				return
			}
			l.meterModel(size)
			l.progress.LowerBound = l.opt.Sense(bound)
			if recErr == nil {
				best := l.inUsersSense(rec)
				l.best = &best
			}
			then()
		}
	})
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

// observeAll runs on the policy's lane.
func observeAll(p policy.Policy, observations []policy.Observation) error {
	for _, o := range observations {
		if err := p.Observe(o); err != nil {
			return fmt.Errorf("learn step %d: %w", o.Step, err)
		}
	}
	return nil
}

// failpoint tells a test where the loop is.
func (l *Loop) failpoint(name string) {
	if l.deps.Failpoint != nil {
		l.deps.Failpoint(name)
	}
}
