package loop

import (
	"fmt"
	"time"

	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// causeWords says in words what a cause is about: what was asked for, and what is there
// now.
func (l *Loop) causeWords(r safety.Rule, i int) string {
	text := controlstate.Cause{Rule: r, Name: r.String(), Of: l.subject(r, i)}.String()
	switch r {
	case safety.RuleRecord:
		if l.faults[safety.RuleRecord] != 0 {
			return text
		}
		return text + ": " + l.diskProblem()
	case safety.RuleStale:
		s := &l.opt.Sensors[i]
		return fmt.Sprintf("sensor %s has given nothing for longer than its max_age", s.Name) + l.instrument.Answer(s.Channel)
	case safety.RuleInterlock:
		return text + l.conditionWords(l.limits.Interlocks[i])
	case safety.RulePermissive:
		return text + l.conditionWords(l.limits.Permissives[i])
	case safety.RuleReadback:
		return text + l.readbackWords(i)
	case safety.RuleOverride:
		return text + l.overrideWords(i)
	case safety.RuleRange, safety.RuleSpike, safety.RuleStuck, safety.RuleDisagree:
		return text + l.sensorWords(r, i)
	case safety.RuleResponse:
		return text + l.responseWords(i)
	case safety.RuleExposure:
		return text + l.exposureWords(i)
	case safety.RuleComms:
		return text + " (the device has been silent for longer than comms_timeout)"
	case safety.RuleInstrument:
		return text + " (the device gives no valid answer)"
	}
	return text
}

// conditionWords says what a sensor must be, and what it is now.
func (l *Loop) conditionWords(c safety.Condition) string {
	s := &l.opt.Sensors[c.Sensor]
	return fmt.Sprintf(" (it must be within %.5g to %s, and %s)", c.Low, plan.InUnit(c.High, s.Unit), l.readWords(l.instrument.Sensor(c.Sensor), s.MaxAge, s.Unit))
}

// readbackWords says where actuator i was sent, and where it stands now.
func (l *Loop) readbackWords(i int) string {
	written := l.instrument.Written(i)
	if !isFinite(written) {
		return ""
	}
	v := &l.opt.Variables[i]
	return fmt.Sprintf(" (it was sent to %s, and %s)", plan.InUnit(written, v.Unit), l.readWords(l.instrument.Variable(i), v.MaxAge, v.Unit))
}

// readWords says what was read last.
func (l *Loop) readWords(e plan.Reading, maxAge time.Duration, unit string) string {
	switch age := l.now().Sub(e.At); {
	case !e.Known:
		return "nothing was read"
	case maxAge > 0 && age > maxAge:
		return fmt.Sprintf("read %s, %v ago", plan.InUnit(e.Value, unit), age.Round(100*time.Millisecond))
	}
	return "reads " + plan.InUnit(e.Value, unit)
}
