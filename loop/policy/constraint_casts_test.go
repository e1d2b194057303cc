package policy

import (
	"math"

	"github.com/labtuner/tuner/loop/policy/constraint"
	"github.com/labtuner/tuner/loop/policy/model"
)

// constraintCasts are the specifications with constraints that the tests of determinism
// run.
func constraintCasts() map[string]Spec {
	two := fixedSpec("gp-ucb", 2, 51)
	two.Model = model.Spec{Kernel: "matern52", Hyperparameters: "fit", Capacity: 12, RefitEvery: 3, RefitLag: 2}
	two.Constraints = []constraint.Spec{{Name: "a", Low: -1, High: 0.2}, {Name: "b", Low: math.Inf(-1), High: 0.4, Probability: 0.7}}
	subsets := subsetsSpec("ei-psq-per-cost", 52)
	subsets.Model = model.Spec{Kernel: "se", Hyperparameters: "priors"}
	subsets.Constraints = []constraint.Spec{{Name: "a", Low: -0.5, High: math.Inf(1)}}
	return map[string]Spec{"two constraints, full": two, "constrained subsets, priors": subsets}
}
