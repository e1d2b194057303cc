package loop

import (
	"fmt"
	"math"
	"strings"

	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// sensorWords says what was expected of a sensor, what it gives, and the limit between.
func (l *Loop) sensorWords(r safety.Rule, i int) string {
	s, limits, state := &l.opt.Sensors[i], &l.limits.Sensors[i], &l.safety.Sensor[i]
	odd := "what it read is not known"
	if e := l.instrument.OddSensor(i); e.Known {
		odd = "it read " + plan.InUnit(e.Value, s.Unit)
	}
	switch r {
	case safety.RuleRange:
		return fmt.Sprintf(" (it must be within %.5g to %s, and %s)", s.Low, plan.InUnit(s.High, s.Unit), odd)
	case safety.RuleSpike:
		return fmt.Sprintf(" (it may change by %s per s, and %s, after %s)", plan.InUnit(limits.Rate, s.Unit), odd, plan.InUnit(state.Last.Value, s.Unit))
	case safety.RuleStuck:
		return fmt.Sprintf(" (it must change when an actuator moves, and has read %s %d times)", plan.InUnit(state.Last.Value, s.Unit), limits.Stuck)
	}
	other := &l.opt.Sensors[limits.With]
	a, b := state.Last.Value, l.safety.Sensor[limits.With].Last.Value
	return fmt.Sprintf(" (it reads %s and %s reads %s: they may differ by %s, and differ by %s for longer than %v)",
		plan.InUnit(a, s.Unit), other.Name, plan.InUnit(b, other.Unit), plan.InUnit(limits.Tolerance, s.Unit), plan.InUnit(math.Abs(a-b), s.Unit), limits.AgreeTime)
}

// responseWords says what should have moved, and how far it did.
func (l *Loop) responseWords(k int) string {
	r, s := &l.limits.Responses[k], &l.safety.Response[k]
	if !s.Waiting {
		return ""
	}
	v := &l.opt.Variables[r.Variable]
	what, unit, now := "its readback", v.Unit, l.instrument.Variable(r.Variable)
	if r.Sensor >= 0 {
		what, unit, now = l.opt.Sensors[r.Sensor].Name, l.opt.Sensors[r.Sensor].Unit, l.instrument.Sensor(r.Sensor)
	}
	wanted, changed := r.Moves, fmt.Sprintf("a change of %s", plan.InUnit(r.Change, v.Unit))
	if v.Dose {
		changed = "a dose"
	} else if !s.Rising {
		wanted = -wanted
	}
	text := fmt.Sprintf(" (after %s %s must move by %s within %v", changed, what, plan.InUnit(wanted, unit), r.Within)
	if !now.Known || !s.Seen.Known {
		return text + ", and is not read)"
	}
	return text + fmt.Sprintf(", and went from %s to %s)", plan.InUnit(s.Seen.Value, unit), plan.InUnit(now.Value, unit))
}

// exposureWords says above what a variable has been for too long.
func (l *Loop) exposureWords(i int) string {
	v, limits := &l.opt.Variables[i], &l.limits.Variables[i]
	var out []string
	if limits.AboveTime > 0 {
		out = append(out, fmt.Sprintf("it may be above %s for %v", plan.InUnit(limits.Above, v.Unit), limits.AboveTime))
	}
	for _, d := range l.limits.Duties {
		if d.Variable == i {
			out = append(out, fmt.Sprintf("it may be above %s for %.4g%% of any %v", plan.InUnit(d.Above, v.Unit), 100*d.Fraction, d.Window))
		}
	}
	return fmt.Sprintf(" (%s, and %s)", strings.Join(out, ", and "), l.readWords(l.instrument.Variable(i), v.MaxAge, v.Unit))
}

// overrideWords says where an actuator was sent and where it has been moved to.
func (l *Loop) overrideWords(i int) string {
	words := ""
	if outside := l.outsideWords(i); outside != "" {
		words = "; it" + outside
	}
	if !isFinite(l.instrument.Written(i)) {
		return " (nobody has sent it there" + words + `; bring it inside by hand or by tuner make-safe --all, or allow that with boot = "safe")`
	}
	v := &l.opt.Variables[i]
	return fmt.Sprintf(" (somebody else has moved it: it was sent to %s, and %s%s)", plan.InUnit(l.instrument.Written(i), v.Unit),
		l.readWords(l.instrument.Variable(i), v.MaxAge, v.Unit), words)
}
