package experiment

import (
	"math"
	"slices"
	"strconv"
)

// Metric is one number of a repetition.
type Metric struct {
	Name string
	// Of is NaN where the repetition does not have it.
	Of func(s *Seed) float64
}

// Metrics that several experiments share.
var (
	FinalSimpleRegret     = Metric{"simple regret", func(s *Seed) float64 { return Last(s.SimpleRegret) }}
	FinalCumulativeRegret = Metric{"cumulative regret", func(s *Seed) float64 { return Last(s.CumulativeRegret) }}
	RecommendedRegret     = Metric{"regret of the recommendation", func(s *Seed) float64 {
		if s.Recommended == nil {
			return math.NaN()
		}
		return s.Recommended.Regret
	}}
	// CostWeightedRegret is the sum over steps of cost times regret, which the papers on costs bound
	// (Tay et al., NeurIPS 2023; Paria et al., equation 9).
	CostWeightedRegret = Metric{"cost-weighted cumulative regret", func(s *Seed) float64 {
		if len(s.Cost) == 0 {
			return math.NaN()
		}
		sum, spent, lost := 0.0, 0.0, 0.0
		for i, c := range s.Cost {
			sum += (c - spent) * (s.CumulativeRegret[i] - lost)
			spent, lost = c, s.CumulativeRegret[i]
		}
		return sum
	}}
	// CostRegret is Seed.CostRegret.
	CostRegret = Metric{"cost regret", func(s *Seed) float64 {
		if s.CostRegret == nil {
			return math.NaN()
		}
		return *s.CostRegret
	}}
	// ReportedRegret, ReportedWithin and BoundHolds are of what the experiment's rule reports.
	ReportedRegret = Metric{"regret of the report", func(s *Seed) float64 {
		if s.Reported == nil {
			return math.NaN()
		}
		return s.Reported.Regret
	}}
	BoundHolds = Metric{"lower bound holds", func(s *Seed) float64 {
		if s.Reported == nil {
			return math.NaN()
		}
		return oneIf(float64(s.Reported.LowerBound) <= s.Reported.Worth)
	}}
	StepsTaken    = Metric{"steps", func(s *Seed) float64 { return float64(len(s.Cost)) }}
	AverageRegret = Metric{"average regret", func(s *Seed) float64 {
		return Last(s.CumulativeRegret) / float64(len(s.CumulativeRegret))
	}}
	HeldRegret = Metric{"regret of the held set-point", func(s *Seed) float64 {
		if s.HeldRegret == nil {
			return math.NaN()
		}
		return *s.HeldRegret
	}}
	// TruePriorShare is the accuracy of Sandberg and Chehreghani.
	TruePriorShare = Metric{"share of decisions by the true prior", func(s *Seed) float64 {
		if s.TruePrior == nil {
			return math.NaN()
		}
		return *s.TruePrior
	}}
	EliminatedPriors = Metric{"priors eliminated", func(s *Seed) float64 {
		if s.Eliminated == nil {
			return math.NaN()
		}
		return float64(*s.Eliminated)
	}}
	// FinalEntropy is what is left of the doubt about the priors, in nats.
	FinalEntropy = Metric{"entropy of the priors at the end", func(s *Seed) float64 { return Last(s.PriorEntropy) }}
	JumpsNoticed = Metric{"jumps noticed", func(s *Seed) float64 { return float64(len(s.Jumps)) }}
	// StepsToOptimum is NaN where the optimum was not found.
	StepsToOptimum = Metric{"steps to the optimum", func(s *Seed) float64 {
		i := slices.IndexFunc(s.SimpleRegret, func(v float64) bool { return v < 1e-9 })
		if i < 0 {
			return math.NaN()
		}
		return float64(i + 1)
	}}
)

// SimpleRegretAt is the simple regret after a number of counted steps.
func SimpleRegretAt(step int) Metric {
	return Metric{"simple regret at step " + strconv.Itoa(step), func(s *Seed) float64 {
		if step > len(s.SimpleRegret) {
			return math.NaN()
		}
		return s.SimpleRegret[step-1]
	}}
}

// SimpleRegretAtCost is the simple regret of all steps that were paid with this much.
func SimpleRegretAtCost(cost float64) Metric {
	return Metric{"simple regret at cost " + Short(cost), func(s *Seed) float64 {
		i := slices.IndexFunc(s.Cost, func(v float64) bool { return v > cost })
		switch {
		case i == 0 || len(s.Cost) == 0:
			return math.NaN()
		case i < 0:
			i = len(s.Cost)
		}
		return s.SimpleRegret[i-1]
	}}
}

// CumulativeRegretBetween is the sum of the regrets of steps from ... to.
func CumulativeRegretBetween(from, to int) Metric {
	return Metric{"regret of steps " + strconv.Itoa(from) + " to " + strconv.Itoa(to), func(s *Seed) float64 {
		if to > len(s.CumulativeRegret) {
			return math.NaN()
		}
		if from == 1 {
			return s.CumulativeRegret[to-1]
		}
		return s.CumulativeRegret[to-1] - s.CumulativeRegret[from-2]
	}}
}

// AverageRegretFrom is the mean regret of the steps after one.
func AverageRegretFrom(step int) Metric {
	return Metric{"average regret after step " + strconv.Itoa(step), func(s *Seed) float64 {
		n := len(s.CumulativeRegret)
		if n <= step {
			return math.NaN()
		}
		return (s.CumulativeRegret[n-1] - s.CumulativeRegret[step-1]) / float64(n-step)
	}}
}

// ReportedWithin is 1 where the report's regret is at most this much, else 0: its mean is a share.
func ReportedWithin(regret float64) Metric {
	return Metric{"report within " + Short(regret), func(s *Seed) float64 {
		if s.Reported == nil {
			return math.NaN()
		}
		return oneIf(s.Reported.Regret <= regret)
	}}
}

// ReportedShare is Share of what the experiment's rule reports.
func ReportedShare(place string) Metric {
	return Metric{"share of reports at " + place, func(s *Seed) float64 {
		if s.Reported == nil {
			return math.NaN()
		}
		return oneIf(s.Reported.Nearest == place)
	}}
}

// Visited is the share of the counted steps that were nearest to the place of this name.
func Visited(place string) Metric {
	return Metric{"share of steps nearest to " + place, func(s *Seed) float64 {
		if len(s.Visits) == 0 {
			return math.NaN()
		}
		return float64(s.Visits[place]) / float64(len(s.Cost))
	}}
}

// ReportedRegretAt is the regret of the report after a number of counted steps.
func ReportedRegretAt(step int) Metric {
	return Metric{"regret of the report at step " + strconv.Itoa(step), func(s *Seed) float64 {
		if step > len(s.ReportedRegret) {
			return math.NaN()
		}
		return s.ReportedRegret[step-1]
	}}
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// Share is 1 where the recommendation is nearest to the place of this name, else 0: its
// mean is a share.
func Share(place string) Metric {
	return Metric{"share at " + place, func(s *Seed) float64 {
		switch {
		case s.Recommended == nil:
			return math.NaN()
		case s.Recommended.Nearest == place:
			return 1
		}
		return 0
	}}
}

func Last(s Series) float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	return s[len(s)-1]
}

// Short writes v shortly: 1, 0.5.
func Short(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
