package loop

import (
	"fmt"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

// measure begins to take shots: what is asked for and answered from now on
// belongs to the setting.
func (l *stepper) measure(now time.Time) {
	l.step.shots.Begin(now)
	l.enter(measuring)
}

// offerShot makes a shot of a new value of the objective.
func (l *stepper) offerShot(renewed []int, at, asked time.Time) {
	if l.step.shots.Offer(&l.opt, l.instrument, renewed, at, asked, l.stamp()) {
		l.shotTaken()
	}
}

// shotTaken ends the step when it has all of its shots; else the next one is asked for as soon
// as it may be.
func (l *stepper) shotTaken() {
	switch {
	case len(l.step.shots.Taken()) >= l.step.Wanted(&l.opt):
		l.conclude("")
	case l.opt.AsksAtOnce():
		askNow(l)
	}
}

// askNow asks for a shot between two ticks.
func askNow(l *stepper) {
	l.step.shots.Ask(l.now())
	l.instrument.Poll(true)
}

// noShot ends the step with what it has: the instrument says that no value comes of
// what was asked. To a question between two ticks that says only that there is none yet.
func (l *stepper) noShot(asked time.Time, why error) {
	if l.phase == measuring && !l.held && l.step.shots.Mine(asked) && !l.step.shots.Between(asked) {
		l.enough("no data: " + why.Error())
	}
}

// enough ends the step with the shots there are; without any, for the problem.
func (l *stepper) enough(problem string) {
	if len(l.step.shots.Taken()) > 0 {
		problem = ""
	}
	l.conclude(problem)
}

// watchShots ends the step with what it has when the next shot does not come.
func (l *stepper) watchShots(now time.Time) {
	s := &l.step.shots
	if s.Try(&l.opt, l.instrument, l.stamp()) {
		l.shotTaken()
		if l.phase != measuring {
			return
		}
	}
	if l.opt.Mode == plan.Shadow && l.opt.Stop.Time > 0 && l.ran(now) >= l.opt.Stop.Time {
		l.endShadow()
		return
	}
	if s.Waited(now) > l.opt.Objective.Timeout {
		l.enough(fmt.Sprintf("no data: no value of %s within %v; %s", l.opt.Objective.Name, l.opt.Objective.Timeout, s.Missing(&l.opt, l.instrument, now)))
	}
}

// endShadow ends a shadow run, which only time ends, with the shots there are.
func (l *stepper) endShadow() {
	if len(l.step.shots.Taken()) > 0 {
		l.conclude("")
		return
	}
	l.abandonStep(journal.ProblemTimeOver)
	l.runner.finish(control.ReasonTime)
}
