package experiment

import (
	"math"
	"math/rand/v2"

	"github.com/labtuner/tuner/loop/policy"
)

// Problem is what one seed of an experiment puts to a policy. It is used from one
// goroutine at a time.
type Problem struct {
	// Variables, ControlSets and Candidates are what every policy is told.
	Variables   []policy.Variable
	ControlSets []policy.ControlSet
	Candidates  [][]float64
	// Shots is the number of readings in a step.
	Shots int
	// PerShot says that each reading of a step has draws of its own, and is observed by itself
	// where something was random; else one draw holds for a step.
	PerShot bool

	// Truth is the objective without noise, to be maximised. step counts the
	// problem's time from 1, x has one value per variable, in its unit.
	Truth func(step int, x []float64) float64
	// NoiseVariance is the variance of one shot at x, in the objective's unit squared.
	NoiseVariance func(x []float64) float64
	// Draw sets every element of x to a draw of what that variable does when it is
	// left alone; nil where every control set holds every variable.
	Draw func(rng *rand.Rand, x []float64)

	// Worth is what regret counts for a setting of a control set; x is NaN where the
	// set leaves a variable random. Nil: Truth.
	Worth func(step, set int, x []float64) float64
	// Best is the greatest worth at a step.
	Best func(step int) float64
	// Charge is what a step costs; nil: the control set's cost.
	Charge func(set int, x []float64) float64
	// DrawCost is what a step with a control set costs, where that is random: its mean is the control set's
	// cost, and policies may read it after the step. Nil: Charge.
	DrawCost func(rng *rand.Rand, set int) float64
	// Excess is how much more a step with a control set costs on average than the cheapest of the sets that can be
	// worth as much; nil: it is not asked for.
	Excess func(set int, worth float64) float64

	// Given are settings of all variables that are measured before the first step,
	// at no cost and without being counted.
	Given [][]float64
	// Places are named settings, to say which of them a recommendation is nearest to.
	Places []Place
	// Priors is the number of priors that the policies know, 0 where the experiment is not
	// about priors; Prior is the position of the one that the objective was drawn from, -1
	// where it is none of them.
	Priors, Prior int
}

// Place is a setting with a name.
type Place struct {
	Name string
	X    []float64
}

// WorthOf is Worth or what stands for it.
func (p *Problem) WorthOf(step, set int, x []float64) float64 {
	if p.Worth == nil {
		return p.Truth(step, x)
	}
	return p.Worth(step, set, x)
}

// charge is what a step costs. index tells the steps of a seed apart.
func (p *Problem) charge(seed uint64, index, set int, x []float64) float64 {
	if p.DrawCost != nil {
		return p.DrawCost(Stream(seed, forCost, index), set)
	}
	if p.Charge == nil {
		return p.ControlSets[set].Cost
	}
	return p.Charge(set, x)
}

// MeasureShots carries out a step at the problem's time in which the random variables of x (NaN)
// take draws for each of the readings: x and the reading of each. index tells the steps of a seed
// apart.
func (p *Problem) measureShots(seed uint64, index, time int, x []float64) (at [][]float64, readings []float64) {
	around, noise := Stream(seed, forSurroundings, index), Stream(seed, forNoise, index)
	for range p.Shots {
		drawn := make([]float64, len(x))
		p.Draw(around, drawn)
		for i, v := range x {
			if !math.IsNaN(v) {
				drawn[i] = v
			}
		}
		at = append(at, drawn)
		readings = append(readings, p.Truth(time, drawn)+math.Sqrt(p.NoiseVariance(drawn))*noise.NormFloat64())
	}
	return at, readings
}

// Measure carries out a step at the problem's time: the random variables of x (NaN)
// take draws, and Shots readings give a mean and an unbiased sample variance, NaN
// for one reading. index tells the steps of a seed apart.
func (p *Problem) Measure(seed uint64, index, time int, x []float64) (mean, variance float64) {
	if p.Draw != nil {
		drawn := make([]float64, len(x))
		p.Draw(Stream(seed, forSurroundings, index), drawn)
		for i, v := range x {
			if math.IsNaN(v) {
				x[i] = drawn[i]
			}
		}
	}
	truth, sd := p.Truth(time, x), math.Sqrt(p.NoiseVariance(x))
	rng := Stream(seed, forNoise, index)
	squares := 0.0
	for k := range p.Shots { // Welford's update
		reading := truth + sd*rng.NormFloat64()
		d := reading - mean
		mean += d / float64(k+1)
		squares += d * (reading - mean)
	}
	if p.Shots < 2 {
		return mean, math.NaN()
	}
	return mean, squares / float64(p.Shots-1)
}

// nearest names the place that x is nearest to, with each variable measured in its
// range.
func (p *Problem) nearest(x []float64) string {
	name, least := "", math.Inf(1)
	for _, place := range p.Places {
		sum := 0.0
		for i, v := range p.Variables {
			d := (x[i] - place.X[i]) / (v.High - v.Low)
			sum += d * d
		}
		if sum < least {
			name, least = place.Name, sum
		}
	}
	return name
}

// HoldAll is the control set that holds all d variables, at no cost.
func HoldAll(d int) []policy.ControlSet {
	s := policy.ControlSet{Controlled: make([]bool, d)}
	for i := range s.Controlled {
		s.Controlled[i] = true
	}
	return []policy.ControlSet{s}
}

// Variables makes continuous variables; names and bounds (low, high) in order. Their
// start is unknown.
func Variables(names []string, bounds [][2]float64) []policy.Variable {
	out := make([]policy.Variable, len(names))
	for i, name := range names {
		out[i] = policy.Variable{Name: name, Low: bounds[i][0], High: bounds[i][1], Start: math.NaN()}
	}
	return out
}

// Constantly is a function of the setting that has one value.
func Constantly(v float64) func([]float64) float64 { return func([]float64) float64 { return v } }

// Always is a best worth that does not change with time.
func Always(v float64) func(int) float64 { return func(int) float64 { return v } }
