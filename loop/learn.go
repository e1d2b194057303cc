package loop

import (
	"errors"
	"math"

	"github.com/labtuner/tuner/loop/advisor"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/policy"
)

// outcome is the step as the journal and the user see it.
func (l *Loop) outcome() journal.Outcome {
	s := &l.step
	o := l.statistic.Summarise(journalShots(s), len(l.opt.Variables))
	if o.Shots == 0 {
		o.X = l.lastRead()
	}
	o.Step, o.Cost, o.Valid, o.Problem, o.At = s.n, l.stepMoney(o.Shots).Float(), o.Shots > 0 && s.problem == "", s.problem, l.stamp()
	return o
}

// lastRead is where the variables were last read to be.
func (l *Loop) lastRead() []float64 {
	x := make([]float64, len(l.opt.Variables))
	for i := range x {
		x[i] = l.instrument.TakeOver(i)
		if e := l.instrument.Variable(i); e.Known {
			x[i] = e.Value
		}
		if l.opt.Variables[i].Dose {
			x[i] = l.instrument.Given(i)
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
