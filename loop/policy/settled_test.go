package policy

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/labtuner/tuner/scripts/testsize"
)

// Of 36 settings one by itself is better than a hill's top, which has the acquisition measure the top again and again: of 20
// runs of 60 steps 13 end there with "repeat", and leave 20 settings untried on average. A setting that has readings enough is
// left for one that was never measured, until ten steps are left.
func TestASettledSettingIsLeft(t *testing.T) {
	g := grid{"one alone", 2, 6, 60, 0.5, oneAlone}
	seeds := testsize.Of(4, 20)
	lost, untried, left := map[string]int{}, map[string]int{}, 0
	for seed := range seeds {
		for _, stalled := range []string{stalledRepeat, ""} {
			run := g.play(t, uint64(1000+seed), stalled)
			untried[stalled] += run.untried
			if run.regret > 1 {
				lost[stalled]++
			}
			measured := map[int]bool{}
			for step, q := range run.proposals {
				if n := q.Why.Settled; !math.IsNaN(n) {
					left++
					if stalled == stalledRepeat || n < 2 || step+1 > g.steps-10 || measured[g.cell(q.X)] {
						t.Errorf("seed %d, %q: step %d leaves a setting of %v readings for %v, measured before: %v", seed, stalled, step+1, n, q.X, measured[g.cell(q.X)])
					}
				}
				measured[g.cell(q.X)] = true
			}
		}
	}
	said := fmt.Sprintf("of %d runs %v are lost, %v settings untried; %d steps leave a setting", seeds, lost, untried, left)
	t.Log(said)
	if lost[""] > seeds/20 || // one of these twenty, none of a hundred others (loop/benchmarks/README.md, "Knobs in steps")
		lost[stalledRepeat] < seeds/4 || untried[""] > untried[stalledRepeat]/4 || left == 0 {
		t.Error(said)
	}
}

// What counts as measured: settings that are read back as something a little else, those of earlier runs, and those that the model has
// dropped for its capacity.
func TestSettledCountsWhatWasMeasured(t *testing.T) {
	for seed := range uint64(testsize.Of(2, 10)) {
		g := grid{"one alone", 2, 6, 60, 0.5, oneAlone}
		full := g.spec(seed, "")
		full.Model.Capacity = 20
		var earlier []Observation
		for k := range 24 {
			x := []float64{float64(k/2%6) / 5, float64(k/12) / 5}
			earlier = append(earlier, Observation{ControlSet: -1, X: x, Variance: math.NaN(), Shots: 1, Valid: true})
		}
		for name, c := range map[string]struct {
			spec     Spec
			readback float64
			earlier  []Observation
		}{"readback": {spec: g.spec(seed, ""), readback: 1e-3}, "earlier": {spec: g.spec(seed, ""), earlier: earlier}, "capacity": {spec: full}} {
			run := g.playWith(t, seed, c.spec, c.readback, slices.Clone(c.earlier))
			measured, left := map[int]bool{}, 0
			for _, o := range c.earlier {
				measured[g.cell(o.X)] = true
			}
			for step, q := range run.proposals {
				if !math.IsNaN(q.Why.Settled) {
					if left++; measured[g.cell(q.X)] {
						t.Errorf("%s, seed %d: step %d takes %v for one that was not measured", name, seed, step+1, q.X)
					}
				}
				measured[g.cell(q.X)] = true
			}
			if left == 0 || run.untried > 9 {
				t.Errorf("%s, seed %d: %d steps leave a setting, %d are not tried, one %d times", name, seed, left, run.untried, run.most)
			}
		}
	}
}

// A run that is known to end leaves settings in steps, those of a table too; one without an end never stops paying, and a risk
// weighs variances, of which few readings tell little.
func TestWhoLeavesASettledSetting(t *testing.T) {
	g := grid{"one alone", 2, 6, 60, 0.5, oneAlone}
	for name, c := range map[string]struct {
		change func(s *Spec)
		until  int
	}{
		"steps":     {func(*Spec) {}, 50},
		"table":     {func(s *Spec) { s.Candidates = [][]float64{{0, 0}, {1, 1}} }, 50},
		"no end":    {func(s *Spec) { s.Steps = 0 }, 0},
		"explore":   {func(s *Spec) { s.Steps, s.Stalled = 0, stalledExplore }, 0},
		"repeat":    {func(s *Spec) { s.Stalled = stalledRepeat }, 0},
		"risk":      {func(s *Spec) { s.Risk = 1 }, 0},
		"few":       {func(s *Spec) { s.Steps = 20 }, 15},
		"costs":     {func(s *Spec) { s.SettingCost = func(_ int, x []float64) float64 { return x[0] } }, 0},
		"timescale": {func(s *Spec) { s.Drift.Timescale = []float64{50} }, 0},
	} {
		s := g.spec(1, "")
		if c.change(&s); s.leavesUntil() != c.until {
			t.Errorf("%s: until step %d, want %d", name, s.leavesUntil(), c.until)
		}
	}
	fresh := func(levels bool) bool {
		s := g.spec(1, "")
		for i := range s.Variables {
			if !levels {
				s.Variables[i].Levels = nil
			}
		}
		p, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		return p.(*warped).engine.domains[0].Stepwise()
	}
	if !fresh(true) || fresh(false) {
		t.Errorf("knobs with steps count as stepwise: %v, ranges %v", fresh(true), fresh(false))
	}
}
