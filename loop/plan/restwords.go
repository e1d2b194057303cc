package plan

import (
	"fmt"
	"strings"
)

// RestWord says where an actuator comes to be in a rest state: "to 0 W". lapses says of which one
// its device makes it safe when it is let go of.
func (o *Options) RestWord(i int, state RestState, lapses func(i int) bool) string {
	v := &o.Variables[i]
	switch {
	case v.Dose && state == RestOff:
		return "gives nothing more"
	case v.Dose:
		return "ends what it gives"
	case state == RestSafe:
		return strings.TrimRight(fmt.Sprintf("to %.6g %s", v.Limits.Safe, v.Unit), " ")
	case state == RestOff:
		return "is let go"
	case lapses(i):
		return "is left to its device, which makes it safe"
	}
	if most, bounded := o.Lasting(i); bounded {
		return strings.TrimRight(fmt.Sprintf("stays where it is, at %.6g %s at most", most, v.Unit), " ")
	}
	return "stays where it is"
}

// Lasting is the largest value at which a variable may be left; bounded says that there is one.
func (o *Options) Lasting(i int) (most float64, bounded bool) {
	return o.Variables[i].Limits.Lasting(i, o.Safety.Duties)
}

// RestWords says the same of every actuator, by name.
func (o *Options) RestWords(pick func(*Variable) RestState, lapses func(i int) bool) string {
	var words []string
	for i := range o.Variables {
		if v := &o.Variables[i]; v.Actuated {
			words = append(words, v.Name+" "+o.RestWord(i, pick(v), lapses))
		}
	}
	return strings.Join(words, ", ")
}

// AtEnd is where the end of a run brings an actuator.
func (v *Variable) AtEnd() RestState { return v.Shutdown }
