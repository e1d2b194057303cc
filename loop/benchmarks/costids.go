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
	costRho     = 2.0
)

// costBranin is the experiment of Paria et al. on cost-aware information-directed
// sampling: B(x1, x2, l) = b(x1, x2) - l is minimised, with Branin's b, and a step
// costs exp(l). Here f = -B is maximised over [-5, 10] x [0, 15] x [0, log 100]; its
// maximum is log 100 - 0.397887 = 4.20728. The paper states neither the range of l, nor
// noise, model, initial design, budget or repetitions: range, noise standard deviation
// 0.01, 8 initial Sobol settings that are charged and counted, the budget 2000 (twenty
// steps at the greatest l), 20 seeds, beta_t^2 = 0.2 d log 2t and rho = 2 are our choice. Simple regret is the least over
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
			return policy.Spec{Confidence: "heuristic", Beta: 2, Rho: costRho,
				SettingCost: func(_ int, x []float64) float64 { return math.Exp(x[2]) },
				Model:       policy.Model{Kernel: "se", Hyperparameters: "fit"}}
		},
		Competitors: costCompetitors(),
		Metrics:     []Metric{FinalSimpleRegret, SimpleRegretAtCost(costBudget / 4), SimpleRegretAtCost(costBudget / 2), RecommendedRegret, StepsTaken},
	}
}

// costCompetitors are the policies of the paper's figure, and CostIDS with other rho.
func costCompetitors() []Competitor {
	// The maximum is sought at the greatest l, about which cheaper steps tell something.
	atGreatestL := func(s *policy.Spec, _ *Problem) { s.Fidelity = []float64{math.NaN(), math.NaN(), costMaxL} }
	perCost := func(s *policy.Spec, _ *Problem) { s.PerCost = true }
	rho := func(v float64) func(*policy.Spec, *Problem) { return func(s *policy.Spec, _ *Problem) { s.Rho = v } }
	return []Competitor{
		{"costids", "cost-aware information-directed sampling, rho 2", "costids", nil},
		{"costids-rho-1.5", "the same, rho 1.5", "costids", rho(1.5)},
		{"costids-rho-5", "the same, rho 5", "costids", rho(5)},
		{"ei-per-cost", "expected improvement per unit of cost", "ei-per-cost", nil},
		{"ei", "expected improvement, blind to costs", "ei", nil},
		{"mes", "max-value entropy search, blind to costs", "mes", nil},
		{"mes-per-cost", "max-value entropy search per unit of cost", "mes", perCost},
		{"multi-fidelity-mes", "multi-fidelity max-value entropy search, with l as the fidelity", "multi-fidelity-mes", atGreatestL},
		{"gp-ucb", "upper bounds, blind to costs", "gp-ucb", nil},
		{"random", "uniform settings", "random", nil},
	}
}
