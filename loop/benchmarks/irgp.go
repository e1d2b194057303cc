package benchmarks

import (
	"github.com/labtuner/tuner/loop/policy"
)

// The experiments of Takeno, Inatsu, Karasuyama and Takeuchi on randomised confidence
// parameters (arXiv 2409.00979). Worth is the objective without noise, so the simple
// regret is f(x*) - max of f over the steps. Settings of the initial design are not
// counted. Neither T nor, for the synthetic experiment, the size of the initial design
// is stated; both are our choice and given with each problem.

const (
	irgpPaper   = "Takeno et al., arXiv 2409.00979"
	irgpNoiseSD = 0.01 // their noise variance is 1e-4
)

func irgpExperiments() []*Experiment {
	return []*Experiment{
		irgpSynthetic(), irgpHolder(), irgpCrossInTray(), irgpAckley(),
		irgpMaterial("perovskite"), irgpMaterial("p3ht"), irgpMaterial("agnp"),
	}
}

// irgpFunction is one of the analytic test functions, negated so that it is maximised.
type irgpFunction struct {
	name, about string
	bounds      [][2]float64
	names       []string
	best        float64
	steps       int
	f           func(x []float64) float64
}

func (f irgpFunction) experiment() *Experiment {
	d := len(f.bounds)
	return &Experiment{
		Name: "irgp/" + f.name, Paper: irgpPaper, Figure: "1 and 2", About: f.about,
		Steps: f.steps, Initial: 1 << d, Design: "random", Seeds: 10,
		Draw: func(uint64) (*Problem, error) {
			return &Problem{
				Variables: variables(f.names, f.bounds), ControlSets: full(d), Shots: 1,
				NoiseVariance: constantly(irgpNoiseSD * irgpNoiseSD),
				Truth:         func(_ int, x []float64) float64 { return f.f(x) },
				Best:          always(f.best),
			}, nil
		},
		Common:      irgpFitted(5),
		Competitors: irgpCompetitors(),
		Metrics:     []Metric{FinalSimpleRegret, SimpleRegretAt(f.steps / 4), SimpleRegretAt(f.steps / 2), FinalCumulativeRegret},
	}
}

// irgpFitted is the squared exponential with one lengthscale per variable, fitted every
// so many steps.
func irgpFitted(every int) func(*Problem) policy.Spec {
	return func(*Problem) policy.Spec {
		return policy.Spec{Confidence: "irgp", Beta: 2,
			Model: policy.Model{Kernel: "se", Hyperparameters: "fit", RefitEvery: every}}
	}
}

// irgpCompetitors are the policies of the experiments with a continuous or heuristic
// confidence parameter.
func irgpCompetitors() []Competitor {
	return []Competitor{
		{"irgp-ucb", "randomised confidence, d/2 + Exp(mean 2) under the root", kind("gp-ucb")},
		{"gp-ucb-beta-2", "the constant confidence 2", func(s *policy.Spec, _ *Problem) { s.Kind, s.Confidence = "gp-ucb", "constant" }},
		{"random", "uniform settings", kind("random")},
		{"sobol", "a Sobol sequence", kind("sobol")},
	}
}
