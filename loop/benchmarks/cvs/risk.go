package cvs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/labtuner/tuner/gpcore/sobol"
	"github.com/labtuner/tuner/loop/benchmarks/experiment"
	"github.com/labtuner/tuner/loop/benchmarks/landscape"
	"github.com/labtuner/tuner/loop/policy"
)

// risky is what neither paper has, and what tuner is for: the mean-variance objective of
// Makarova et al. over the control sets of Tay et al.,
//
//	MV_i(c) = E_R[f(c, R)] - alpha ( E_R[rho^2(c, R)] + Var_R[f(c, R)] ),
//
// for Hartmann's function and the plant with moderate costs and random variables of variance
// 0.02, each shot with a draw of its own. The noise is steep in one variable. Expectations of the
// truth are over 512 scrambled Sobol points. Five uniform settings of all variables are given. All is learnt, the noise
// from the shots of steps that leave nothing random and from the errors of single shots; all
// policies are reported by the same rule, the lower bound of MV from their own data.
type risky struct {
	Family
	steep  int     // the variable along which the noise rises
	budget float64 // of experiments with a full control set
	less   float64 // of those without one
	full   bool    // the control set that holds all variables is listed
	alpha  float64
}

const (
	riskDraws = 512
	riskShots = 4
	quietSD   = 0.05
	loudSD    = 0.8 // more at the upper end of the steep variable
)

// RiskExperiments lists them.
func RiskExperiments() []*experiment.Experiment {
	var out []*experiment.Experiment
	for _, of := range []risky{{Family: Hartmann(), steep: 0, budget: 28, less: 24}, {Family: Plant(), steep: 0, budget: 200, less: 24}} {
		for _, alpha := range []float64{0, 0.5, 1, 2} {
			for _, full := range []bool{true, false} {
				of.alpha, of.full = alpha, full
				out = append(out, of.experiment())
			}
		}
	}
	return out
}

func (r risky) experiment() *experiment.Experiment {
	name, about := "risk-cvs/"+r.Name+"-"+strconv.FormatFloat(r.alpha, 'f', -1, 64), "listed"
	if !r.full {
		name, about = name+"-subsets", "not listed"
		r.budget = r.less
	}
	return &experiment.Experiment{
		Name: name, Paper: "ours, of " + paper + " and Makarova et al., NeurIPS 2021", Figure: "none",
		About:  fmt.Sprintf("%s, noise steep in one variable, alpha %g, the full control set %s", r.about, r.alpha, about),
		Budget: r.budget, Seeds: 30, Design: "random",
		Draw: r.problem,
		Common: func(*experiment.Problem) policy.Spec {
			return policy.Spec{Confidence: "constant", Beta: 2, Model: policy.Model{Kernel: "matern52", Hyperparameters: "priors"}}
		},
		Judge:       func(s *policy.Spec, _ *experiment.Problem) { s.Kind, s.Schedule, s.Risk = "ucb-cvs", "none", r.alpha },
		Competitors: r.competitors(),
		Metrics: []experiment.Metric{experiment.ReportedRegret, experiment.ReportedWithin(0.05), experiment.BoundHolds,
			experiment.FinalCumulativeRegret, experiment.CostWeightedRegret, experiment.StepsTaken},
	}
}

func (r risky) competitors() []experiment.Competitor {
	averse := func(acquisition string) func(*policy.Spec, *experiment.Problem) {
		return func(s *policy.Spec, _ *experiment.Problem) { s.Risk, s.Acquisition = r.alpha, acquisition }
	}
	out := []experiment.Competitor{
		{Name: "risk-ucb-cvs", About: "risk-averse UCB-CVS", Kind: "ucb-cvs-etc-ada", Set: averse("ucb")},
		{Name: "risk-ts-cvs", About: "its form by Thompson sampling", Kind: "ucb-cvs-etc-ada", Set: averse("ts")},
		{Name: "ucb-cvs", About: "UCB-CVS, blind to risk", Kind: "ucb-cvs-etc-ada"},
	}
	if r.full {
		out = append(out, experiment.Competitor{Name: "rahbo", About: "RAHBO on the full control set", Kind: "ucb-psq", Set: averse("ucb")})
	}
	return out
}

// noise is the standard deviation of a shot at a point of the unit cube.
func (r risky) noise(u []float64) float64 { return quietSD + loudSD*u[r.steep]*u[r.steep] }

func (r risky) problem(seed uint64) (*experiment.Problem, error) {
	truth, err := r.truth(seed)
	if err != nil {
		return nil, err
	}
	sets, around := r.ControlSets(costs[1].costs), landscape.Truncated{SD: sdOfFiftieth}
	if !r.full {
		sets = slices.DeleteFunc(sets, policy.ControlSet.Full)
	}
	d := len(r.Variables)
	draws := make([][]float64, riskDraws)
	sequence := sobol.NewScrambled(d, experiment.Stream(seed, experiment.ForExpectation, 0))
	for k := range draws {
		draws[k] = make([]float64, d)
		sequence.Point(draws[k], k)
		for i, p := range draws[k] {
			draws[k][i] = around.Quantile(p)
		}
	}
	worths := make([]func([]float64) float64, len(sets))
	best := math.Inf(-1)
	for i, set := range sets {
		worths[i] = r.worth(truth.At, set.Controlled, draws)
		best = max(best, r.greatestWorth(truth, set.Controlled, draws, worths[i]))
	}
	p := &experiment.Problem{
		Variables: r.released(around), ControlSets: sets, Shots: riskShots, PerShot: true,
		NoiseVariance: func(x []float64) float64 {
			sd := r.noise(r.unit(x))
			return sd * sd
		},
		Truth: func(_ int, x []float64) float64 { return truth.At(r.unit(x)) },
		Worth: func(_, set int, x []float64) float64 { return worths[set](r.unit(x)) },
		Best:  experiment.Always(best),
	}
	p.Draw = func(rng *rand.Rand, x []float64) {
		around.Draw(rng, x)
		r.User(x)
	}
	rng := experiment.Stream(seed, experiment.ForGiven, 0)
	for range given {
		x := make([]float64, d)
		for i := range x {
			x[i] = rng.Float64()
		}
		p.Given = append(p.Given, r.User(x))
	}
	return p, nil
}

// worth is MV over the draws of what is not controlled.
func (r risky) worth(at func([]float64) float64, controlled []bool, draws [][]float64) func(u []float64) float64 {
	if !slices.Contains(controlled, false) {
		draws = draws[:1]
	}
	return func(u []float64) float64 {
		x := make([]float64, len(u))
		mean, square, noise := 0.0, 0.0, 0.0
		for _, draw := range draws {
			for i, c := range controlled {
				if x[i] = draw[i]; c {
					x[i] = u[i]
				}
			}
			f, sd := at(x), r.noise(x)
			mean, square, noise = mean+f, square+f*f, noise+sd*sd
		}
		n := float64(len(draws))
		mean /= n
		return mean - r.alpha*(noise/n+max(square/n-mean*mean, 0))
	}
}

// greatestWorth climbs MV over few draws first, where some are needed.
func (r risky) greatestWorth(truth truth, controlled []bool, draws [][]float64, exact func([]float64) float64) float64 {
	f := r.Family
	f.coarse, f.screen, f.polish = 0, 600, 4
	coarse := r.worth(truth.At, controlled, draws[:32])
	return f.climbed(truth, controlled, coarse, exact)
}
