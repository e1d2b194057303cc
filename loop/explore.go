package loop

import (
	"fmt"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/safety"
)

// shrink keeps a decision near what is known to be safe, where the options ask for it,
// and notes what that changed.
func (l *Loop) shrink(d *journal.Decision) {
	reach := l.opt.Safety.Explore
	if reach <= 0 {
		return
	}
	span := make([]float64, len(l.opt.Variables))
	for i := range span {
		span[i] = l.opt.Variables[i].High - l.opt.Variables[i].Low
	}
	before := append([]float64(nil), d.Applied...)
	for i, changed := range l.known.Shrink(d.Applied, span, reach) {
		if changed {
			d.Reasons = append(d.Reasons, journal.Reason{Variable: l.opt.Variables[i].Name, Rule: safety.RuleExplore.String(),
				From: before[i], To: d.Applied[i]})
		}
	}
}

// judge remembers a setting that broke no constraint, and falls back after too many in
// a row that did. Without the option, constraints are advice to the policy only.
func (l *Loop) judge(x []float64, valid bool, broken int) {
	switch {
	case l.opt.Safety.Explore <= 0 || !valid:
	case broken == 0:
		l.violations = 0
		l.known.Add(x)
	default:
		if l.violations++; l.violations >= safety.ViolationsMax {
			l.faults.Add(safety.RuleViolation, 0)
			l.event("error", journal.EventSafety, fmt.Sprintf("%d steps in a row broke a constraint", l.violations))
		}
	}
}
