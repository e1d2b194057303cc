package guard

import (
	"fmt"
	"slices"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/safety"
)

// known are the settings known to be safe, violations the steps in a row that broke a
// constraint.
type known struct {
	settings   safety.ProvenSettings
	violations int
}

// Knows notes a setting that is known to be safe.
func (g *Guard) Knows(x []float64) { g.known.settings.Add(x) }

// Near keeps a setting near what is known to be safe, where the plan asks for it, and
// returns what that changed.
func (g *Guard) Near(applied []float64) (reasons []journal.Reason) {
	reach := g.plan.Safety.Explore
	if reach <= 0 {
		return nil
	}
	span := make([]float64, len(g.plan.Variables))
	for i := range span {
		span[i] = g.plan.Variables[i].High - g.plan.Variables[i].Low
	}
	before := slices.Clone(applied)
	for i, changed := range g.known.settings.Shrink(applied, span, reach) {
		if changed {
			reasons = append(reasons, journal.Reason{Variable: g.plan.Variables[i].Name, Rule: safety.RuleExplore.String(),
				From: before[i], To: applied[i]})
		}
	}
	return reasons
}

// Judge remembers a setting that broke no constraint, and falls back after too many in
// a row that did. Without the option, constraints are advice to the policy only.
func (g *Guard) Judge(x []float64, valid bool, broken int) (said []Said) {
	switch k := &g.known; {
	case g.plan.Safety.Explore <= 0 || !valid:
	case broken == 0:
		k.violations = 0
		k.settings.Add(x)
	default:
		if k.violations++; k.violations >= safety.ViolationsMax {
			g.Fault(safety.RuleViolation, 0)
			said = append(said, Said{"error", journal.EventSafety, fmt.Sprintf("%d steps in a row broke a constraint", k.violations)})
		}
	}
	return said
}
