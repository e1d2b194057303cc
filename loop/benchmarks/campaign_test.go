package benchmarks

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/labtuner/tuner/loop/benchmarks/experiment"
	"github.com/labtuner/tuner/scripts/testsize"
)

// The experiments at a small size. What is asserted here is weak, because few seeds
// and steps are; README.md has what the full campaigns show.

// results of a campaign by policy.
type results map[string]*experiment.Result

// mean is a metric's mean over a policy's seeds.
func (r results) mean(policy string, m experiment.Metric) float64 {
	var values []float64
	for i := range r[policy].Seeds {
		values = append(values, m.Of(&r[policy].Seeds[i]))
	}
	return experiment.SummaryOf(m.Name, values).Mean
}

// campaign runs policies on a few seeds, and fails where a repetition does.
func campaign(t *testing.T, name string, seeds, steps int, policies ...string) results {
	t.Helper()
	r := short(t, name, seeds, steps, policies...)
	r.Workers = 2
	all, err := r.Do(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	out := results{}
	for i := range all {
		for _, s := range all[i].Seeds {
			if s.Error != "" {
				t.Errorf("%s, %s, seed %d: %s", name, all[i].Policy, s.Seed, s.Error)
			}
		}
		out[all[i].Policy] = &all[i]
	}
	return out
}

// TestEveryExperimentRuns plays the first policy of every experiment for some steps; in the
// whole every policy, of the control-set experiments those of one cost: all regrets are
// finite, none is negative, and there is a recommendation. Of the control-set experiments cost
// sets and variances are covered once each, in the whole all of them where the problem is not
// slow to draw.
func TestEveryExperimentRuns(t *testing.T) {
	for _, x := range All() {
		few := strings.HasPrefix(x.Name, "cvs/")
		if testsize.Whole() {
			few = strings.Contains(x.Name, "airfoil") || strings.Contains(x.Name, "gpsample")
		}
		if few && !slices.ContainsFunc([]string{"cheap-0.08", "moderate-0.02", "expensive-0.04"}, func(s string) bool { return strings.HasSuffix(x.Name, s) }) {
			continue
		}
		if !testsize.Whole() && (strings.Contains(x.Name, "airfoil") || few && !strings.Contains(x.Name, "hartmann") && !strings.HasSuffix(x.Name, "moderate-0.02") || strings.HasPrefix(x.Name, "risk-cvs/plant") && !strings.HasSuffix(x.Name, "-1-subsets") ||
			strings.HasPrefix(x.Name, "risk-cvs/") && !strings.Contains(x.Name, "-1")) {
			continue // the same policies on the same landscapes
		}
		t.Run(x.Name, func(t *testing.T) {
			t.Parallel()
			names := x.CompetitorNames()
			if !testsize.Whole() {
				names = names[:1]
			}
			if strings.HasPrefix(x.Name, "cvs/") && !(testsize.Whole() && strings.HasSuffix(x.Name, "moderate-0.02")) {
				names = names[:1] // the others have the same policies on the same objective
			}
			steps := 6
			if strings.Contains(x.Name, "airfoil") || strings.Contains(x.Name, "plant") {
				steps = 3 // each takes seconds where paths of many dimensions are sampled
			}
			for _, one := range campaign(t, x.Name, 1, steps, names...) {
				judge(t, x, one, steps)
			}
		})
	}
}

// judge checks what holds for every result.
func judge(t *testing.T, x *experiment.Experiment, r *experiment.Result, steps int) {
	t.Helper()
	for _, s := range r.Seeds {
		if s.Recommended == nil || len(s.Recommended.Setting) == 0 || math.IsNaN(s.Recommended.Regret) {
			t.Errorf("%s: recommended %+v", r.Policy, s.Recommended)
			continue
		}
		if len(s.Cost) != steps {
			t.Errorf("%s: %d steps, want %d", r.Policy, len(s.Cost), steps)
		}
		for i, v := range s.SimpleRegret {
			// The best worth is found by a search that ends within 1e-7 of the range.
			if !(v >= -1e-9) || math.IsInf(v, 0) || i > 0 && v > s.SimpleRegret[i-1] {
				t.Errorf("%s: simple regret %v", r.Policy, s.SimpleRegret)
				break
			}
		}
		if x.Budget > 0 && experiment.Last(s.Cost) <= 0 || x.Budget > 0 && experiment.Last(s.Cost) > x.Budget {
			t.Errorf("%s: cost %v", r.Policy, s.Cost)
		}
	}
}

// TestSubsetsSmall: with the budget of the paper, exploring cheap sets first finds
// Hartmann's optimum, which random settings miss.
func TestSubsetsSmall(t *testing.T) {
	r := campaign(t, "cvs/hartmann-moderate-0.02", testsize.Of(2, 4), 0, "ucb-cvs-etc-ada", "random")
	// The reference code's five seeds are at 0.0003 to 0.0054.
	if m := r.mean("ucb-cvs-etc-ada", experiment.FinalSimpleRegret); m > 0.015 {
		t.Errorf("etc-ada: simple regret %v", m)
	}
	if m := r.mean("random", experiment.FinalSimpleRegret); m < 0.1 {
		t.Errorf("random: simple regret %v, so the problem is too easy", m)
	}
}

// TestRiskSmall: RAHBO's report is at the quiet optima, as that of GP-UCB may be, and costs less on the way.
func TestRiskSmall(t *testing.T) {
	r := campaign(t, "rahbo/sine-1", 5, 0, "rahbo", "gp-ucb-heteroscedastic")
	if share := r.mean("rahbo", experiment.ReportedShare("quiet")); share != 1 {
		t.Errorf("sine: %v at the quiet optimum", share)
	}
	averse, blind := r.mean("rahbo", experiment.FinalCumulativeRegret), r.mean("gp-ucb-heteroscedastic", experiment.FinalCumulativeRegret)
	if averse > 5 || averse > blind {
		t.Errorf("sine: cumulative regret %v, without the risk term %v", averse, blind)
	}
	if !testsize.Whole() {
		return // on Branin the policy's own tests find C
	}
	r = campaign(t, "rahbo/branin-1", 4, 0, "rahbo", "gp-ucb-heteroscedastic")
	if share := r.mean("rahbo", experiment.ReportedShare("C")); share < 0.75 {
		t.Errorf("Branin: %v at C", share)
	}
	averse, blind = r.mean("rahbo", experiment.FinalCumulativeRegret), r.mean("gp-ucb-heteroscedastic", experiment.FinalCumulativeRegret)
	if averse > blind {
		t.Errorf("Branin: cumulative regret %v, without the risk term %v", averse, blind)
	}
}

// TestRandomisedSmall: on samples of the model, half the paper's length leaves less
// than a third of what random settings leave.
func TestRandomisedSmall(t *testing.T) {
	r := campaign(t, "irgp/synthetic", testsize.Of(3, 6), 100, "irgp-ucb", "random")
	if ours, random := r.mean("irgp-ucb", experiment.FinalSimpleRegret), r.mean("random", experiment.FinalSimpleRegret); ours > random/3 {
		t.Errorf("simple regret %v, random %v", ours, random)
	}
}
