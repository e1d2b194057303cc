package loop

import (
	"fmt"
	"strings"

	"github.com/labtuner/tuner/loop/plan"
)

// restWord says where an actuator comes to be in a rest state: "to 0 W".
func (l *parts) restWord(i int, state plan.RestState) string {
	v := &l.opt.Variables[i]
	switch {
	case v.Dose && state == plan.RestOff:
		return "gives nothing more"
	case v.Dose:
		return "ends what it gives"
	case state == plan.RestSafe:
		return strings.TrimRight(fmt.Sprintf("to %.6g %s", v.Limits.Safe, v.Unit), " ")
	case state == plan.RestOff:
		return "is let go"
	case l.instrument.Lapses(i):
		return "is left to its device, which makes it safe"
	}
	return "stays where it is"
}

// restWords says the same of every actuator, by name.
func (l *parts) restWords(pick func(*plan.Variable) plan.RestState) string {
	var words []string
	for i := range l.opt.Variables {
		if v := &l.opt.Variables[i]; v.Actuated {
			words = append(words, v.Name+" "+l.restWord(i, pick(v)))
		}
	}
	return strings.Join(words, ", ")
}

// onStop and onEnd are where a person's stop brings an actuator, and the end of a run.
func onStop(v *plan.Variable) plan.RestState { return v.OnStop() }
func onEnd(v *plan.Variable) plan.RestState  { return v.Shutdown }
