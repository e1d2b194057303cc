package guard

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// named lists causes with what they are about.
func (w *explainer) named(c safety.Causes) (out []controlstate.Cause) {
	for r, i := range c.All() {
		out = append(out, controlstate.Cause{Rule: r, Name: r.String(), Of: w.subject(r, i)})
	}
	return out
}

// subject names what a cause is about.
func (w *explainer) subject(r safety.Rule, i int) string {
	pick := func(names []string) string {
		if i < len(names) {
			return names[i]
		}
		return ""
	}
	conditions := func(list []safety.Condition) (names []string) {
		for _, c := range list {
			names = append(names, w.plan.Sensors[c.Sensor].Name)
		}
		return names
	}
	switch r {
	case safety.RuleStale, safety.RuleRange, safety.RuleSpike, safety.RuleStuck, safety.RuleDisagree:
		return pick(mapNames(w.plan.Sensors, func(s *plan.Sensor) string { return s.Name }))
	case safety.RuleInterlock:
		return pick(conditions(w.limits.Interlocks))
	case safety.RulePermissive:
		return pick(conditions(w.limits.Permissives))
	case safety.RuleFinite, safety.RuleAssert, safety.RuleReadback, safety.RuleOverride, safety.RuleExposure:
		return pick(mapNames(w.plan.Variables, func(v *plan.Variable) string { return v.Name }))
	case safety.RuleResponse:
		return pick(mapNames(w.limits.Responses, func(r *safety.ResponseLimits) string { return w.plan.Variables[r.Variable].Name }))
	case safety.RuleBudget, safety.RuleUnknownDose:
		return pick(mapNames(w.limits.Doses, func(d *safety.DoseLimits) string { return w.plan.Variables[d.Variable].Name }))
	case safety.RuleComms, safety.RuleInstrument:
		return pick(w.devices)
	}
	return ""
}

func mapNames[T any](list []T, name func(*T) string) []string {
	out := make([]string, 0, len(list))
	for i := range list {
		out = slices.Insert(out, i, name(&list[i]))
	}
	return out
}

// causeWords says in words what a cause is about: what was asked for, and what is there
// now.
func (w *explainer) causeWords(r safety.Rule, i int) string {
	text := controlstate.Cause{Rule: r, Name: r.String(), Of: w.subject(r, i)}.String()
	switch r {
	case safety.RuleStale:
		s := &w.plan.Sensors[i]
		if odd := w.oddWords(i); odd != "" {
			return fmt.Sprintf("sensor %s has given no data for longer than its max_age: %s", s.Name, odd)
		}
		return fmt.Sprintf("sensor %s has given nothing for longer than its max_age", s.Name) + w.readings.Answer(s.Channel)
	case safety.RuleInterlock:
		return text + w.conditionWords(w.limits.Interlocks[i])
	case safety.RulePermissive:
		return text + w.conditionWords(w.limits.Permissives[i])
	case safety.RuleReadback:
		return text + w.readbackWords(i)
	case safety.RuleOverride:
		return text + w.overrideWords(i)
	case safety.RuleRange, safety.RuleSpike, safety.RuleStuck, safety.RuleDisagree:
		return text + w.sensorWords(r, i)
	case safety.RuleResponse:
		return text + w.responseWords(i)
	case safety.RuleExposure:
		return text + w.exposureWords(i)
	case safety.RuleComms:
		return text + " (the device has been silent for longer than comms_timeout)"
	case safety.RuleInstrument:
		return text + " (the device gives no valid answer)"
	}
	return text
}

// conditionWords says what a sensor must be, and what it is now.
func (w *explainer) conditionWords(c safety.Condition) string {
	s := &w.plan.Sensors[c.Sensor]
	is := w.oddWords(c.Sensor)
	if is == "" {
		is = w.readWords(w.readings.Sensor(c.Sensor), s.MaxAge, s.Unit)
	}
	return fmt.Sprintf(" (it must be within %.5g to %s, and %s)", c.Low, plan.InUnit(c.High, s.Unit), is)
}

// oddWords say what sensor i gives that is no data, "" where what it gave last is believed.
func (w *explainer) oddWords(i int) string {
	return w.plan.Sensors[i].OddWords(w.readings.Sensor(i), w.readings.OddSensor(i), w.clock.Now())
}

// readbackWords says where actuator i was sent, and where it stands now.
func (w *explainer) readbackWords(i int) string {
	written := w.readings.Written(i)
	if !isFinite(written) {
		return ""
	}
	v, e := &w.plan.Variables[i], w.readings.Variable(i)
	sent := "it was sent to " + plan.InUnit(written, v.Unit)
	switch silent := w.clock.Now().Sub(e.At).Round(100 * time.Millisecond); {
	case !e.Known:
		return fmt.Sprintf(" (there has been no reading of it%s; %s)", w.readings.Odd(i), sent)
	case v.MaxAge > 0 && silent > v.MaxAge:
		return fmt.Sprintf(" (there has been no reading of it for %v%s; %s, and read %s before)", silent, w.readings.Odd(i), sent, plan.InUnit(e.Value, v.Unit))
	}
	return fmt.Sprintf(" (%s, and reads %s)", sent, plan.InUnit(e.Value, v.Unit))
}

// readWords says what was read last.
func (w *explainer) readWords(e plan.Reading, maxAge time.Duration, unit string) string {
	switch age := w.clock.Now().Sub(e.At); {
	case !e.Known:
		return "nothing was read"
	case maxAge > 0 && age > maxAge:
		return fmt.Sprintf("read %s, %v ago", plan.InUnit(e.Value, unit), age.Round(100*time.Millisecond))
	}
	return "reads " + plan.InUnit(e.Value, unit)
}

// sensorWords says what was expected of a sensor, what it gives, and the limit between.
func (w *explainer) sensorWords(r safety.Rule, i int) string {
	s, limits, state := &w.plan.Sensors[i], &w.limits.Sensors[i], &w.state.Sensor[i]
	odd := "what it read is not known"
	if e := w.readings.OddSensor(i); e.Known {
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
	other := &w.plan.Sensors[limits.With]
	a, b := state.Last.Value, w.state.Sensor[limits.With].Last.Value
	return fmt.Sprintf(" (it reads %s and %s reads %s: they may differ by %s, and differ by %s for longer than %v)",
		plan.InUnit(a, s.Unit), other.Name, plan.InUnit(b, other.Unit), plan.InUnit(limits.Tolerance, s.Unit), plan.InUnit(math.Abs(a-b), s.Unit), limits.AgreeTime)
}

// responseWords says what should have moved, and how far it did.
func (w *explainer) responseWords(k int) string {
	r, s := &w.limits.Responses[k], &w.state.Response[k]
	if !s.Waiting {
		return ""
	}
	v := &w.plan.Variables[r.Variable]
	what, unit, now := "its readback", v.Unit, w.readings.Variable(r.Variable)
	if r.Sensor >= 0 {
		what, unit, now = w.plan.Sensors[r.Sensor].Name, w.plan.Sensors[r.Sensor].Unit, w.readings.Sensor(r.Sensor)
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
func (w *explainer) exposureWords(i int) string {
	v, limits := &w.plan.Variables[i], &w.limits.Variables[i]
	var out []string
	if limits.AboveTime > 0 {
		out = append(out, fmt.Sprintf("it may be above %s for %v", plan.InUnit(limits.Above, v.Unit), limits.AboveTime))
	}
	for _, d := range w.limits.Duties {
		if d.Variable == i {
			out = append(out, fmt.Sprintf("it may be above %s for %.4g%% of any %v", plan.InUnit(d.Above, v.Unit), 100*d.Fraction, d.Window))
		}
	}
	return fmt.Sprintf(" (%s, and %s)", strings.Join(out, ", and "), w.readWords(w.readings.Variable(i), v.MaxAge, v.Unit))
}

// overrideWords says where an actuator was sent and where it has been moved to.
func (w *explainer) overrideWords(i int) string {
	words := ""
	if outside := w.outside(i); outside != "" {
		words = "; it" + outside
	}
	if !isFinite(w.readings.Written(i)) {
		return " (tuner did not send it there" + words + `; bring it inside by hand or by tuner make-safe --all, or allow that with boot = "safe")`
	}
	v := &w.plan.Variables[i]
	return fmt.Sprintf(" (moved from outside: it was sent to %s, and %s%s)", plan.InUnit(w.readings.Written(i), v.Unit),
		w.readWords(w.readings.Variable(i), v.MaxAge, v.Unit), words)
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
