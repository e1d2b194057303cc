package loop

import (
	"errors"
	"fmt"
	"strings"

	"github.com/labtuner/tuner/loop/advisor"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/policy"
)

// outcome is the step as the journal and the user see it.
func (l *stepper) outcome() journal.Outcome {
	s := &l.step
	o := l.statistic.Summarise(s.shots.Taken(), len(l.opt.Variables))
	if o.Shots == 0 {
		o.X = l.lastRead()
	}
	cost, _ := s.Charge(&l.opt, s.shots.Taken(), &l.ledger) // [stepper.book] tells what was not read
	o.Step, o.Cost, o.Valid, o.Problem, o.At = s.n, cost.Float(), o.Shots > 0 && s.problem == "", s.problem, l.stamp()
	return o
}

// lastRead is where the variables were last read to be.
func (l *stepper) lastRead() []float64 {
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
func (l *stepper) learnt(a *advisor.Learnt) {
	if a.Err != nil && !l.failed(a.Err) {
		return
	}
	l.deps.Watch.Meter.Model(a.Size)
	if a.Best != nil {
		recommends(l, a.Best)
	}
	if l.phase == concluding {
		l.afterStep()
	}
}

// recommends takes in what the policy recommends, nil where that is nothing. A bound that is
// better is recorded, for a process that goes on with the run.
func recommends(l *stepper, best *policy.Recommendation) {
	if l.best = nil; best == nil {
		return
	}
	in := l.opt.InUsersSense(*best)
	if l.best = &in; !in.Feasible {
		return
	}
	if m := l.marked.Raise(l.opt.Stop.NoImprovement, best.LowerBound, l.searched(), l.ledger.Spent, l.last != nil && l.last.Initial); m != nil {
		l.eventWith(journal.Facts{Better: m}, "info", journal.EventBetter, fmt.Sprintf("the best bound so far: %.6g %s", in.LowerBound, l.opt.Objective.Unit))
	}
}

// tellFits tells of hyperparameter fits that came to nothing: those before them stay.
func (l *parts) tellFits(p policy.Proposal) {
	l.deps.Watch.Meter.Fitted(p)
	err := p.FailedFits
	if p.Fit != nil {
		err = errors.Join(p.Fit.Err, err)
	}
	if err != nil {
		l.event("warn", "fit", err.Error())
	}
}

// tellBroken notes in the run's story which constraints the step broke, by the mean
// over its shots, and returns how many.
func (l *stepper) tellBroken() int {
	var broken []string
	for i, v := range l.opt.Constrained(l.step.shots.Taken()) {
		c := &l.opt.Constraints[i]
		if v < c.Low || v > c.High {
			s := &l.opt.Sensors[c.Sensor]
			broken = append(broken, fmt.Sprintf("%s is %.6g %s, outside [%g, %g]", s.Name, v, s.Unit, c.Low, c.High))
		}
	}
	if len(broken) > 0 {
		if !l.verifying.running {
			l.broken++
		}
		l.event("info", journal.EventConstraint, fmt.Sprintf("step %d breaks a constraint: %s", l.step.n, strings.Join(broken, "; ")))
	}
	return len(broken)
}
