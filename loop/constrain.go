package loop

import (
	"fmt"
	"strings"

	"github.com/labtuner/tuner/loop/journal"
)

// sensorRows lists what the sensors gave at each shot of the step.
func (s *step) sensorRows() [][]float64 {
	rows := make([][]float64, len(s.shots))
	for i := range s.shots {
		rows[i] = s.shots[i].sensors
	}
	return rows
}

// tellBroken notes in the run's story which constraints the step broke, by the mean
// over its shots, and returns how many.
func (l *Loop) tellBroken() int {
	var broken []string
	for i, v := range l.opt.Constrained(l.step.sensorRows()...) {
		c := &l.opt.Constraints[i]
		if v < c.Low || v > c.High {
			s := &l.opt.Sensors[c.Sensor]
			broken = append(broken, fmt.Sprintf("%s is %.6g %s, outside [%g, %g]", s.Name, v, s.Unit, c.Low, c.High))
		}
	}
	if len(broken) > 0 {
		if !l.verifying.running {
			l.result.Broken++
		}
		l.event("info", journal.EventConstraint, fmt.Sprintf("step %d breaks a constraint: %s", l.step.n, strings.Join(broken, "; ")))
	}
	return len(broken)
}
