package loop

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// move aims the variables of the step; the ticks do the rest.
func (l *Loop) move() {
	s := &l.step
	for i := range l.opt.Variables {
		v := &l.opt.Variables[i]
		if !v.Actuated {
			continue
		}
		a := &l.aims[i]
		before := *a
		if v.Dose {
			l.moveDose(i)
			continue
		}
		if dest, driven := l.destination(i); driven {
			a.driveTo(dest)
			a.bad = !isFinite(s.decision.Requested[i]) && !math.IsNaN(s.decision.Applied[i])
		} else if v.OnRelease == plan.Release {
			a.letGo()
		}
		if a.dest != before.dest || a.release != before.release || a.drive != before.drive {
			s.settle = max(s.settle, v.Settle)
		}
	}
	l.enter(moving)
}

// moveDose wants the step's dose of a variable; a step that leaves it random gives none.
func (l *Loop) moveDose(i int) {
	s := &l.step
	dest, driven := l.destination(i)
	if !driven {
		return
	}
	l.aimDose(i, dest)
	l.aims[i].bad = !isFinite(s.decision.Requested[i])
	if dest > 0 {
		s.settle = max(s.settle, l.opt.Variables[i].Settle)
	}
}

// watchMove waits until every driven variable is in place, and gives up on one
// that does not come within its timeout after its destination was written.
func (l *Loop) watchMove(now time.Time) {
	all := true
	for i := range l.aims {
		if l.inPlace(i) {
			continue
		}
		all = false
		if problem := l.stuckMove(i, now); problem != "" {
			l.conclude(problem)
			return
		}
	}
	if all {
		l.settleActions(journal.Confirmed)
		for i := range l.aims {
			if l.moved&(1<<i) != 0 {
				l.step.settle = max(l.step.settle, l.opt.Variables[i].Settle)
			}
		}
		l.moved = 0
		l.step.settleEnd = now.Add(l.step.settle)
		l.enter(settling)
	}
}

// stuckMove says why variable i will not arrive, "" while it still may. A readback
// that does not follow is the safety layer's business (rule 12).
func (l *Loop) stuckMove(i int, now time.Time) string {
	a, v := &l.aims[i], &l.opt.Variables[i]
	limit := cmp.Or(v.Timeout, plan.MoveTimeout) + v.Limits.Dwell + l.doseWait(i) + l.rampTime(i)
	switch {
	case a.failed:
		return l.doseProblem(i)
	case len(l.giving) > 0: // a dose takes its time, and its driver bounds that
		return ""
	case a.refused != nil:
		return fmt.Sprintf("%s: %v", v.Name, a.refused)
	case !l.links[v.Channel.Device].ready(): // while nothing can be written, the safety layer knows of no arrival
		return ""
	case !a.arrived && now.Sub(l.since) > limit:
		return fmt.Sprintf("%s: not written within %v", v.Name, limit)
	}
	return ""
}

// rampTime is how long the whole hard range takes at the slower slew, twice over
// because ticks may be late.
func (l *Loop) rampTime(i int) time.Duration {
	v := &l.limits.Variables[i]
	slew := min(v.SlewUp, v.SlewDown)
	if slew <= 0 {
		return 0
	}
	seconds := 2 * (v.High - v.Low) / slew
	return time.Duration(min(seconds, math.MaxInt64/float64(2*time.Second)) * float64(time.Second))
}

// home brings the variables whose shutdown state is to hold to the recommended setting,
// or to the starting setting where that was shown to be better, so that the instrument
// is left there; then all go to rest.
func (l *Loop) home() {
	if l.opt.Mode == plan.Shadow || !l.result.HasFound {
		l.restAtEnd()
		return
	}
	l.step = step{n: l.steps}
	to, where := l.result.Found.X, "recommended"
	if v := l.result.Verification; v != nil && v.Left == journal.Starting {
		to, where = l.verifying.plan.Start, "starting"
	}
	values := map[int]float64{}
	for i := range l.opt.Variables {
		v := &l.opt.Variables[i]
		if x := to[i]; l.canHold(v) && !math.IsNaN(x) {
			bounds := l.bounds(i)
			values[i] = destinationOf(&bounds, x)
		}
	}
	if len(values) == 0 {
		l.restAtEnd()
		return
	}
	l.event("info", "home", "moving to the "+where+" setting")
	l.enter(recording)
	l.intendAll(l.homeActions(values), values)
}

// driveHome aims the variables that are to hold at the setting that the run ends at.
func (l *Loop) driveHome(values map[int]float64) {
	for i, x := range values {
		l.aims[i].driveTo(x)
	}
	l.enter(homing)
}

// canHold says that a variable stays where it is left at the end.
func (l *Loop) canHold(v *plan.Variable) bool {
	return v.Actuated && !v.Dose && v.Shutdown == plan.RestHold && !l.links[v.Channel.Device].lapses()
}

// homeActions lists, per device, the way to the recommended setting.
func (l *Loop) homeActions(values map[int]float64) []journal.Action {
	var out []journal.Action
	for d, k := range l.links {
		a := journal.Action{Device: k.name, Kind: "move", Values: map[string]float64{}, At: l.stamp()}
		for i, x := range values {
			if c := l.opt.Variables[i].Channel; c.Device == d {
				a.Values[c.Name] = destinationOf(&l.limits.Variables[i], x)
			}
		}
		if len(a.Values) > 0 {
			out = append(out, a)
		}
	}
	return out
}

// watchHoming waits for the recommended setting; a variable that does not come
// is told of and left to its rest state.
func (l *Loop) watchHoming(now time.Time) {
	for i := range l.aims {
		if l.inPlace(i) {
			continue
		}
		problem := l.stuckMove(i, now)
		if problem == "" {
			return
		}
		l.step.problem = problem
		l.settleActions(journal.Failed)
		l.event("warn", "home", "not at the setting that the run was to end at: "+problem)
		break
	}
	l.settleActions(journal.Confirmed)
	l.restAtEnd()
}

// restAtEnd brings the actuators to their shutdown states.
func (l *Loop) restAtEnd() {
	l.ask(safety.CommandEnd)
	l.rest(func(v *plan.Variable) plan.RestState { return v.Shutdown })
}
