package benchmarks

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop/benchmarks/experiment"
)

// short is a run of a few steps of a few policies.
func short(t *testing.T, name string, seeds, steps int, policies ...string) experiment.Run {
	t.Helper()
	x, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	r := experiment.Run{Experiment: x, Workers: 1, Steps: steps, Version: "test"}
	for _, p := range policies {
		c, err := x.Competitor(p)
		if err != nil {
			t.Fatal(err)
		}
		r.Competitors = append(r.Competitors, c)
	}
	for i := range seeds {
		r.Seeds = append(r.Seeds, uint64(i))
	}
	return r
}

func do(t *testing.T, r experiment.Run) string {
	t.Helper()
	results, err := r.Do(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := experiment.Write(&b, results); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestDeterminism: a seed's result depends on nothing but the seed.
func TestDeterminism(t *testing.T) {
	for name, policies := range map[string][]string{
		"cvs/hartmann-moderate-0.02": {"ucb-cvs-etc-ada", "random"},
		"rahbo/branin-1":             {"rahbo", "random"},
		"irgp/synthetic":             {"irgp-ucb"},
	} {
		one := short(t, name, 4, 12, policies...)
		want := do(t, one)
		three := one
		three.Workers = 3
		if got := do(t, three); got != want {
			t.Errorf("%s: 3 workers give another result than one", name)
		}
		back := one
		back.Seeds = slices.Clone(one.Seeds)
		slices.Reverse(back.Seeds)
		results, err := back.Do(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		merged, err := experiment.Merge([]experiment.Named{{Name: "back", Results: results}}) // puts the seeds in order
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := experiment.Write(&b, merged); err != nil {
			t.Fatal(err)
		}
		if b.String() != want {
			t.Errorf("%s: seeds in another order give another result", name)
		}
	}
}

// TestWorkUnits: decisions that are cut are others, the same at each time, and the results say to what they were limited.
func TestWorkUnits(t *testing.T) {
	r := short(t, "rahbo/branin-1", 1, 14, "rahbo")
	whole := do(t, r)
	r.WorkUnits = 1
	cut := do(t, r)
	if !strings.Contains(cut, `"work_units":1`) || strings.Contains(whole, "work_units") {
		t.Errorf("the limit is not in the results: %.200s", cut)
	}
	if again := do(t, r); again != cut {
		t.Error("the same limit gives another result")
	}
	if strings.Replace(cut, `"work_units":1,`, "", 1) == whole {
		t.Error("nothing was cut")
	}
}

// TestSeriesAddUp: cost and regrets follow from each other.
func TestSeriesAddUp(t *testing.T) {
	r := short(t, "cvs/hartmann-moderate-0.02", 2, 0, "ucb-cvs-etc-ada")
	results, err := r.Do(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range results[0].Seeds {
		// 40 plays of 0.1, 20 of 0.2 and 42 of 1 are 50 exactly.
		if n := len(s.Cost); n != 102 || s.Cost[n-1] != 50 || s.Cost[39] != 4 || s.Cost[59] != 8 {
			t.Errorf("seed %d: %d steps, cost %v at the end, %v and %v after the groups", s.Seed, n, s.Cost[n-1], s.Cost[39], s.Cost[59])
		}
		least := s.SimpleRegret[0]
		for i := 1; i < len(s.Cost); i++ {
			regret := s.CumulativeRegret[i] - s.CumulativeRegret[i-1]
			least = min(least, regret)
			if d := s.SimpleRegret[i] - least; d > 1e-12 || d < -1e-12 { // the sum's rounding
				t.Fatalf("seed %d, step %d: simple regret %v, least so far %v", s.Seed, i+1, s.SimpleRegret[i], least)
			}
		}
		if least < -1e-9 {
			t.Errorf("seed %d: a step is better than the best by %v", s.Seed, -least)
		}
		if s.Recommended == nil || s.Recommended.ControlSet != 6 || len(s.Recommended.Setting) != 3 {
			t.Errorf("seed %d: recommended %+v", s.Seed, s.Recommended)
		}
	}
}

// TestInitialSteps: they are counted only where the experiment says so.
func TestInitialSteps(t *testing.T) {
	for name, counted := range map[string]bool{"rahbo/sine-1": false, "costids/branin": true} {
		r := short(t, name, 1, 9, "random")
		results, err := r.Do(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		s := results[0].Seeds[0]
		if len(s.Cost) != 9 {
			t.Errorf("%s: %d steps", name, len(s.Cost))
		}
		// The policy's first settings are the Sobol design in both; only where it counts
		// does the first step's cost show.
		if charged := s.Cost[0] > 0; charged != counted {
			t.Errorf("%s: first cost %v", name, s.Cost[0])
		}
	}
}

// TestAdditionalSteps: a policy's additional steps are taken beside those that count.
func TestAdditionalSteps(t *testing.T) {
	r := short(t, "rahbo/sine-1", 1, 4, "rahbo-us", "rahbo")
	results, err := r.Do(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	r.Competitors[0].Additional = 0
	without, err := r.Do(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	us, plain := results[0].Seeds[0], without[0].Seeds[0]
	if len(us.Cost) != 4 || len(plain.Cost) != 4 || slices.Equal(us.CumulativeRegret, plain.CumulativeRegret) {
		t.Errorf("regrets %v, without additional steps %v", us.CumulativeRegret, plain.CumulativeRegret)
	}
}

// TestCourse: what is followed over time is what a run that ends there has.
func TestCourse(t *testing.T) {
	ends := func(steps int) experiment.Seed {
		r := short(t, "rahbo/sine-1", 1, steps, "rahbo")
		results, err := r.Do(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return results[0].Seeds[0]
	}
	long, brief := ends(20), ends(10)
	if len(long.ReportedRegret) != 20 || long.ReportedRegret[19] != long.Reported.Regret || long.ReportedRegret[18] != long.ReportedRegret[9] {
		t.Errorf("regrets of the report %v, at the end %g", long.ReportedRegret, long.Reported.Regret)
	}
	// The judge's models follow each observation between looks, so last bits may differ.
	if got, want := long.ReportedRegret[9], brief.Reported.Regret; math.Abs(got-want) > 1e-9 {
		t.Errorf("the report after 10 of 20 steps has regret %g, after 10 of 10 %g", got, want)
	}
	if n := long.Visits["quiet"] + long.Visits["noisy"]; n != 20 {
		t.Errorf("visits %v of 20 steps", long.Visits)
	}
}

// TestOneRuleReports: all policies are reported by the rule of RAHBO, the greatest lower bound of MV. It is that
// policy's own; that by which GP-UCB recommends knows no variance.
func TestOneRuleReports(t *testing.T) {
	r := short(t, "rahbo/sine-2", 1, 20, "rahbo", "gp-ucb-heteroscedastic")
	results, err := r.Do(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	averse, blind := results[0].Seeds[0], results[1].Seeds[0]
	if own, all := averse.Recommended, averse.Reported; math.Abs(float64(own.LowerBound-all.LowerBound)) > 1e-9 || own.Nearest != all.Nearest {
		t.Errorf("rahbo recommends %+v, reported is %+v", own, all)
	}
	// A shot's variance is 0.01 at the quiet maximum, 4.4 at the noisy one.
	if own, all := blind.Recommended, blind.Reported; !(all.LowerBound < own.LowerBound-0.005) {
		t.Errorf("gp-ucb recommends %+v, reported is %+v", own, all)
	}
}

// TestCourseOfPriors: every decision is one prior's, and doubt of priors falls.
func TestCourseOfPriors(t *testing.T) {
	r := short(t, "priors/lengthscale", 1, 40, "hp-gp-ts", "pe-gp-ts")
	results, err := r.Do(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for i, result := range results {
		s := result.Seeds[0]
		sum := 0
		for _, n := range s.Choices {
			sum += n
		}
		// The first step comes before there are data: no prior decides it.
		if sum != 39 || len(s.ActivePriors) != 40 || len(s.PriorEntropy) != 40 || float64(s.Choices[*s.Prior])/39 != *s.TruePrior {
			t.Errorf("%s: decisions %v, prior %d, share %g", result.Policy, s.Choices, *s.Prior, *s.TruePrior)
		}
		if s.PriorEntropy[0] > math.Log(4)+1e-9 || s.ActivePriors[39] > 4 || s.ActivePriors[39] < 1 {
			t.Errorf("%s: entropy %g, %g priors left", result.Policy, s.PriorEntropy[0], s.ActivePriors[39])
		}
		if i == 0 && experiment.Last(s.PriorEntropy) > 0.8*math.Log(4) {
			t.Errorf("after 40 steps the entropy of four lengthscales is still %g", experiment.Last(s.PriorEntropy))
		}
	}
}

// TestInterruption: what was done is kept, the seed at work is not, and the error says
// so.
func TestInterruption(t *testing.T) {
	r := short(t, "rahbo/sine-1", 6, 10, "random", "rahbo")
	ctx, cancel := context.WithCancel(context.Background())
	r.Progress = func(p experiment.Progress) {
		if p.Done == 8 {
			cancel()
		}
	}
	results, err := r.Do(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if len(results) != 2 || len(results[0].Seeds) != 6 || len(results[1].Seeds) != 2 {
		t.Fatalf("%d policies", len(results))
	}
	r.Progress = nil
	whole, err := r.Do(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range results[1].Seeds {
		if !slices.Equal(s.CumulativeRegret, whole[1].Seeds[i].CumulativeRegret) {
			t.Errorf("seed %d of the interrupted run is another", s.Seed)
		}
	}
}

// TestSave: results so far are handed over after each policy but the last, and its
// error ends the run.
func TestSave(t *testing.T) {
	r := short(t, "rahbo/sine-1", 1, 2, "random", "rahbo", "random")
	var saved []int
	r.Save = func(results []experiment.Result) error {
		saved = append(saved, len(results))
		return nil
	}
	if _, err := r.Do(context.Background()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(saved, []int{1, 2}) {
		t.Errorf("saved %v", saved)
	}
	full := errors.New("disk full")
	r.Save = func([]experiment.Result) error { return full }
	if results, err := r.Do(context.Background()); !errors.Is(err, full) || len(results) != 1 {
		t.Errorf("%d results, error %v", len(results), err)
	}
}

// TestCPU: the processor time of a policy is the difference of the clock.
func TestCPU(t *testing.T) {
	r := short(t, "rahbo/sine-1", 1, 2, "random", "rahbo")
	var clock time.Duration
	r.CPU = func() time.Duration { clock += 1500 * time.Millisecond; return clock }
	results, err := r.Do(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range results {
		if one.CPUSeconds != 1.5 {
			t.Errorf("%s: %v s", one.Policy, one.CPUSeconds)
		}
	}
}

// TestRefusedSpecification: a policy that cannot be made ends the run with its name.
func TestRefusedSpecification(t *testing.T) {
	r := short(t, "rahbo/sine-1", 1, 2, "random")
	r.Competitors[0].Kind = "no-such-kind"
	_, err := r.Do(context.Background())
	if err == nil || !strings.Contains(err.Error(), `experiment "rahbo/sine-1", policy "random"`) || !strings.Contains(err.Error(), "no-such-kind") {
		t.Errorf("error %v", err)
	}
}

func TestShards(t *testing.T) {
	seeds := []uint64{5, 6, 7, 8, 9}
	var all []uint64
	for i := range 3 {
		all = append(all, experiment.Shard{Index: i, Count: 3}.Of(seeds)...)
	}
	if !slices.Equal(all, []uint64{5, 8, 6, 9, 7}) {
		t.Errorf("shards %v", all)
	}
	if got := (experiment.Shard{Index: 4, Count: 9}).Of(seeds); !slices.Equal(got, []uint64{9}) {
		t.Errorf("shard 4/9 %v", got)
	}
	if got := (experiment.Shard{Index: 5, Count: 9}).Of(seeds); got != nil {
		t.Errorf("shard 5/9 %v", got)
	}
}
