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
		Competitors: irgpCompetitors("heuristic"),
		Metrics:     []Metric{FinalSimpleRegret, SimpleRegretAt(f.steps / 4), SimpleRegretAt(f.steps / 2), FinalCumulativeRegret},
	}
}

// irgpFitted is the squared exponential with one lengthscale per variable, fitted every
// so many steps.
func irgpFitted(every int) func(*Problem) policy.Spec {
	return func(p *Problem) policy.Spec {
		return policy.Spec{Beta: 2, NoiseVariance: p.NoiseVariance,
			Model: policy.Model{Kernel: "se", Hyperparameters: "fit", RefitEvery: every}}
	}
}

// irgpCompetitors are the policies of the experiments; confidence is what GP-UCB takes:
// "heuristic" (beta_t^2 = 0.2 d log 2t) or "srinivas".
func irgpCompetitors(confidence string) []Competitor {
	return []Competitor{
		{"irgp-ucb", "randomised confidence, shifted exponential", "irgp-ucb", nil},
		{"rgp-ucb", "randomised confidence, gamma distribution", "rgp-ucb", nil},
		{"gp-ucb", "confidence " + confidence, "gp-ucb", func(s *policy.Spec, _ *Problem) { s.Confidence = confidence }},
		{"ei", "expected improvement", "ei", nil},
		{"ts", "Thompson sampling", "ts", nil},
		{"pims", "probability of improvement over a sampled maximum", "pims", nil},
		{"mes", "max-value entropy search", "mes", nil},
		{"jes", "joint entropy search", "jes", nil},
		{"random", "uniform settings", "random", nil},
	}
}
