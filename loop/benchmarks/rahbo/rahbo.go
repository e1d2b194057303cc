// Package rahbo holds the experiments of Makarova, Usmanova, Bogunovic and Krause,
// "Risk-averse Heteroscedastic Bayesian Optimization" (NeurIPS 2021). A step is a
// batch of k = 10 shots with the noise standard deviation rho(x), and its worth is
//
//	MV(x) = f(x) - alpha rho(x)^2
//
// Their code calls rho a variance and multiplies normal deviates with it; here it is
// the standard deviation, and regret is counted with the variance rho^2. The figures'
// noise scale and alpha are not stated: both scales of their configurations and alpha
// 1 and 0.5 are here. Regret counts the T steps after the initial design.
package rahbo

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/labtuner/tuner/loop/benchmarks/experiment"
	"github.com/labtuner/tuner/loop/benchmarks/landscape"
	"github.com/labtuner/tuner/loop/policy"
)

// problem is one of the objectives.
type problem struct {
	name, about, figure   string
	steps, initial, seeds int
	alpha                 float64
	variables             []policy.Variable
	truth                 func(x []float64) float64
	noiseSD               func(x []float64) float64
	places                []experiment.Place
	quiet                 string // the place that MV prefers; empty: there are no places
	shots                 int    // 0: Shots
	candidates            [][]float64
	broken                error // why there is no such problem
}

const (
	// reportEvery is how often the report is looked at; their code does it every ten iterations.
	reportEvery = 10

	paper = "Makarova et al., NeurIPS 2021"
	Shots = 10
)

// Experiments lists them.
func Experiments() []*experiment.Experiment {
	return []*experiment.Experiment{
		sine(1).experiment(), sine(2).experiment(),
		branin(1, 1).experiment(), branin(2, 1).experiment(), branin(1, 0.5).experiment(),
		fel(1).experiment(), fel(0.5).experiment(), fel(2).experiment(), fel(5).experiment(),
		forest(20).experiment(), forest(100).experiment(),
	}
}

func (r problem) experiment() *experiment.Experiment {
	metrics := []experiment.Metric{experiment.ReportedRegret, experiment.RecommendedRegret, experiment.FinalCumulativeRegret,
		experiment.CumulativeRegretBetween(r.steps/3+1, r.steps), experiment.ReportedRegretAt(r.steps / 3)}
	if r.quiet != "" {
		metrics = slices.Concat([]experiment.Metric{experiment.ReportedShare(r.quiet), experiment.ReportedRegret, experiment.Share(r.quiet)},
			metrics[1:], []experiment.Metric{experiment.Visited(r.quiet)})
	}
	return &experiment.Experiment{
		Name: "rahbo/" + r.name, Paper: paper, Figure: r.figure, About: r.about,
		Steps: r.steps, Initial: r.initial, Design: "sobol", Seeds: r.seeds,
		Draw: func(uint64) (*experiment.Problem, error) {
			if r.broken != nil {
				return nil, r.broken
			}
			return r.problem(), nil
		},
		Common: func(*experiment.Problem) policy.Spec {
			return policy.Spec{Confidence: "irgp", Beta: 2, Model: policy.Model{Kernel: "matern52", Hyperparameters: "fit"}}
		},
		// The paper reports every policy by its Corollary 1.1: the greatest lower bound of MV, from
		// the policy's own observations.
		Judge:       func(s *policy.Spec, _ *experiment.Problem) { s.Kind, s.Risk = "rahbo", r.alpha },
		ReportEvery: reportEvery,
		Competitors: competitors(r),
		Metrics:     metrics,
	}
}

// mv is the worth of a setting.
func (r problem) mv(x []float64) float64 {
	sd := r.noiseSD(x)
	return r.truth(x) - r.alpha*sd*sd
}

func (r problem) problem() *experiment.Problem {
	return &experiment.Problem{
		Variables: r.variables, ControlSets: experiment.HoldAll(len(r.variables)), Candidates: r.candidates, Shots: cmp.Or(r.shots, Shots),
		Truth: func(_ int, x []float64) float64 { return r.truth(x) },
		NoiseVariance: func(x []float64) float64 {
			sd := r.noiseSD(x)
			return sd * sd
		},
		Worth:  func(_, _ int, x []float64) float64 { return r.mv(x) },
		Best:   experiment.Always(r.best()),
		Places: r.places,
	}
}

// best is the greatest worth.
func (r problem) best() float64 {
	if len(r.candidates) > 0 {
		best := math.Inf(-1)
		for _, x := range r.candidates {
			best = max(best, r.mv(x))
		}
		return best
	}
	x := make([]float64, len(r.variables))
	user := func(u []float64) []float64 {
		for i, v := range r.variables {
			x[i] = v.Low + u[i]*(v.High-v.Low)
		}
		return x
	}
	h := landscape.Hill{Dims: len(r.variables), Screen: 4000, Polish: 16, Value: func(u []float64) float64 { return r.mv(user(u)) }}
	_, best := h.Top()
	return best
}

// suffix writes alpha into a name where it is not 1.
func suffix(alpha float64) string {
	if alpha == 1 {
		return ""
	}
	return "-alpha-" + strconv.FormatFloat(alpha, 'f', -1, 64)
}

func about(what string, scale, alpha float64) string {
	return fmt.Sprintf("%s, noise scale %g, alpha %g", what, scale, alpha)
}

// competitors are the policies of the paper's figures, ours among them. All that
// are compared in pairs share the confidence parameter.
func competitors(r problem) []experiment.Competitor {
	averse := func(set func(s *policy.Spec)) func(*policy.Spec, *experiment.Problem) {
		return func(s *policy.Spec, _ *experiment.Problem) {
			s.Risk = r.alpha
			set(s)
		}
	}
	constant := func(s *policy.Spec) { s.Confidence = "constant" }
	return []experiment.Competitor{
		{Name: "rahbo", About: "ours: log variance model, randomised confidence, refit every 5 steps", Kind: "rahbo", Set: averse(func(*policy.Spec) {})},
		{Name: "gp-ucb-heteroscedastic", About: "the same without the risk term", Kind: "gp-ucb-heteroscedastic", Set: nil},
		{Name: "gp-ucb", About: "the same with one noise for all settings", Kind: "gp-ucb", Set: func(s *policy.Spec, _ *experiment.Problem) { s.ConfidenceSetting = "wide" }},
		{Name: "rahbo-known-variance", About: "rahbo, told the noise variance", Kind: "rahbo-known-variance", Set: func(s *policy.Spec, p *experiment.Problem) {
			s.Risk, s.NoiseVariance = r.alpha, p.NoiseVariance
		}},
		{Name: "rahbo-us", About: "rahbo after 10 additional steps that explore the noise", Kind: "rahbo-us", Additional: exploring, Set: averse(func(s *policy.Spec) { s.ExploreSteps = exploring })},
		{Name: "rahbo-beta-2", About: "rahbo with the constant confidence 2", Kind: "rahbo", Set: averse(constant)},
		{Name: "gp-ucb-heteroscedastic-beta-2", About: "the same without the risk term", Kind: "gp-ucb-heteroscedastic", Set: func(s *policy.Spec, _ *experiment.Problem) { constant(s) }},
		{Name: "rahbo-paper", About: "to the letter: raw variances with a bound that may be negative, confidence 2, zero means, one fit by maximum likelihood on the initial points", Kind: "rahbo", Set: averse(func(s *policy.Spec) {
			s.Confidence, s.VarianceModel, s.Model.RefitEvery, s.Model.MaximumLikelihood = "constant", "raw", neverAgain, true
		})},
		{Name: "rahbo-raw", About: "the same with our priors of the hyperparameters, means and a bound of zero at least", Kind: "rahbo", Set: averse(func(s *policy.Spec) {
			s.Confidence, s.VarianceModel, s.Model.RefitEvery = "constant", "raw", neverAgain
		})},
		{Name: "random", About: "uniform settings", Kind: "random", Set: averse(func(*policy.Spec) {})},
	}
}

// exploring is the number of steps of RAHBO-US's first stage, beside the T that count (their
// appendix A.6.2).
const exploring = 10

// neverAgain steps between fits leave the first one in force for a whole experiment.
const neverAgain = 1 << 20
