package loop

import (
	"fmt"
	"math"
	"strings"
)

// constrained gives, for each constraint, the mean of its sensor over the shots that
// have it, NaN where none has; nil where there is no constraint. sensors has one row
// per shot, in their order, as the journal keeps them: the same numbers come out of a
// journal, bit for bit.
func (o *Options) constrained(sensors ...[]float64) []float64 {
	if len(o.Constraints) == 0 {
		return nil
	}
	out := make([]float64, len(o.Constraints))
	for i, c := range o.Constraints {
		sum, n := 0.0, 0
		for _, row := range sensors {
			if v := row[c.Sensor]; !math.IsNaN(v) {
				sum += v
				n++
			}
		}
		out[i] = sum / float64(n) // 0/0: no data
	}
	return out
}

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
	for i, v := range l.opt.constrained(l.step.sensorRows()...) {
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
		l.event("info", EventConstraint, fmt.Sprintf("step %d breaks a constraint: %s", l.step.n, strings.Join(broken, "; ")))
	}
	return len(broken)
}

// EventConstraint is the kind of the event that tells of a step which broke a
// constraint, one event for each such step.
const EventConstraint = "constraint"
