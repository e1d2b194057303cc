// Package cvs holds the experiments of Tay, Foo, Urano, Leong and Low, "Bayesian
// Optimization with Cost-varying Variable Subsets" (NeurIPS 2023), with the constants
// of their code (github.com/sebtsh/bocvs):
//
//	random variables   independent normals around the middle of the range, truncated to it
//	variance           0.02, 0.04 or 0.08 of the range squared, after the truncation; ours as well:
//	                   0.01 and 0.06 (a twelfth, the uniform distribution's, is the bound)
//	worth of a step    mean over 1024 draws of the random variables, drawn once per seed
//	best worth         the greatest of these means over all control sets
//	noise              standard deviation 0.01
//	initial            5 uniform settings of all variables, neither charged nor counted
//	model              squared exponential, zero mean, variance 1, fixed lengthscale
//	confidence         2 standard deviations
//
// Costs are decimal numbers and are added up exactly: in their code 50 - 40*0.1 -
// 20*0.2 leaves a little less than 42, and one play is lost. A step is played while any
// control set fits the rest of the budget; their code ends at the first choice that
// does not fit.
package cvs

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/labtuner/tuner/loop/benchmarks/experiment"
	"github.com/labtuner/tuner/loop/benchmarks/landscape"
	"github.com/labtuner/tuner/loop/policy"
)

const (
	Draws   = 1024
	given   = 5
	noiseSD = 0.01
	paper   = "Tay et al., NeurIPS 2023"
)

// truth is an objective on the unit cube with expectations over sampled axes.
type truth interface {
	At(u []float64) float64
	// Expectation is the mean over the draws of the axes that are not controlled, as a
	// function of the others.
	Expectation(controlled []bool, draws [][]float64) func(u []float64) float64
	Marks() [][]float64
}

// Family is one of the four objectives.
type Family struct {
	Name, about string
	Variables   []policy.Variable
	sets        [][]int // variables that each control set holds
	lengthscale float64 // of the policies' model, as a fraction of the range
	budget      float64
	// coarse is how many draws stand for all of them while a maximum is searched
	// from far; 0: all.
	coarse, screen, polish int
	truth                  func(seed uint64) (truth, error)
}

// subsets are the control sets of the two three-dimensional problems.
var subsets = [][]int{{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}}

// costs are the three cost sets: of the first three control sets, the next three
// and the last one.
var costs = []struct {
	name  string
	costs [3]float64
}{
	{"cheap", [3]float64{0.01, 0.1, 1}},
	{"moderate", [3]float64{0.1, 0.2, 1}},
	{"expensive", [3]float64{0.6, 0.8, 1}},
}

// variances are the variances of the random variables with the standard deviation
// before truncation that gives them (their code finds it by bisection).
var variances = []struct{ variance, sd float64 }{{0.02, sdOfFiftieth}, {0.04, 0.213548}, {0.08, 0.906028}, {0.01, 0.100001}, {0.06, 0.322503}}

// sdOfFiftieth is the standard deviation before truncation that gives a variance of 0.02.
const sdOfFiftieth = 0.141821

// Experiments lists them.
func Experiments() []*experiment.Experiment {
	var out []*experiment.Experiment
	for _, f := range []Family{GPSample(), Hartmann(), Plant(), Airfoil()} {
		for _, c := range costs {
			for _, v := range variances {
				out = append(out, f.experiment(c.name, c.costs, landscape.Truncated{SD: v.sd}, v.variance))
			}
		}
	}
	return out
}

func (f Family) experiment(costName string, costs [3]float64, around landscape.Truncated, variance float64) *experiment.Experiment {
	sets := f.ControlSets(costs)
	text := strconv.FormatFloat(variance, 'f', -1, 64)
	return &experiment.Experiment{
		Name:  fmt.Sprintf("cvs/%s-%s-%s", f.Name, costName, text),
		Paper: paper, Figure: "2 and 3",
		About:  fmt.Sprintf("%s, %s costs, random variables of variance %s", f.about, costName, text),
		Budget: f.budget, Seeds: 10, Design: "random",
		Draw:        func(seed uint64) (*experiment.Problem, error) { return f.Problem(seed, sets, around) },
		Common:      f.common,
		Competitors: competitors(),
		Metrics:     []experiment.Metric{experiment.FinalSimpleRegret, experiment.RecommendedRegret, experiment.FinalCumulativeRegret, experiment.CostWeightedRegret, experiment.StepsTaken},
	}
}

func (f Family) ControlSets(costs [3]float64) []policy.ControlSet {
	out := make([]policy.ControlSet, len(f.sets))
	for i, set := range f.sets {
		out[i] = policy.ControlSet{Controlled: make([]bool, len(f.Variables)), Cost: costs[i/3]}
		for _, v := range set {
			out[i].Controlled[v] = true
		}
	}
	return out
}

// Problem draws a seed's objective, sample and initial settings, and finds the best
// worth.
func (f Family) Problem(seed uint64, sets []policy.ControlSet, around landscape.Truncated) (*experiment.Problem, error) {
	truth, err := f.truth(seed)
	if err != nil {
		return nil, err
	}
	d := len(f.Variables)
	draws := make([][]float64, Draws)
	rng := experiment.Stream(seed, experiment.ForExpectation, 0)
	for k := range draws {
		draws[k] = make([]float64, d)
		around.Draw(rng, draws[k])
	}
	worths := make([]func([]float64) float64, len(sets))
	bests := make([]float64, len(sets))
	for i, set := range sets {
		worths[i] = truth.Expectation(set.Controlled, draws)
		bests[i] = f.greatest(truth, set.Controlled, draws, worths[i])
	}
	p := &experiment.Problem{
		Variables: f.released(around), ControlSets: sets, Shots: 1,
		NoiseVariance: experiment.Constantly(noiseSD * noiseSD),
		Truth:         func(_ int, x []float64) float64 { return truth.At(f.unit(x)) },
		Worth:         func(_, set int, x []float64) float64 { return worths[set](f.unit(x)) },
		Best:          experiment.Always(slices.Max(bests)),
		Excess:        func(set int, worth float64) float64 { return excess(sets, bests, set, worth) },
	}
	p.Draw = func(rng *rand.Rand, x []float64) {
		around.Draw(rng, x)
		f.User(x)
	}
	rng = experiment.Stream(seed, experiment.ForGiven, 0)
	for range given {
		x := make([]float64, d)
		for i := range x {
			x[i] = rng.Float64()
		}
		p.Given = append(p.Given, f.User(x))
	}
	return p, nil
}

// excess is how much more a control set costs than the cheapest of those whose best is worth this much at least.
func excess(sets []policy.ControlSet, bests []float64, set int, worth float64) float64 {
	least := sets[set].Cost
	for i := range sets {
		if bests[i] >= worth {
			least = min(least, sets[i].Cost)
		}
	}
	return sets[set].Cost - least
}

// greatest is the greatest worth of one control set. Where exact is slow, the search
// climbs a mean over fewer draws first.
func (f Family) greatest(truth truth, controlled []bool, draws [][]float64, exact func([]float64) float64) float64 {
	if f.coarse == 0 || !slices.Contains(controlled, false) {
		return f.climbed(truth, controlled, nil, exact)
	}
	return f.climbed(truth, controlled, truth.Expectation(controlled, draws[:f.coarse]), exact)
}

// climbed is the greatest of exact; where coarse is not nil it is climbed first.
func (f Family) climbed(truth truth, controlled []bool, coarse, exact func([]float64) float64) float64 {
	var axes []int
	for i, c := range controlled {
		if c {
			axes = append(axes, i)
		}
	}
	u := make([]float64, len(controlled))
	for i := range u {
		u[i] = 0.5
	}
	over := func(g func([]float64) float64) func([]float64) float64 {
		return func(at []float64) float64 {
			for k, i := range axes {
				u[i] = at[k]
			}
			return g(u)
		}
	}
	h := landscape.Hill{Dims: len(axes), Value: over(exact), Screen: f.screen, Polish: f.polish}
	if coarse != nil {
		h.Value = over(coarse)
	}
	for _, m := range truth.Marks() {
		at := make([]float64, len(axes))
		for k, i := range axes {
			at[k] = m[i]
		}
		h.Marks = append(h.Marks, at)
	}
	at, value := h.Top()
	if coarse != nil {
		h.Value = over(exact)
		value = h.Climb(at, h.Value(at))
	}
	return value
}

// released are the variables with what they do when they are left alone.
func (f Family) released(around landscape.Truncated) []policy.Variable {
	out := make([]policy.Variable, len(f.Variables))
	for i, v := range f.Variables {
		v.Random = policy.Distribution{Kind: policy.TruncatedNormal, Mean: (v.Low + v.High) / 2, SD: around.SD * (v.High - v.Low)}
		out[i] = v
	}
	return out
}

// unit maps a setting to the unit cube, in a new slice; NaN stays.
func (f Family) unit(x []float64) []float64 {
	u := make([]float64, len(x))
	for i, v := range f.Variables {
		u[i] = (x[i] - v.Low) / (v.High - v.Low)
	}
	return u
}

// User maps a point of the unit cube to the variables' units, in place.
func (f Family) User(u []float64) []float64 {
	for i, v := range f.Variables {
		u[i] = v.Low + u[i]*(v.High-v.Low)
	}
	return u
}

// common is the model that all policies are given.
func (f Family) common(*experiment.Problem) policy.Spec {
	lengthscale := make([]float64, len(f.Variables))
	for i := range lengthscale {
		lengthscale[i] = f.lengthscale
	}
	return policy.Spec{Confidence: "constant", Beta: 2,
		Model: policy.Model{Kernel: "se", Hyperparameters: "fixed", Lengthscale: lengthscale, Outputscale: 1, NoiseSD: noiseSD}}
}

// competitors are the policies of the paper's figures, and what they are compared
// with.
func competitors() []experiment.Competitor {
	return []experiment.Competitor{
		{Name: "ucb-cvs-etc-ada", About: "explore then commit, floor(4/cost) plays of each group of equal cost", Kind: "ucb-cvs-etc-ada", Set: nil},
		{Name: "ucb-cvs-etc-50", About: "explore then commit, 50 plays of each group", Kind: "ucb-cvs-etc-50", Set: nil},
		{Name: "ucb-cvs-etc-100", About: "explore then commit, 100 plays of each group", Kind: "ucb-cvs-etc-100", Set: nil},
		{Name: "ucb-cvs-epsilon", About: "Algorithm 1 with epsilon falling from 2 to 0 in 50 plays (our schedule)", Kind: "ucb-cvs", Set: fallingEpsilon},
		{Name: "ucb-cvs-auto", About: "the cheapest group for a share of the budget that its cost gives, then the greatest possible gain for its price (ours)", Kind: "ucb-cvs", Set: untuned},
		{Name: "ucb-psq", About: "upper bounds without costs: the full control set where there is one", Kind: "ucb-psq", Set: nil},
		{Name: "ts-psq", About: "Thompson sampling without costs", Kind: "ts-psq", Set: nil},
		{Name: "ei-psq", About: "expected improvement without costs", Kind: "ei-psq", Set: nil},
		{Name: "ei-psq-paper", About: "expected improvement of the expected value, as the paper has it, without costs", Kind: "ei-psq", Set: ofExpectation},
		{Name: "ucb-psq-per-cost", About: "upper bounds per unit of cost", Kind: "ucb-psq-per-cost", Set: nil},
		{Name: "ts-psq-per-cost", About: "Thompson sampling per unit of cost", Kind: "ts-psq-per-cost", Set: nil},
		{Name: "ei-psq-per-cost", About: "expected improvement per unit of cost", Kind: "ei-psq-per-cost", Set: nil},
		{Name: "ei-psq-per-cost-paper", About: "expected improvement of the expected value, as the paper has it, per unit of cost", Kind: "ei-psq-per-cost", Set: ofExpectation},
		{Name: "pbgi", About: "Gittins index of Pandora's box", Kind: "pbgi", Set: nil},
		{Name: "costids", About: "information per cost: CostIDS with rho 2", Kind: "costids", Set: leeway},
		{Name: "random", About: "uniform settings, the control sets in turn", Kind: "random", Set: nil},
	}
}

// ofExpectation takes the paper's improvement in place of ours.
func ofExpectation(s *policy.Spec, _ *experiment.Problem) { s.Acquisition = "nei" }

// leeway lets CostIDS take up to twice the best information ratio for a cheaper step.
func leeway(s *policy.Spec, _ *experiment.Problem) { s.Rho = 2 }

// untuned takes our schedule, which has no number to set.
func untuned(s *policy.Spec, _ *experiment.Problem) { s.Schedule = "auto" }

// fallingEpsilon is a schedule for Algorithm 1. The paper gives none; its code once
// had a linear one that began at 2.
func fallingEpsilon(s *policy.Spec, _ *experiment.Problem) {
	const plays = 50
	s.Schedule = "epsilon"
	for k := range plays + 1 {
		s.Epsilon = append(s.Epsilon, 2*float64(plays-k)/plays)
	}
}
