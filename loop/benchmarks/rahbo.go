package benchmarks

import (
	"fmt"
	"strconv"

	"github.com/labtuner/tuner/loop/policy"
)

// The experiments of Makarova, Usmanova, Bogunovic and Krause, "Risk-averse
// Heteroscedastic Bayesian Optimization" (NeurIPS 2021). A step is a batch of k = 10
// shots with the noise standard deviation rho(x), and its worth is
//
//	MV(x) = f(x) - alpha rho(x)^2
//
// Their code calls rho a variance and multiplies normal deviates with it; here it is
// the standard deviation, and regret is counted with the variance rho^2. The figures'
// noise scale and alpha are not stated: both scales of their configurations and alpha
// 1 and 0.5 are here. Regret counts the T steps after the initial design.

// rahboProblem is one of the objectives.
type rahboProblem struct {
	name, about, figure   string
	steps, initial, seeds int
	alpha                 float64
	variables             []policy.Variable
	truth                 func(x []float64) float64
	noiseSD               func(x []float64) float64
	places                []Place
	quiet                 string // the place that MV prefers
}

const (
	rahboPaper = "Makarova et al., NeurIPS 2021"
	rahboShots = 10
)

func rahboExperiments() []*Experiment {
	return []*Experiment{
		rahboSine(1).experiment(), rahboSine(2).experiment(),
		rahboBranin(1, 1).experiment(), rahboBranin(2, 1).experiment(), rahboBranin(1, 0.5).experiment(),
		rahboFEL().experiment(),
	}
}

func (r rahboProblem) experiment() *Experiment {
	return &Experiment{
		Name: "rahbo/" + r.name, Paper: rahboPaper, Figure: r.figure, About: r.about,
		Steps: r.steps, Initial: r.initial, Design: "sobol", Seeds: r.seeds,
		Draw: func(uint64) (*Problem, error) { return r.problem(), nil },
		Common: func(*Problem) policy.Spec {
			return policy.Spec{Confidence: "irgp", Beta: 2, Model: policy.Model{Kernel: "matern52", Hyperparameters: "fit"}}
		},
		Competitors: rahboCompetitors(r),
		Metrics: []Metric{Share(r.quiet), RecommendedRegret, FinalCumulativeRegret,
			CumulativeRegretBetween(r.steps/3+1, r.steps)},
	}
}

// mv is the worth of a setting.
func (r rahboProblem) mv(x []float64) float64 {
	sd := r.noiseSD(x)
	return r.truth(x) - r.alpha*sd*sd
}

func (r rahboProblem) problem() *Problem {
	x := make([]float64, len(r.variables))
	user := func(u []float64) []float64 {
		for i, v := range r.variables {
			x[i] = v.Low + u[i]*(v.High-v.Low)
		}
		return x
	}
	h := hill{dims: len(r.variables), screen: 4000, polish: 16, value: func(u []float64) float64 { return r.mv(user(u)) }}
	_, best := h.top()
	return &Problem{
		Variables: r.variables, ControlSets: full(len(r.variables)), Shots: rahboShots,
		Truth: func(_ int, x []float64) float64 { return r.truth(x) },
		NoiseVariance: func(x []float64) float64 {
			sd := r.noiseSD(x)
			return sd * sd
		},
		Worth:  func(_, _ int, x []float64) float64 { return r.mv(x) },
		Best:   always(best),
		Places: r.places,
	}
}

// suffix writes alpha into a name where it is not 1.
func suffix(alpha float64) string {
	if alpha == 1 {
		return ""
	}
	return "-alpha-" + strconv.FormatFloat(alpha, 'f', -1, 64)
}

func rahboAbout(what string, scale, alpha float64) string {
	return fmt.Sprintf("%s, noise scale %g, alpha %g", what, scale, alpha)
}

// rahboCompetitors are the policies of the paper's figures, ours among them. All that
// are compared in pairs share the confidence parameter.
func rahboCompetitors(r rahboProblem) []Competitor {
	averse := func(set func(s *policy.Spec)) func(*policy.Spec, *Problem) {
		return func(s *policy.Spec, _ *Problem) {
			s.Risk = r.alpha
			set(s)
		}
	}
	constant := func(s *policy.Spec) { s.Confidence = "constant" }
	return []Competitor{
		{"rahbo", "ours: log variance model, randomised confidence, refit every 5 steps", "rahbo", averse(func(*policy.Spec) {})},
		{"gp-ucb-heteroscedastic", "the same without the risk term", "gp-ucb-heteroscedastic", nil},
		{"gp-ucb", "the same with one noise for all settings", "gp-ucb", func(s *policy.Spec, _ *Problem) { s.ConfidenceSetting = "wide" }},
		{"rahbo-known-variance", "rahbo, told the noise variance", "rahbo-known-variance", func(s *policy.Spec, p *Problem) {
			s.Risk, s.NoiseVariance = r.alpha, p.NoiseVariance
		}},
		{"rahbo-us", "rahbo after 10 steps that explore the noise", "rahbo-us", averse(func(*policy.Spec) {})},
		{"rahbo-beta-2", "rahbo with the constant confidence 2", "rahbo", averse(constant)},
		{"gp-ucb-heteroscedastic-beta-2", "the same without the risk term", "gp-ucb-heteroscedastic", func(s *policy.Spec, _ *Problem) { constant(s) }},
		{"rahbo-paper", "to the letter: raw variances, confidence 2, one fit on the initial points", "rahbo", averse(func(s *policy.Spec) {
			s.Confidence, s.VarianceModel, s.Model.RefitEvery = "constant", "raw", neverAgain
		})},
		{"random", "uniform settings", "random", averse(func(*policy.Spec) {})},
	}
}

// neverAgain steps between fits leave the first one in force for a whole experiment.
const neverAgain = 1 << 20
