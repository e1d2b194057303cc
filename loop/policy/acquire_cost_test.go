package policy

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/labtuner/tuner/loop/policy/acquisition"
	"github.com/labtuner/tuner/loop/policy/cost"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/space"
)

// pricedSpec has one control set of two variables, a cost that grows with the first, and
// one of movement.
func pricedSpec(kind string) Spec {
	s := fixedSpec(kind, 2, 8)
	s.Variables[0].High = 10
	s.ControlSets[0].Cost = 0.5
	s.SettingCost = func(_ int, x []float64) float64 { return math.Exp(0.3 * x[0]) }
	s.MoveCost = []float64{0.2, 3}
	return s
}

// The cost of a step is its control set's, its setting's and its movement's.
func TestCostsAddUp(t *testing.T) {
	s := pricedSpec("ei-per-cost")
	p := fresh(t, s)
	observe(t, p, Observation{Step: 1, X: []float64{4, 0.25}, Mean: 1, Variance: math.NaN(), Shots: 1, Valid: true})
	e := p.(*engine)
	if got, want := e.costs.Of(e.domains[0], []float64{0.7, 0.5}), 0.5+math.Exp(2.1)+0.2*3+3*0.25; math.Abs(got-want) > 1e-12 {
		t.Errorf("cost %g, want %g", got, want)
	}
	q := propose(t, p)
	want := 0.5 + math.Exp(0.3*q.X[0]) + 0.2*math.Abs(q.X[0]-4) + 3*math.Abs(q.X[1]-0.25)
	if math.Abs(q.Cost-want) > 1e-12 {
		t.Errorf("the proposal says it costs %g, want %g", q.Cost, want)
	}
}

// A variable that a step leaves alone is not moved, whatever it does.
func TestRandomVariablesDoNotMove(t *testing.T) {
	s := cvsSpec()
	s.MoveCost = []float64{1, 10, 100}
	p := fresh(t, s)
	observe(t, p, Observation{Step: 1, X: []float64{0.5, 0.5, 0.5}, Mean: 1, Variance: math.NaN(), Shots: 1, Valid: true})
	e := p.(*engine)
	if got, want := e.costs.Of(e.domains[0], []float64{0.75}), 0.1+0.25; math.Abs(got-want) > 1e-12 {
		t.Errorf("cost %g, want %g", got, want)
	}
}

// Nothing that does not fit the rest of the budget is proposed, in a box, in a list and
// in a design, and the run ends only when the cheapest setting does not fit.
func TestDearSettingsAreNeverProposed(t *testing.T) {
	listed := withCandidates(pricedSpec("ei-per-cost"), 30)
	for i := range listed.Candidates {
		listed.Candidates[i][0] *= 10
	}
	for name, s := range map[string]Spec{"box": pricedSpec("gp-ucb"), "list": listed, "ts": pricedSpec("ts"), "sobol": pricedSpec("sobol")} {
		s.Budget, s.Seed = 60, 4
		p := fresh(t, s)
		left, at := s.Budget, []float64{math.NaN(), math.NaN()}
		steps := 0
		for {
			q, err := p.Propose(context.Background())
			if errors.Is(err, cost.ErrBudget) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if q.Cost > left+1e-9 {
				t.Fatalf("%s: proposed %v for %g with %g left", name, q.X, q.Cost, left)
			}
			if !math.IsNaN(at[0]) {
				if want := 0.5 + math.Exp(0.3*q.X[0]) + 0.2*math.Abs(q.X[0]-at[0]) + 3*math.Abs(q.X[1]-at[1]); math.Abs(want-q.Cost) > 1e-9 {
					t.Fatalf("%s: cost %g, want %g", name, q.Cost, want)
				}
			}
			left -= q.Cost
			at = q.X
			observe(t, p, Observation{Step: q.Step, X: q.X, Mean: q.X[0] * q.X[1], Variance: math.NaN(), Shots: 1, Cost: q.Cost, Valid: true})
			steps++
		}
		// The cheapest step stays where it is at the low end: 1.5 and what leads there.
		if least := 1.5 + 0.2*at[0]; s.Candidates == nil && left > least {
			t.Errorf("%s: ended after %d steps with %g left, enough for a step of %g", name, steps, left, least)
		}
		if steps < 3 {
			t.Errorf("%s: only %d steps", name, steps)
		}
	}
}

// A cost that is no number ends the decision with its setting's name, not with a
// proposal.
func TestImpossibleCostsAreNamed(t *testing.T) {
	for _, cost := range []float64{math.NaN(), -1, math.Inf(1)} {
		s := fixedSpec("gp-ucb", 1, 1)
		s.SettingCost = func(int, []float64) float64 { return cost }
		if _, err := fresh(t, s).Propose(context.Background()); err == nil {
			t.Errorf("cost %g was accepted", cost)
		}
	}
}

// Where a full control set exists, the policies of full queries play nothing else, from
// the first step on; else they play all.
func TestFullQueriesOnly(t *testing.T) {
	for _, kind := range []string{"ucb-psq", "ts-psq", "ei-psq"} {
		s := subsetsSpec(kind, 5)
		s.Budget = 6.5
		w := story{scale: 1, shots: 1}
		for _, q := range w.tell(t, fresh(t, s), &s, 6, nil) {
			if q.ControlSet != 2 {
				t.Errorf("%s, step %d: control set %d", kind, q.Step, q.ControlSet)
			}
		}
		p := fresh(t, s)
		observe(t, p, Observation{Step: 1, ControlSet: 2, X: []float64{0, 0, 0}, Variance: math.NaN(), Shots: 1, Cost: 5.6, Valid: true})
		if q, err := p.Propose(context.Background()); !errors.Is(err, cost.ErrBudget) {
			t.Errorf("%s: 0.9 is left for a cost of 1, but %+v (%v)", kind, q, err)
		}
		s.ControlSets = s.ControlSets[:2]
		if q := fresh(t, s); propose(t, q).ControlSet != 0 {
			t.Errorf("%s: without a full set the initial design plays the cheapest", kind)
		}
	}
}

// The forms per unit of cost play the greatest quotient: with equal acquisition values
// at hand, a set of a tenth of the cost wins, which it does not without the division.
func TestPerCostPrefersCheapSets(t *testing.T) {
	for _, kind := range []string{"ucb-psq-per-cost", "ts-psq-per-cost", "ei-psq-per-cost"} {
		s := subsetsSpec(kind, 6)
		s.Model.Mean = -3 // every level is positive, relative to the prior mean
		p := fresh(t, s)
		fill(t, p, s, 10, 1)
		q := propose(t, p)
		e := p.(*engine)
		e.model.Loaded = false
		d, options := allOptions(t, s, 10)
		best, want := -1, math.Inf(-1)
		for i, o := range options {
			o = d.ForSearch(o, d.Costs)
			m, err := d.Search([]acquisition.Option{o}, 0)
			if err != nil {
				t.Fatal(err)
			}
			if v := o.InUserUnits(d.Criterion.Model.Active, m[0].Value); v > want {
				best, want = i, v
			}
		}
		if q.ControlSet != best || math.Abs(q.Why.Value-want) > 1e-3*want {
			t.Errorf("%s: set %d of value %g, want set %d of %g", kind, q.ControlSet, q.Why.Value, best, want)
		}
	}
}

func TestNewRefusesCosts(t *testing.T) {
	priced := subsetsSpec("ucb-psq-per-cost", 1)
	refused(t, []refusal{
		{`control set 1 is free: values per cost need a cost above 0`, priced, func(s *Spec) {
			s.ControlSets = append([]space.ControlSet(nil), s.ControlSets...)
			s.ControlSets[0].Cost = 0
		}},
		{`2 costs of movement for 3 variables`, priced, func(s *Spec) { s.MoveCost = []float64{1, 2} }},
		{`cost -1 per unit that variable 2 moves must be finite and not negative`, priced, func(s *Spec) { s.MoveCost = []float64{1, -1, 0} }},
		{`acquisition "gittins" weighs costs itself: leave out values per cost`, subsetsSpec("pbgi", 1), func(s *Spec) { s.PerCost = true }},
		{`values per cost and schedule "epsilon" both weigh costs`, priced, func(s *Spec) { s.Schedule, s.Epsilon = "epsilon", []float64{1} }},
		{`risk 1 has no meaning for acquisition "ei": it takes what is compared for normal, and a mean less a variance that is learnt is not; use "ucb" or "ts", or risk 0, or with one control set of all variables give the noise`, rahboSpec(2, 1), func(s *Spec) { s.Acquisition = "ei" }},
	})
}

// ETC-Ada's groups of 40 and 20 plays leave exactly 42 full ones of a budget of 50.
func TestETCAdaPaysFortyTwoFullPlays(t *testing.T) {
	s := moderate(1, 50)
	s.InitialSteps, s.WorkUnits = 0, 1 // only the costs matter
	s.Model = subsetsSpec("ucb-cvs", 1).Model
	p := fresh(t, s)
	observe(t, p, Observation{Step: 1, ControlSet: -1, X: []float64{.5, .5, .5}, Variance: math.NaN(), Shots: 1, Valid: true})
	plays := map[float64]int{}
	for {
		q, err := p.Propose(context.Background())
		if errors.Is(err, cost.ErrBudget) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		plays[q.Cost]++
		x := append([]float64(nil), q.X...)
		for i := range x {
			if math.IsNaN(x[i]) {
				x[i] = 0.5
			}
		}
		observe(t, p, Observation{Step: q.Step, ControlSet: q.ControlSet, X: x, Variance: math.NaN(), Shots: 1, Cost: q.Cost, Valid: true})
	}
	if plays[.1] != 40 || plays[.2] != 20 || plays[1] != 42 {
		t.Errorf("plays by cost: %v, want 40 of 0.1, 20 of 0.2 and 42 of 1", plays)
	}
}

// The index of the control sets against its definition: the expected gain over it, averaged over a fine grid
// of the random variables, is lambda times the price; its slopes are those of its values, and the setting that
// is proposed has the greatest.
func TestGittinsIndexAgainstItsDefinition(t *testing.T) {
	s := subsetsSpec("pbgi", 3)
	d, options := allOptions(t, s, 12)
	g := d.Criterion.Model.GP
	lambda := math.NaN()
	for i, c := range [][]float64{{0.3}, {0.3, 0.6}, {0.3, 0.6, 0.9}} {
		index := valuesAt(options[i], c)[0]
		gain := averaged(d, i, c, func(x []float64) float64 {
			mu, sd := momentsAt(g, x)
			low := max(index, mu-10*sd)
			return integral(low, max(mu+10*sd, low), func(f float64) float64 {
				return (f - index) * num.NormalDensity((f-mu)/sd) / sd
			})
		})
		per := gain / (s.ControlSets[i].Cost / d.Costs.TypicalCost)
		if i == 2 { // nothing is random: to the last digits
			if k := math.Log2(0.1 / per); math.Abs(k-math.Round(k)) > 1e-6 {
				t.Errorf("lambda is %g, which is not 0.1 halved", per)
			}
			if math.Abs(per/lambda-1) > 0.02 {
				t.Errorf("lambda %g of the full set, %g of another", per, lambda)
			}
		}
		lambda = per
		slopes(t, options[i], c)
	}
	found, err := d.Search(options, 0)
	if err != nil {
		t.Fatal(err)
	}
	best := 0
	for i := range found {
		if found[i].Value > found[best].Value {
			best = i
		}
	}
	p := fresh(t, s)
	fill(t, p, s, 12, 1)
	if q := propose(t, p); q.ControlSet != options[best].Set {
		t.Errorf("control set %d, the greatest index is that of %d", q.ControlSet, options[best].Set)
	}
}

// With costs of settings the slopes have the price's too.
func TestGittinsIndexOfPricedSettings(t *testing.T) {
	d, options := allOptions(t, pricedSpec("pbgi"), 12)
	for _, c := range [][]float64{{0.1, 0.7}, {0.8, 0.3}} {
		slopes(t, options[0], c)
	}
	if d.Costs.Setting == nil {
		t.Fatal("no cost of settings")
	}
}
