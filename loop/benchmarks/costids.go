package benchmarks

import (
	"math"

	"github.com/labtuner/tuner/loop/policy"
)

func costExperiments() []*Experiment { return []*Experiment{costBranin()} }

// Constants of the modified Branin function.
const (
	costMaxL    = 4.605170185988092 // log 100: a step costs 1 to 100
	costNoiseSD = 0.01
	costBudget  = 2000.0
)

// costBranin is the experiment of Paria et al. on cost-aware information-directed
// sampling: B(x1, x2, l) = b(x1, x2) - l is minimised, with Branin's b, and a step
// costs exp(l). Here f = -B is maximised over [-5, 10] x [0, 15] x [0, log 100]; its
// maximum is log 100 - 0.397887 = 4.20728. The paper states neither the range of l, nor
// noise, model, initial design, budget or repetitions: range, noise standard deviation
// 0.01, 8 initial Sobol settings that are charged and counted, the budget 2000 (twenty
// steps at the greatest l) and 20 seeds are our choice. Simple regret is the least over
// all steps, as a function of what was spent.
func costBranin() *Experiment {
	return &Experiment{
		Name: "costids/branin", Paper: "Paria et al., cost-aware information-directed sampling", Figure: "1",
		About:  "Branin's function less l, where a step costs exp(l)",
		Budget: costBudget, Steps: 400, Initial: 8, Design: "sobol", CountInitial: true, Seeds: 20,
		Draw: func(uint64) (*Problem, error) {
			p := &Problem{
				Variables:   variables([]string{"x1", "x2", "l"}, append(braninBounds(), [2]float64{0, costMaxL})),
				ControlSets: full(3), Shots: 1,
				NoiseVariance: constantly(costNoiseSD * costNoiseSD),
				Truth:         func(_ int, x []float64) float64 { return x[2] - branin(x[0], x[1]) },
				Best:          always(costMaxL - leastBranin),
				Charge:        func(_ int, x []float64) float64 { return math.Exp(x[2]) },
			}
			return p, nil
		},
		Common: func(*Problem) policy.Spec {
			return policy.Spec{Confidence: "constant", Beta: 2, Model: policy.Model{Kernel: "se", Hyperparameters: "fit"}}
		},
		Competitors: []Competitor{
			{"gp-ucb-beta-2", "the constant confidence 2, blind to costs", kind("gp-ucb")},
			{"random", "uniform settings", kind("random")},
		},
		Metrics: []Metric{FinalSimpleRegret, SimpleRegretAtCost(costBudget / 4), SimpleRegretAtCost(costBudget / 2), StepsTaken},
	}
}
