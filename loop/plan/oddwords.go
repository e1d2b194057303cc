package plan

import (
	"fmt"
	"math"
	"time"
)

// OddWords say what a sensor gives that is no data, "" where it has given nothing since what was
// believed of it last, or nothing that is younger than its MaxAge.
func (s *Sensor) OddWords(believed, odd Reading, now time.Time) string {
	switch {
	case !odd.Fresh(now, s.MaxAge), believed.Known && !odd.At.After(believed.At):
		return ""
	case math.IsNaN(odd.Value) || math.IsInf(odd.Value, 0):
		return fmt.Sprintf("it reads %g, which is no number", odd.Value)
	case odd.Value < s.Low || odd.Value > s.High:
		return fmt.Sprintf("it reads %s, outside its range %.5g to %s", InUnit(odd.Value, s.Unit), s.Low, InUnit(s.High, s.Unit))
	}
	return fmt.Sprintf("it reads %s, too far from what it read before to be believed", InUnit(odd.Value, s.Unit))
}
