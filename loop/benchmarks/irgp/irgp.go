// Package irgp holds the experiments of Takeno, Inatsu and Karasuyama on
// randomised confidence parameters (arXiv 2409.00979). Worth is the objective without
// noise, so the simple regret is f(x*) - max of f over the steps. Settings of the
// initial design are not counted. Neither T nor, for the synthetic experiment, the
// size of the initial design is stated; both are our choice and given with each
// problem.
package irgp

import (
	"github.com/labtuner/tuner/loop/benchmarks/experiment"
	"github.com/labtuner/tuner/loop/policy"
)

const (
	paper   = "Takeno et al., arXiv 2409.00979"
	noiseSD = 0.01 // their noise variance is 1e-4
)

// Experiments lists them.
func Experiments() []*experiment.Experiment {
	return []*experiment.Experiment{
		synthetic(), holderExperiment(), crossInTrayExperiment(), ackleyExperiment(),
		materialExperiment("perovskite"), materialExperiment("p3ht"), materialExperiment("agnp"),
	}
}

// function is one of the analytic test functions, negated so that it is maximised.
type function struct {
	name, about string
	bounds      [][2]float64
	names       []string
	best        float64
	steps       int
	f           func(x []float64) float64
}

func (f function) experiment() *experiment.Experiment {
	d := len(f.bounds)
	return &experiment.Experiment{
		Name: "irgp/" + f.name, Paper: paper, Figure: "of section 5.2", About: f.about,
		Steps: f.steps, Initial: 1 << d, Design: "random", Seeds: 10,
		Draw: func(uint64) (*experiment.Problem, error) {
			return &experiment.Problem{
				Variables: experiment.Variables(f.names, f.bounds), ControlSets: experiment.HoldAll(d), Shots: 1,
				NoiseVariance: experiment.Constantly(noiseSD * noiseSD),
				Truth:         func(_ int, x []float64) float64 { return f.f(x) },
				Best:          experiment.Always(f.best),
			}, nil
		},
		Common:      fitted(5),
		Competitors: competitors("heuristic"),
		Metrics:     []experiment.Metric{experiment.FinalSimpleRegret, experiment.SimpleRegretAt(f.steps / 4), experiment.SimpleRegretAt(f.steps / 2), experiment.FinalCumulativeRegret},
	}
}

// fitted is the squared exponential with one lengthscale per variable, fitted every
// so many steps.
func fitted(every int) func(*experiment.Problem) policy.Spec {
	return func(p *experiment.Problem) policy.Spec {
		return policy.Spec{Beta: 2, NoiseVariance: p.NoiseVariance,
			Model: policy.Model{Kernel: "se", Hyperparameters: "fit", RefitEvery: every}}
	}
}

// competitors are the policies of the experiments; confidence is what GP-UCB takes:
// "heuristic" (beta_t^2 = 0.2 d log 2t) or "srinivas".
func competitors(confidence string) []experiment.Competitor {
	return []experiment.Competitor{
		{Name: "irgp-ucb", About: "randomised confidence, shifted exponential", Kind: "irgp-ucb", Set: nil},
		{Name: "rgp-ucb", About: "randomised confidence, gamma distribution", Kind: "rgp-ucb", Set: nil},
		{Name: "gp-ucb", About: "confidence " + confidence, Kind: "gp-ucb", Set: func(s *policy.Spec, _ *experiment.Problem) {
			s.Confidence, s.ConfidenceSetting = confidence, ""
		}},
		{Name: "ei", About: "expected improvement", Kind: "ei", Set: nil},
		{Name: "ts", About: "Thompson sampling", Kind: "ts", Set: nil},
		{Name: "pims", About: "probability of improvement over a sampled maximum", Kind: "pims", Set: nil},
		{Name: "mes", About: "max-value entropy search", Kind: "mes", Set: nil},
		{Name: "jes", About: "joint entropy search", Kind: "jes", Set: nil},
		{Name: "random", About: "uniform settings", Kind: "random", Set: nil},
	}
}
