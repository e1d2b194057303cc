// Package priors holds the experiments of Sandberg and Chehreghani on the
// selection of priors (arXiv 2502.01226). The synthetic ones: 500 arms, equally spaced on [0, 20], T = 500,
// noise standard deviation 0.25. The objective is drawn from one of several priors, each
// as likely as the others; the policies know the priors and not which one it is. Regret is
// cumulative. The squared exponential is exp(-r^2/(2 l^2)), which agrees with their
// figures (their text leaves out the 2). The recorded ones are stand-ins, room and road.
package priors

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/gpcore/sampling"
	"github.com/labtuner/tuner/loop/benchmarks/experiment"
	"github.com/labtuner/tuner/loop/policy"
)

const (
	priorsPaper   = "Sandberg and Chehreghani, arXiv 2502.01226"
	priorsArms    = 500
	priorsHigh    = 20.0
	priorsNoiseSD = 0.25
	priorsSteps   = 500
	priorsSeeds   = 500
	priorsDelta   = 0.05
)

// prior is one hypothesis.
type prior struct {
	name string
	// kernel makes the covariance over x/unit: unit 1 for x itself, 20 for coordinates
	// that go from 0 to 1.
	kernel func(unit float64) kernels.Kernel
	mean   func(x float64) float64 // nil: zero
}

// told is the prior as a policy is told it.
func (p prior) told() policy.Prior {
	out := policy.Prior{Custom: p.kernel(priorsHigh), NoiseSD: priorsNoiseSD}
	if p.mean != nil {
		out.MeanOf = func(x []float64) float64 { return p.mean(x[0]) }
	}
	return out
}

// Experiments lists them.
func Experiments() []*experiment.Experiment {
	return []*experiment.Experiment{priorsKernel(), priorsLengthscale(), priorsHill(), room().experiment(), road().experiment()}
}

// arms draws objectives from a list of priors. It is safe for concurrent use: the
// factors of the priors' covariances are made once, at first use.
type arms struct {
	name   string
	priors []prior
	x      []float64
	mutex  sync.Mutex
	finite []*sampling.Finite
}

func newArms(name string, priors []prior) *arms {
	a := &arms{name: name, priors: priors, x: make([]float64, priorsArms), finite: make([]*sampling.Finite, len(priors))}
	for i := range a.x {
		a.x[i] = priorsHigh * float64(i) / (priorsArms - 1)
	}
	return a
}

// draw sets f to a draw of the objective from prior k at all arms.
func (a *arms) draw(k int, f []float64, rng *rand.Rand) error {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	chosen := a.priors[k]
	kernel := chosen.kernel(1)
	if a.finite[k] == nil {
		made, err := sampling.NewFinite(kernel, a.x)
		if err != nil {
			return fmt.Errorf("priors/%s: prior %q: %w", a.name, chosen.name, err)
		}
		a.finite[k] = made
	}
	if err := a.finite[k].Draw(rng, f, gpcore.New(kernel, 1), nil); err != nil {
		return fmt.Errorf("priors/%s: prior %q: %w", a.name, chosen.name, err)
	}
	if chosen.mean != nil {
		for i := range f {
			f[i] += chosen.mean(a.x[i])
		}
	}
	return nil
}

// priorsExperiment compares policies on objectives drawn from a list of priors.
func priorsExperiment(name, figure, about string, priors []prior) *experiment.Experiment {
	return &experiment.Experiment{
		Name: "priors/" + name, Paper: priorsPaper, Figure: figure, About: about,
		Steps: priorsSteps, Seeds: priorsSeeds, Design: "random",
		Draw: newArms(name, priors).problem,
		Common: func(*experiment.Problem) policy.Spec {
			s := policy.Spec{Confidence: "srinivas", Beta: 2, Delta: priorsDelta,
				Model: policy.Model{Kernel: "se", Hyperparameters: "priors"}}
			for _, p := range priors {
				s.Model.Priors = append(s.Model.Priors, p.told())
			}
			return s
		},
		Competitors: priorsCompetitors(),
		Metrics:     []experiment.Metric{experiment.FinalCumulativeRegret, experiment.TruePriorShare, experiment.EliminatedPriors, experiment.FinalEntropy, experiment.FinalSimpleRegret},
	}
}

// problem draws a seed's prior and the objective from it.
func (a *arms) problem(seed uint64) (*experiment.Problem, error) {
	p := &experiment.Problem{
		Variables:   experiment.Variables([]string{"x"}, [][2]float64{{0, priorsHigh}}),
		ControlSets: experiment.HoldAll(1), Shots: 1,
		NoiseVariance: experiment.Constantly(priorsNoiseSD * priorsNoiseSD),
		Priors:        len(a.priors),
		Prior:         experiment.Stream(seed, experiment.ForPrior, 0).IntN(len(a.priors)),
	}
	for _, x := range a.x {
		p.Candidates = append(p.Candidates, []float64{x})
	}
	f := make([]float64, priorsArms)
	if err := a.draw(p.Prior, f, experiment.Stream(seed, experiment.ForTruth, 0)); err != nil {
		return nil, err
	}
	p.Best = experiment.Always(slices.Max(f))
	p.Truth = func(_ int, x []float64) float64 { return f[int(math.Round(x[0]/priorsHigh*(priorsArms-1)))] }
	return p, nil
}

// priorsCompetitors are the policies of the paper's figures. The oracles are told the
// true prior.
func priorsCompetitors() []experiment.Competitor {
	oracle := func(s *policy.Spec, p *experiment.Problem) { s.Model.Priors = s.Model.Priors[p.Prior : p.Prior+1] }
	return []experiment.Competitor{
		{Name: "pe-gp-ts", About: "prior elimination with Thompson sampling", Kind: "pe-gp-ts", Set: nil},
		{Name: "hp-gp-ts", About: "hyperposterior sampling with Thompson sampling", Kind: "hp-gp-ts", Set: nil},
		{Name: "map-gp-ts", About: "the most probable prior with Thompson sampling", Kind: "map-gp-ts", Set: nil},
		{Name: "pe-gp-ucb", About: "prior elimination with upper bounds", Kind: "pe-gp-ucb", Set: nil},
		{Name: "oracle-gp-ts", About: "Thompson sampling, told the prior", Kind: "gp-ts", Set: oracle},
		{Name: "oracle-gp-ucb", About: "upper bounds, told the prior", Kind: "gp-ucb", Set: oracle},
		{Name: "random", About: "uniform settings", Kind: "random", Set: nil},
	}
}
