package loop

import (
	"errors"
	"fmt"

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
	l.ending.rest(l.restWhenTaken)
}

// interrupt ends the run because the caller wants it.
func (l *Loop) interrupt() {
	if l.phase < resting {
		l.event("info", "interrupt", "stopping: "+l.endWords())
		l.endNow(control.ReasonInterrupted)
	}
}

// endByHand ends the run because a person says so, at once: each actuator goes to its
// shutdown state. What the safety layer has taken away stays where it is, and latched.
func (l *Loop) endByHand() control.Response {
	words := l.endWords()
	if mode := l.guard.Mode(); mode >= safety.Fallback && l.ending.err == nil {
		l.ending.err = fmt.Errorf("%w: %s: %s", ErrSafety, l.guard.Word(), l.guard.Story())
	}
	l.endNow(control.ReasonEnd)
	return done("the run ends: %s", words)
}

// endWords says what an end does with each actuator.
func (l *Loop) endWords() string {
	switch {
	case l.opt.Mode == plan.Shadow, !l.instrument.Drove() && l.guard.Mode() < safety.Fallback:
		return "this process has written nothing, and will not"
	case l.guard.Mode() >= safety.Fallback: // they are on their way there
		return l.opt.RestWords(l.restWhenTaken, l.instrument.Lapses)
	}
	return l.opt.RestWords((*plan.Variable).AtEnd, l.instrument.Lapses)
}

// endNow ends the run in the middle of whatever it does.
func (l *Loop) endNow(reason string) {
	l.ending.reason = reason
	l.stepper.abandonStep(journal.ProblemInterrupted)
	if l.guard.Mode() >= safety.Fallback {
		l.ending.rest(l.restWhenTaken)
		return
	}
	l.guard.Ask(safety.CommandEnd)
	l.ending.rest((*plan.Variable).AtEnd)
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
		l.ending.result.Found, l.ending.result.HasFound = l.opt.InUsersSense(a.Found), true
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
