package loop

import (
	"math"
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// move aims the variables of the step; the ticks do the rest.
func (l *stepper) move() {
	s := &l.step
	for i := range l.opt.Variables {
		v := &l.opt.Variables[i]
		if !v.Actuated {
			continue
		}
		if v.Dose {
			l.moveDose(i)
			continue
		}
		changed := false
		if dest, driven := s.Destination(&l.opt, i); driven {
			changed = l.instrument.Aim(i, dest, s.Bad(i))
		} else if v.OnRelease == plan.Release {
			changed = l.instrument.LetGo(i)
		} else {
			l.instrument.AskAgain(i) // its value of the start, where the device refused it
		}
		if changed {
			s.settle = max(s.settle, v.Settle)
		}
	}
	l.enter(moving)
}

// moveDose wants the step's dose of a variable; a step that leaves it random gives none.
func (l *stepper) moveDose(i int) {
	s := &l.step
	dest, driven := s.Destination(&l.opt, i)
	if !driven {
		return
	}
	l.instrument.AimDose(i, dest, l.guard.Dose(i).Number+1, s.Bad(i))
	if dest > 0 {
		s.settle = max(s.settle, l.opt.Variables[i].Settle)
	}
}

// watchMove waits until every driven variable is in place, and gives up on one
// that does not come within its timeout after its destination was written.
func (l *stepper) watchMove(now time.Time) {
	all := true
	for i := range l.opt.Variables {
		if l.instrument.InPlace(i) {
			continue
		}
		all = false
		if problem := l.stuckMove(i, now); problem != "" {
			l.conclude(problem)
			return
		}
	}
	if all {
		l.resolveActions(journal.Confirmed)
		l.step.settle = max(l.step.settle, l.instrument.Unsettled())
		l.step.shots.Settle(now.Add(l.step.settle))
		l.enter(settling)
	}
}

// stuckMove says why variable i will not arrive, "" while it still may. A readback
// that does not follow is the safety layer's business (rule 12).
func (l *stepper) stuckMove(i int, now time.Time) string {
	v := &l.opt.Variables[i]
	if v.Dose {
		if problem := l.instrument.FailedDose(i, l.guard.Dose(i).Unknown); problem != "" {
			return problem
		}
	}
	return l.instrument.Stuck(i, now.Sub(l.since), l.guard.WayTime(i))
}

// home brings the variables whose shutdown state is to hold to the recommended setting,
// or to the starting setting where that was shown to be better, so that the instrument
// is left there, as far as it may stand there for any length of time; then all go to rest.
func (l *stepper) home() {
	if l.opt.Mode == plan.Shadow || !l.ending.result.HasFound {
		l.restAtEnd()
		return
	}
	l.begin(step{n: l.steps})
	to, where := l.ending.result.Found.X, "recommended"
	if v := l.ending.result.Verification; v != nil && v.Left == journal.Starting {
		to, where = l.verifying.plan.Start, "starting"
	}
	values := map[int]float64{}
	for i := range l.opt.Variables {
		if x := to[i]; l.canHold(i) && !math.IsNaN(x) {
			bounds := l.guard.Bounds(i)
			values[i], _ = bounds.Clamp(x, x)
			if most, bounded := l.opt.Lasting(i); bounded {
				values[i] = min(values[i], most)
			}
		}
	}
	if len(values) == 0 {
		l.restAtEnd()
		return
	}
	l.event("info", "home", "moving to the "+where+" setting")
	l.enter(recording)
	l.intendAll(values, func(i int) (value float64, driven, released bool) {
		x, driven := values[i]
		return l.guard.Destination(i, x), driven, false
	})
}

// driveHome aims the variables that are to hold at the setting that the run ends at.
func (l *stepper) driveHome(values map[int]float64) {
	for i, x := range values {
		l.instrument.Aim(i, x, false)
	}
	l.enter(homing)
}

// canHold says that a variable stays where it is left at the end.
func (l *stepper) canHold(i int) bool {
	v := &l.opt.Variables[i]
	return v.Actuated && !v.Dose && v.Shutdown == plan.RestHold && !l.instrument.Lapses(i)
}

// watchHoming waits for the recommended setting; a variable that does not come
// is reported and left to its rest state.
func (l *stepper) watchHoming(now time.Time) {
	for i := range l.opt.Variables {
		if l.instrument.InPlace(i) {
			continue
		}
		problem := l.stuckMove(i, now)
		if problem == "" {
			return
		}
		l.step.problem = problem
		l.resolveActions(journal.Failed)
		l.event("warn", "home", "not at the setting that the run was to end at: "+problem)
		break
	}
	l.resolveActions(journal.Confirmed)
	l.restAtEnd()
}

// restAtEnd brings the actuators to their shutdown states.
func (l *stepper) restAtEnd() {
	l.guard.Ask(safety.CommandEnd)
	l.ending.rest((*plan.Variable).AtEnd)
}
