package loop

import (
	"errors"

	"github.com/labtuner/tuner/loop/advisor"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/safety"
)

// fail ends the run because of err; the first error counts.
func (l *Loop) fail(err error) {
	if l.ending.err == nil {
		l.ending.err = err
	}
	if l.phase == resting {
		l.instrument.ReviveDead()
	}
	if l.phase >= resting {
		return
	}
	l.ending.reason = control.ReasonFault
	l.tellEvent(journal.Event{Level: "error", Kind: "fault", Message: err.Error(), Step: l.number, At: l.stamp()})
	switch {
	case errors.Is(err, ErrJournal):
		l.guard.Fault(safety.RuleRecord, 0)
	case !errors.Is(err, ErrInstrument):
		l.guard.Fault(safety.RulePolicy, 0)
	}
	l.guard.Ask(safety.CommandFail)
	l.advisor.Stop()
	l.stepper.abandonStep("fault: " + err.Error())
	l.ending.rest(func(v *plan.Variable) plan.RestState { return v.OnFault })
}

// interrupt ends the run because the caller wants it.
func (l *Loop) interrupt() {
	if l.phase >= resting {
		return
	}
	l.ending.reason = control.ReasonInterrupted
	message := "stopping: actuators go to their shutdown state"
	if l.opt.Mode == plan.Shadow || !l.instrument.Drove() && l.phase <= booting {
		message = "stopping; nothing was written"
	}
	l.event("info", "interrupt", message)
	l.stepper.abandonStep(journal.ProblemInterrupted)
	if l.guard.Mode() >= safety.Fallback { // they are on their way to their fault states
		l.ending.rest(func(v *plan.Variable) plan.RestState { return v.OnFault })
		return
	}
	l.guard.Ask(safety.CommandEnd)
	l.ending.rest(func(v *plan.Variable) plan.RestState { return v.Shutdown })
}

// finish ends the run at a stop condition: the recommendation is asked for and compared
// with the starting setting, the variables that are to hold are brought to it, the
// others to their shutdown state.
func (l *Loop) finish(reason string) {
	l.ending.reason = reason
	l.event("info", "stop", "stop condition reached: "+reason)
	l.enter(concluding)
	l.ending.recommend()
}

// recommended goes on to the comparison with the starting setting, or lets a run that
// closes end.
func (l *Loop) recommended(a advisor.Recommended) {
	if a.Err == nil {
		l.ending.result.Found, l.ending.result.HasFound = l.inUsersSense(a.Found), true
	} else if !errors.Is(a.Err, policy.ErrNoData) {
		l.event("warn", "recommend", a.Err.Error())
	}
	switch l.phase {
	case concluding:
		l.stepper.verify()
	case closing:
		l.ending.oneClosed()
	}
}

// inUsersSense turns the sign back where the user minimises; a lower bound of
// what is maximised is then an upper bound of what is minimised: still the
// pessimistic one.
func (l *parts) inUsersSense(r policy.Recommendation) policy.Recommendation {
	if l.opt.Objective.Minimize {
		for _, e := range []*policy.Estimate{&r.Estimate, &r.Start} {
			e.Mean, e.LowerBound = -e.Mean, -e.LowerBound
		}
	}
	return r
}
