package experiment

import (
	"math"
	"testing"
)

func TestSummarise(t *testing.T) {
	nan := math.NaN()
	s := SummaryOf("x", []float64{3, nan, 1, 4, 2})
	// Mean 2.5, variance 5/3, standard error sqrt(5/12), median 2.5.
	if s.Count != 4 || s.Missing != 1 || s.Mean != 2.5 || s.Median != 2.5 || math.Abs(s.StandardError-math.Sqrt(5.0/12)) > 1e-15 {
		t.Errorf("%+v", s)
	}
	if s := SummaryOf("x", []float64{7}); s.Mean != 7 || s.Median != 7 || !math.IsNaN(s.StandardError) {
		t.Errorf("one value: %+v", s)
	}
	if s := SummaryOf("x", []float64{nan}); s.Count != 0 || !math.IsNaN(s.Mean) || !math.IsNaN(s.Median) {
		t.Errorf("none: %+v", s)
	}
}

func TestMetrics(t *testing.T) {
	held, right, out := 0.5, 0.75, 2
	s := &Seed{Cost: Series{1, 3, 6, 10}, SimpleRegret: Series{4, 2, 0, 0}, CumulativeRegret: Series{4, 6, 6, 9},
		Recommended: &Recommended{Regret: 0.25, Nearest: "C"}, HeldRegret: &held, TruePrior: &right, Eliminated: &out}
	nan := math.NaN()
	for _, c := range []struct {
		m    Metric
		want float64
	}{
		{FinalSimpleRegret, 0}, {FinalCumulativeRegret, 9}, {RecommendedRegret, 0.25}, {StepsTaken, 4},
		{AverageRegret, 2.25}, {HeldRegret, 0.5}, {StepsToOptimum, 3},
		{SimpleRegretAt(1), 4}, {SimpleRegretAt(4), 0}, {SimpleRegretAt(5), nan},
		{SimpleRegretAtCost(0.5), nan}, {SimpleRegretAtCost(1), 4}, {SimpleRegretAtCost(5.9), 2}, {SimpleRegretAtCost(6), 0}, {SimpleRegretAtCost(99), 0},
		{CumulativeRegretBetween(1, 2), 6}, {CumulativeRegretBetween(2, 4), 5}, {CumulativeRegretBetween(2, 5), nan},
		{AverageRegretFrom(2), 1.5}, {AverageRegretFrom(4), nan},
		{TruePriorShare, 0.75}, {EliminatedPriors, 2}, {Share("C"), 1}, {Share("A"), 0},
	} {
		if got := c.m.Of(s); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%s: %v, want %v", c.m.Name, got, c.want)
		}
	}
	var empty Seed
	for _, m := range []Metric{FinalSimpleRegret, FinalCumulativeRegret, RecommendedRegret, AverageRegret, HeldRegret, StepsToOptimum, TruePriorShare, EliminatedPriors,
		SimpleRegretAt(1), SimpleRegretAtCost(1), CumulativeRegretBetween(1, 1), AverageRegretFrom(1), Share("C")} {
		if got := m.Of(&empty); !math.IsNaN(got) {
			t.Errorf("%s of nothing: %v", m.Name, got)
		}
	}
}
