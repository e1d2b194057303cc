// Package tracking holds experiments on a drifting optimum, ours: an objective between 0 and 1 on [-2, 2]^d
// whose optimum moves for 2000 steps, slowly or in one jump, with a noise standard
// deviation of 0.03. Every step counts. Regret is that of the step's own time. Besides
// the regret of what is tried, the held set-point is judged: what a user would be told
// to set, asked every tenth step from step 300 on.
package tracking

import (
	"math"

	"github.com/labtuner/tuner/loop/benchmarks/experiment"
	"github.com/labtuner/tuner/loop/policy"
)

const (
	steps    = 2000
	noiseSD  = 0.03
	capacity = 128
)

// moving is an objective with the place of its optimum at each step.
type moving struct {
	name, about string
	dims        int
	centre      func(step int) []float64
	// shape is the objective at this displacement from the centre, with its maximum 1
	// at zero.
	shape func(r []float64) float64
}

// Experiments lists them.
func Experiments() []*experiment.Experiment {
	var out []*experiment.Experiment
	for _, m := range []moving{
		bump("bump2-slow", 2, slowly), bump("bump2-jump", 2, jumping),
		bump("bump4-slow", 4, slowly), bump("bump4-jump", 4, jumping),
		resonance("resonance3-slow", circling), resonance("resonance3-jump", leaping),
		twoPeaks("peaks2-slow", circling), twoPeaks("peaks2-jump", leaping),
	} {
		out = append(out, m.experiment())
	}
	return out
}

func (m moving) experiment() *experiment.Experiment {
	bounds, names := make([][2]float64, m.dims), make([]string, m.dims)
	for i := range bounds {
		bounds[i], names[i] = [2]float64{-2, 2}, "x"+experiment.Short(float64(i+1))
	}
	return &experiment.Experiment{
		Name: "tracking/" + m.name, Paper: "ours", Figure: "-", About: m.about,
		Steps: steps, Initial: 2 << m.dims, Design: "sobol", CountInitial: true, Seeds: 20,
		Hold: experiment.Hold{From: 300, Every: 10},
		Draw: func(uint64) (*experiment.Problem, error) {
			return &experiment.Problem{
				Variables: experiment.Variables(names, bounds), ControlSets: experiment.HoldAll(m.dims), Shots: 1,
				NoiseVariance: experiment.Constantly(noiseSD * noiseSD),
				Truth:         m.truth, Best: experiment.Always(1),
			}, nil
		},
		Common: func(*experiment.Problem) policy.Spec {
			lengthscale := make([]float64, m.dims)
			for i := range lengthscale {
				lengthscale[i] = 0.1 // of the range: 0.4
			}
			return policy.Spec{Confidence: "constant", Beta: 2, Model: policy.Model{Kernel: "se", Hyperparameters: "fixed",
				Lengthscale: lengthscale, Outputscale: 1, NoiseSD: noiseSD, Capacity: capacity}}
		},
		Competitors: competitors(),
		Metrics:     []experiment.Metric{experiment.AverageRegret, experiment.HeldRegret, experiment.AverageRegretFrom(300), experiment.JumpsNoticed},
	}
}

func (m moving) truth(step int, x []float64) float64 {
	r := m.centre(step)
	for i := range r {
		r[i] = x[i] - r[i]
	}
	return m.shape(r)
}

// along is a place on the diagonal at this distance from the middle.
func along(dims int, distance float64) []float64 {
	c := make([]float64, dims)
	for i := range c {
		c[i] = distance / math.Sqrt(float64(dims))
	}
	return c
}

// slowly moves along the diagonal by 40 % of the range (1.6) in 1000 steps, and back.
func slowly(dims, step int) []float64 {
	phase := math.Mod(float64(step-1)/1000, 2)
	return along(dims, -0.8+1.6*(1-math.Abs(1-phase)))
}

// jumping moves once, between steps 1000 and 1001, along the diagonal by 1.8.
func jumping(dims, step int) []float64 {
	if step <= 1000 {
		return along(dims, -0.9)
	}
	return along(dims, 0.9)
}

// circling goes once round a circle of radius 0.7 in the first two variables, and half
// as far up and down in a third.
func circling(dims, step int) []float64 {
	angle := 2 * math.Pi * float64(step-1) / steps
	c := []float64{0.7 * math.Cos(angle), 0.7 * math.Sin(angle), 0.35 * math.Cos(angle)}
	return c[:dims]
}

// leaping moves once, between steps 700 and 701, by 1.6 in the first variable and 0.8
// in the second.
func leaping(dims, step int) []float64 {
	c := []float64{0.9, -0.3, 0.2}
	if step > 700 {
		c = []float64{-0.7, 0.5, 0.2}
	}
	return c[:dims]
}

// competitors are ways to follow an optimum.
func competitors() []experiment.Competitor {
	drift := func(d policy.Drift, beta float64) func(*policy.Spec, *experiment.Problem) {
		return func(s *policy.Spec, _ *experiment.Problem) { s.Drift, s.Beta = d, beta }
	}
	return []experiment.Competitor{
		{Name: "track", About: "ours: time kernel of 1000 steps, a hold with small steps after a search, detection of jumps", Kind: "track", Set: nil},
		{Name: "time-kernel", About: "time kernel of 500 steps over the whole domain, confidence 1", Kind: "gp-ucb", Set: drift(policy.Drift{Timescale: []float64{500}}, 1)},
		{Name: "time-kernel-set", About: "the same with the timescale from a prior set up to 2000 steps", Kind: "gp-ucb",
			Set: drift(policy.Drift{Timescale: []float64{125, 500, 2000}}, 1)},
		{Name: "gp-ucb", About: "blind to time, confidence 2", Kind: "gp-ucb", Set: nil},
		{Name: "random", About: "uniform settings", Kind: "random", Set: nil},
	}
}
