package loop

import (
	"fmt"
	"math"
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
	if asked.Equal(l.between) && at.Before(l.step.shots.Asked()) {
		return // the shot before again, by a device that says how old its value is
	}
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
		l.askNow()
	}
}

// askNow asks for a shot between two ticks.
func (l *stepper) askNow() {
	l.between = l.now()
	l.instrument.Poll(true)
}

// soon is when the next shot is to be asked for where no tick does it; false: a tick does.
func (l *stepper) soon(now time.Time) (at time.Time, ok bool) {
	at = l.step.shots.Next()
	if l.phase != measuring || l.held || at.IsZero() {
		return at, false
	}
	if again := l.between.Add(l.opt.Objective.Every); again.After(at) {
		at = again
	}
	if at.Before(now) {
		at = now
	}
	return at, true
}

// noShot ends the step with what it has: the instrument says that no value comes of
// what was asked. To a question between two ticks that says only that there is none yet.
func (l *stepper) noShot(asked time.Time, why error) {
	if l.phase == measuring && !l.held && l.step.shots.Mine(asked) && !asked.Equal(l.between) {
		l.enough("no data: " + why.Error())
	}
}

// tellSame tells, once, of shots between two ticks that are the same to the bit: replicates of one
// measurement say nothing of its noise.
func (l *stepper) tellSame() {
	taken := l.step.shots.Taken()
	if l.toldSame || len(taken) < 3 || !l.opt.AsksAtOnce() {
		return
	}
	took := taken[len(taken)-1].At.Mono - taken[0].At.Mono
	for _, s := range taken {
		if took >= l.opt.Tick || math.Float64bits(s.Objective) != math.Float64bits(taken[0].Objective) {
			return
		}
	}
	l.toldSame = true
	l.event("warn", "shots", fmt.Sprintf("%d shots within %v are the same to the bit; an instrument that renews its value more slowly than it answers needs every in [objective]",
		len(taken), took.Round(10*time.Microsecond)))
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
