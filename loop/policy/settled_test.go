package policy

import (
	"fmt"
	"math"
	"testing"

	"github.com/labtuner/tuner/scripts/testsize"
)

// Of 36 settings one by itself is better than a hill's top, which has the acquisition measure the top again and again: of 20
// runs of 60 steps 13 end there with "repeat", 21 settings untried in the middle one. A setting that has readings enough is left for one that was never measured,
// until ten steps are left.
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
	if lost[""] > 0 || lost[stalledRepeat] < seeds/4 || untried[""] > untried[stalledRepeat]/4 || left == 0 {
		t.Error(said)
	}
}

// A setting of a box has too many beside it to be left for, settings of a table are tried once by another rule, and a run without an
// end never stops paying.
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
