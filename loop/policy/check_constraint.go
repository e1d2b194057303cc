package policy

import (
	"math"

	"github.com/labtuner/tuner/loop/policy/constraint"
)

// constraints checks the bounds.
func (c *checker) constraints() {
	seen := map[string]bool{}
	for _, q := range c.spec.Constraints {
		switch {
		case seen[q.Name]:
			c.fail("constraint", "constraint %q is named twice: give each bounded quantity one range", q.Name)
		case math.IsNaN(q.Low) || math.IsNaN(q.High) || q.Low >= q.High || math.IsInf(q.Low, 1) || math.IsInf(q.High, -1):
			c.fail("constraint", "constraint %q: range [%g, %g] must have its low end below its high end (an infinite end: no bound)", q.Name, q.Low, q.High)
		case !(q.Probability >= 0 && q.Probability < 1):
			c.fail("constraint", "constraint %q: probability %g must be at least 0 and below 1 (0: %g)", q.Name, q.Probability, constraint.DefaultProbability)
		}
		seen[q.Name] = true
	}
}
