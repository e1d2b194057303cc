package policy

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/loop/policy/acquisition"
	"github.com/labtuner/tuner/loop/policy/constraint"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/scripts/testsize"
)

// decoy is a broad hill of 70 and, far from it, a narrower one of 100, of three variables.
func decoy(x []float64) float64 {
	return hill(70, 0.25, []float64{0.25, 0.3, 0.7}, x) + hill(100, 0.16, []float64{0.75, 0.7, 0.3}, x)
}

func decoySpec(seed uint64, stalled string) Spec {
	s := fixedSpec("irgp-ucb", 3, seed)
	s.Confidence, s.Model, s.InitialSteps, s.Stalled = "", Model{Kernel: "matern52", Hyperparameters: model.HyperPriors}, 10, stalled
	return s
}

// played is a run on the decoy.
type played struct {
	worth         float64 // true, of what is recommended at the end
	unseen, again []int   // the steps that went where nothing was measured, and those that measured again
	proposals     []Proposal
	recommended   Recommendation
}

func playDecoy(t *testing.T, s Spec, steps int) (out played) {
	t.Helper()
	p := fresh(t, s)
	rng := rand.New(rand.NewPCG(s.Seed, 77))
	last := 0
	for step := 1; step <= steps; step++ {
		q, err := p.Propose(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if !math.IsNaN(q.Why.Unseen) {
			out.unseen = append(out.unseen, step)
			if step-last <= acquisition.Patience(step) || q.Why.Unseen <= 0 || q.Prior != -1 {
				t.Errorf("seed %d: step %d after step %d is %v from all that were measured, by prior %d", s.Seed, step, last, q.Why.Unseen, q.Prior)
			}
			last = step
		}
		if !math.IsNaN(q.Why.Again) {
			out.again = append(out.again, step)
		}
		out.proposals = append(out.proposals, q)
		observe(t, p, Observation{Step: step, X: q.X, Mean: decoy(q.X) + rng.NormFloat64(), Variance: math.NaN(), Shots: 1, Cost: 1, Valid: true})
	}
	r, err := p.Recommend()
	if err != nil {
		t.Fatal(err)
	}
	out.recommended, out.worth = r, decoy(r.X)
	return out
}

// A model that fits the decoy sees no other hill, and repeats its top to the end; where it is stalled it looks elsewhere. Of
// 20 runs 14 end on the decoy with "repeat", none with "explore".
func TestADecoyIsLeft(t *testing.T) {
	seeds := testsize.Of(2, 20)
	lost := map[string]int{}
	for seed := range seeds {
		for _, stalled := range []string{stalledRepeat, stalledExplore} {
			run := playDecoy(t, decoySpec(uint64(seed)+1, stalled), 120)
			if run.worth < 90 {
				lost[stalled]++
			}
			if stalled == stalledRepeat && len(run.unseen) > 0 {
				t.Errorf("seed %d: steps %v are far from all, which was not asked for", seed, run.unseen)
			}
		}
	}
	t.Logf("of %d runs %v end on the decoy", seeds, lost)
	if lost[stalledExplore] > seeds/20 || lost[stalledRepeat] < seeds/2 {
		t.Errorf("of %d runs %v end on the decoy", seeds, lost)
	}
}

// A run that is known to end explores by itself until ten steps are left, and measures again what might be recommended
// in its last steps; one without an end, or whose steps cost differently from setting to setting, does as papers have it.
func TestAPlannedEnd(t *testing.T) {
	const steps = 60
	explored, again := 0, 0
	for seed := range uint64(testsize.Of(3, 20)) {
		s := decoySpec(seed+1, "")
		s.Steps = steps
		run := playDecoy(t, s, steps)
		explored, again = explored+len(run.unseen), again+len(run.again)
		for _, step := range run.unseen {
			if step > steps-10 {
				t.Errorf("seed %d: step %d of %d goes where nothing was measured", s.Seed, step, steps)
			}
		}
		for _, step := range run.again {
			if step <= steps-6 || run.proposals[step-1].Why.Again <= 0 {
				t.Errorf("seed %d: step %d of %d measures again for a gain of %v", s.Seed, step, steps, run.proposals[step-1].Why.Again)
			}
		}
	}
	if explored == 0 || again == 0 {
		t.Errorf("%d steps went where nothing was measured, %d measured again", explored, again)
	}
	for name, change := range map[string]func(s *Spec){
		"no end": func(s *Spec) { s.Steps = 0 },
		"costs":  func(s *Spec) { s.SettingCost = func(_ int, x []float64) float64 { return x[0] } },
		"moves":  func(s *Spec) { s.MoveCost = []float64{1, 1, 1} },
		"listed": func(s *Spec) {
			s.Candidates = [][]float64{{0, 0, 0}, {1, 1, 1}}
			s.Once = true
		},
		"constraints": func(s *Spec) { s.Constraints = []constraint.Spec{{Name: "c", Low: 0, High: 1}} },
		"as before":   func(s *Spec) { s.Stalled, s.Recommended = stalledRepeat, recommendedMeasured },
		"papers":      func(s *Spec) { s.Steps, s.Stalled, s.Recommended = 0, stalledRepeat, recommendedMeasured },
	} {
		s := decoySpec(1, "")
		s.Steps = steps
		if change(&s); s.ExploresUntil() > 0 || s.recommendsAll() || s.repeats(steps) {
			t.Errorf("%s: explores until %v, recommends all %v, repeats %v", name, s.ExploresUntil(), s.recommendsAll(), s.repeats(steps))
		}
	}
}

// What would have no effect is refused, not passed over.
func TestStalledKeepsOut(t *testing.T) {
	for name, change := range map[string]func(s *Spec){
		"an unknown word":     func(s *Spec) { s.Stalled = "elsewhere" },
		"drift":               func(s *Spec) { s.Drift.Timescale = []float64{50} },
		"a kind that tracks":  func(s *Spec) { s.Kind = "track" },
		"priors that decide":  func(s *Spec) { s.Kind = "hp-gp-ts" },
		"drift, recommending": func(s *Spec) { s.Stalled, s.Recommended, s.Drift.Timescale = "", recommendedModel, []float64{50} },
	} {
		s := decoySpec(1, stalledExplore)
		change(&s)
		if _, err := New(s); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	if _, err := New(decoySpec(1, stalledExplore)); err != nil {
		t.Errorf("what has an effect is refused: %v", err)
	}
}

// A reading that was better than the model expected is followed, though others are better by far: it may be the foot of a hill.
func TestASurpriseIsFollowed(t *testing.T) {
	for _, c := range []struct {
		stalled string
		x       float64 // of the surprise; outside where the range was narrowed behind it
		near    float64
		follows bool
	}{{stalledExplore, 0.85, 0.85, true}, {stalledRepeat, 0.85, 0.85, false}, {stalledExplore, 1.85, 1, true}, {stalledExplore, 5, 1, true}} {
		s := fixedSpec("irgp-ucb", 2, 5)
		s.Confidence, s.Stalled, s.InitialSteps = "", c.stalled, 6
		s.Model = Model{Kernel: "se", Hyperparameters: model.HyperFixed, Lengthscale: []float64{0.25, 0.25}, Outputscale: 1, NoiseSD: 0.05, Capacity: 64}
		p := fresh(t, s)
		tell := func(step int, x, y, mean float64) {
			observe(t, p, Observation{Step: step, X: []float64{x, y}, Mean: mean, Variance: math.NaN(), Shots: 1, Cost: 1, Valid: true})
		}
		for i, at := range [][3]float64{{0.1, 0.1, 4}, {0.9, 0.1, 0}, {0.1, 0.9, 0}, {0.5, 0.5, 0}, {0.5, 0.1, 0}, {0.1, 0.5, 0}, {c.x, 0.85, 1.5}} {
			tell(i+1, at[0], at[1], at[2])
		}
		q, err := p.Propose(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if near := math.Abs(q.X[0]-c.near) <= surpriseFar+1e-9 && math.Abs(q.X[1]-0.85) <= surpriseFar+1e-9; near != c.follows {
			t.Errorf("%s: %v follows a surprise at %g, 0.85", c.stalled, q.X, c.x)
		}
	}
}

// A run that goes on after a comparison numbers its steps behind those of the comparison, which are none of its search: where
// it explores and what it measures again goes by the steps of the search, also where a person's step is the first of them.
func TestAPlannedEndBehindAComparison(t *testing.T) {
	const steps, compared, before = 40, 16, 12
	s := decoySpec(1, "")
	s.Steps = steps
	run := func(tried bool) (unseen, again []int) {
		p := fresh(t, s)
		rng := rand.New(rand.NewPCG(s.Seed, 77))
		for n := 1; n <= steps; n++ {
			q, err := p.Propose(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			step := n
			if n > before {
				step += compared
			}
			if tried && n == before+1 { // a person's step, while a proposal waits
				if err := p.(Skipper).Skip(step); err != nil {
					t.Fatal(err)
				}
			}
			if !math.IsNaN(q.Why.Unseen) {
				unseen = append(unseen, n)
			}
			if !math.IsNaN(q.Why.Again) {
				again = append(again, n)
			}
			observe(t, p, Observation{Step: step, X: q.X, Mean: decoy(q.X) + rng.NormFloat64(), Variance: math.NaN(), Shots: 1, Cost: 1, Valid: true})
		}
		if e := p.(*engine); e.compared != compared {
			t.Errorf("%d steps count as those of a comparison, want %d", e.compared, compared)
		}
		return unseen, again
	}
	for _, tried := range []bool{false, true} {
		unseen, again := run(tried)
		if len(unseen) == 0 || unseen[len(unseen)-1] <= steps-10-compared {
			t.Errorf("steps %v of the search went where nothing was measured: they end %d steps early", unseen, compared)
		}
		if len(again) == 0 || again[0] <= steps-4 {
			t.Errorf("steps %v of the search measured again, of which the last 4 may", again)
		}
	}
}
