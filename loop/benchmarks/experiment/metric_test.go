package experiment

import (
	"math"
	"testing"
)

// Regrets 3, 1 and 2 of steps that cost 0.5, 2 and 1.
func TestCostWeightedRegret(t *testing.T) {
	s := Seed{Cost: Series{0.5, 2.5, 3.5}, CumulativeRegret: Series{3, 4, 6}}
	if got, want := CostWeightedRegret.Of(&s), 0.5*3+2*1+1*2; math.Abs(got-want) > 1e-12 {
		t.Errorf("%g, want %g", got, want)
	}
	if got := CostWeightedRegret.Of(&Seed{}); !math.IsNaN(got) {
		t.Errorf("of no steps: %g", got)
	}
}

// What the experiment's rule reports counts, not what the policy recommends.
func TestReportedMetrics(t *testing.T) {
	s := Seed{Recommended: &Recommended{Regret: 0.5, Nearest: "B"}, Reported: &Recommended{Regret: 0.04, Worth: 1, LowerBound: 0.9, Nearest: "C"}}
	for _, c := range []struct {
		m    Metric
		want float64
	}{{ReportedRegret, 0.04}, {ReportedWithin(0.05), 1}, {ReportedWithin(0.03), 0}, {BoundHolds, 1}, {ReportedShare("C"), 1}, {ReportedShare("B"), 0}} {
		if got := c.m.Of(&s); got != c.want {
			t.Errorf("%s: %g, want %g", c.m.Name, got, c.want)
		}
		if got := c.m.Of(&Seed{Recommended: s.Recommended}); !math.IsNaN(got) {
			t.Errorf("%s without a rule: %g", c.m.Name, got)
		}
	}
}
