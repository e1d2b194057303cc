// Package costids holds the experiment of Paria et al. that is reproduced: the modified
// Branin function, whose steps cost 1 to 100.
package costids

import (
	"math"

	"github.com/labtuner/tuner/loop/benchmarks/experiment"
	"github.com/labtuner/tuner/loop/benchmarks/landscape"
	"github.com/labtuner/tuner/loop/policy"
)

// Experiments lists them.
func Experiments() []*experiment.Experiment { return []*experiment.Experiment{branin()} }

// Constants of the modified Branin function.
const (
	maxL    = 4.605170185988092 // log 100: a step costs 1 to 100
	noiseSD = 0.01
	budget  = 2000.0
	rho     = 2.0
)

// branin is the experiment of Paria, Neiswanger, Ghods, Schneider and Póczos, "Cost-Aware Bayesian
// Optimization via Information Directed Sampling" (ICML 2020 workshop): B(x1, x2, l) = b(x1, x2) - l is minimised, with Branin's b, and a step
// costs exp(l). Here f = -B is maximised over [-5, 10] x [0, 15] x [0, log 100]; its
// maximum is log 100 - 0.397887 = 4.20728. The paper states neither the range of l, nor
// noise, model, initial design, budget or repetitions: range, noise standard deviation
// 0.01, 8 initial Sobol settings that are charged and counted, the budget 2000 (twenty
// steps at the greatest l), 20 seeds, beta_t^2 = 0.2 d log 2t and rho = 2 are our choice. Simple regret is the least over
// all steps, as a function of what was spent.
func branin() *experiment.Experiment {
	return &experiment.Experiment{
		Name: "costids/branin", Paper: "Paria et al., ICML 2020 workshop", Figure: "1",
		About:  "Branin's function less l, where a step costs exp(l)",
		Budget: budget, Steps: 400, Initial: 8, Design: "sobol", CountInitial: true, Seeds: 20,
		Draw: func(uint64) (*experiment.Problem, error) {
			p := &experiment.Problem{
				Variables:   experiment.Variables([]string{"x1", "x2", "l"}, append(landscape.BraninBounds(), [2]float64{0, maxL})),
				ControlSets: experiment.HoldAll(3), Shots: 1,
				NoiseVariance: experiment.Constantly(noiseSD * noiseSD),
				Truth:         func(_ int, x []float64) float64 { return x[2] - landscape.Branin(x[0], x[1]) },
				Best:          experiment.Always(maxL - landscape.LeastBranin),
				Charge:        func(_ int, x []float64) float64 { return math.Exp(x[2]) },
			}
			return p, nil
		},
		Common: func(*experiment.Problem) policy.Spec {
			s := policy.Spec{Confidence: "heuristic", Beta: 2, Rho: rho, Model: policy.Model{Kernel: "se", Hyperparameters: "fit"}}
			s.SettingCost = func(_ int, x []float64) float64 { return math.Exp(x[2]) }
			return s
		},
		Competitors: competitors(),
		Metrics:     []experiment.Metric{experiment.FinalSimpleRegret, experiment.SimpleRegretAtCost(budget / 4), experiment.SimpleRegretAtCost(budget / 2), experiment.RecommendedRegret, experiment.FinalCumulativeRegret, experiment.CostWeightedRegret, experiment.StepsTaken},
	}
}

// competitors are the policies of the paper's figure, and CostIDS with other rho.
func competitors() []experiment.Competitor {
	// The maximum is sought at the greatest l, about which cheaper steps tell something.
	atGreatestL := func(s *policy.Spec, _ *experiment.Problem) { s.Fidelity = []float64{math.NaN(), math.NaN(), maxL} }
	perCost := func(s *policy.Spec, _ *experiment.Problem) { s.PerCost = true }
	rho := func(v float64) func(*policy.Spec, *experiment.Problem) {
		return func(s *policy.Spec, _ *experiment.Problem) { s.Rho = v }
	}
	return []experiment.Competitor{
		{Name: "costids", About: "cost-aware information-directed sampling, rho 2", Kind: "costids", Set: nil},
		{Name: "costids-rho-1.5", About: "the same, rho 1.5", Kind: "costids", Set: rho(1.5)},
		{Name: "costids-rho-5", About: "the same, rho 5", Kind: "costids", Set: rho(5)},
		{Name: "ei-per-cost", About: "expected improvement per unit of cost", Kind: "ei-per-cost", Set: nil},
		{Name: "pbgi", About: "Gittins index of Pandora's box", Kind: "pbgi", Set: nil},
		{Name: "ei", About: "expected improvement, blind to costs", Kind: "ei", Set: nil},
		{Name: "mes", About: "max-value entropy search, blind to costs", Kind: "mes", Set: nil},
		{Name: "mes-per-cost", About: "max-value entropy search per unit of cost", Kind: "mes", Set: perCost},
		{Name: "multi-fidelity-mes", About: "multi-fidelity max-value entropy search, with l as the fidelity", Kind: "multi-fidelity-mes", Set: atGreatestL},
		{Name: "gp-ucb", About: "upper bounds, blind to costs", Kind: "gp-ucb", Set: nil},
		{Name: "random", About: "uniform settings", Kind: "random", Set: nil},
	}
}
