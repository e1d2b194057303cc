package policy

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
	"github.com/labtuner/tuner/scripts/testsize"
)

// The recommendation is Corollary 1.1's: no played setting has a greater pessimistic
// bound, recomputed here from the parts.
func TestRecommendIsCorollary1(t *testing.T) {
	s := rahboSpec(2, 13)
	s.InitialSteps = 5
	p := fresh(t, s)
	w := story{scale: 3, offset: -7, shots: 5}
	w.tell(t, p, &s, 20, nil)
	r, err := p.Recommend()
	if err != nil {
		t.Fatal(err)
	}
	e := p.(*engine)
	h := e.model.Active
	bound := func(x []float64) float64 {
		var mean, variance, noise, spread [1]float64
		e.model.GP.Predict(mean[:], variance[:], x)
		e.model.Noise.GP.Predict(noise[:], spread[:], x)
		v := math.Exp(e.model.Noise.Hyper.Mean + noise[0] + s.Beta*math.Sqrt(spread[0]))
		return h.Center + h.Scale*(mean[0]-s.Beta*math.Sqrt(variance[0])) - s.Risk*h.Scale*h.Scale*v
	}
	// One bit of rounding in different orders of summation.
	if got := bound(r.X); math.Abs(got-r.LowerBound) > 1e-9 {
		t.Errorf("lower bound %g, recomputed %g", r.LowerBound, got)
	}
	for _, q := range e.model.Data.Rows {
		if b := bound(q.X); b > r.LowerBound+1e-9 {
			t.Errorf("played %v has bound %g, recommended %v only %g", q.X, b, r.X, r.LowerBound)
		}
	}
	if r.SD <= 0 || r.LowerBound >= r.Mean-s.Beta*r.SD || r.NoiseSD <= 0 {
		t.Errorf("estimate %+v", r.Estimate)
	}
}

func TestRecommendWithoutData(t *testing.T) {
	p := fresh(t, rahboSpec(2, 1))
	if _, err := p.Recommend(); !errors.Is(err, ErrNoData) {
		t.Errorf("no observation: %v", err)
	}
	observe(t, p, Observation{Step: 1, X: []float64{0.5, 0.5}})
	if _, err := p.Recommend(); !errors.Is(err, ErrNoData) {
		t.Errorf("a failed step only: %v", err)
	}
	observe(t, p, Observation{Step: 2, X: []float64{0.3, 0.4}, Mean: 7, Variance: math.NaN(), Shots: 1, Valid: true})
	r, err := p.Recommend()
	if err != nil || r.X[0] != 0.3 || r.X[1] != 0.4 || !math.IsNaN(r.NoiseSD) {
		t.Errorf("one valid step: %+v, %v", r, err)
	}
}

// Steps without control (a dry run) stand for the full control set, where there is
// one.
func TestRecommendFromADryRun(t *testing.T) {
	for _, whole := range []bool{true, false} {
		s := cvsSpec()
		if !whole {
			s.ControlSets = s.ControlSets[:2]
		}
		p := fresh(t, s)
		for i := range 5 {
			x := []float64{0.1 * float64(i), 0.5, 0.5}
			observe(t, p, Observation{Step: i + 1, ControlSet: -1, X: x, Mean: float64(i), Variance: math.NaN(), Shots: 1, Valid: true})
		}
		r, err := p.Recommend()
		if whole && (err != nil || r.ControlSet != 2 || r.X[0] != 0.4) {
			t.Errorf("recommended %+v, %v", r, err)
		}
		if !whole && !errors.Is(err, ErrNoData) {
			t.Errorf("nothing can be controlled as it was measured, but: %+v, %v", r, err)
		}
		if e := p.(*engine); e.costs.Ledger.Spent() != 0 || e.lastCounted != 0 {
			t.Error("steps without control counted as plays")
		}
	}
}

// The starting setting by the same model: known values held, the others random. The
// plain average over a fine grid is the oracle.
func TestStartEstimate(t *testing.T) {
	s := cvsSpec()
	s.Model = model.Spec{Kernel: "se", Hyperparameters: "fixed", Lengthscale: []float64{.4, .4, .4}, Outputscale: 4, NoiseSD: 0.1, Mean: 2}
	s.Variables[0].Start, s.Variables[2].Start = 0.2, 0.9 // x1 is random: uniform
	p := fresh(t, s)
	fill(t, p, s, 30, 1)
	r, err := p.Recommend()
	if err != nil {
		t.Fatal(err)
	}
	e := p.(*engine)
	const n = 2000
	mean, square, sd := 0.0, 0.0, 0.0
	for i := range n {
		var m, v [1]float64
		e.model.GP.Predict(m[:], v[:], []float64{0.2, (float64(i) + 0.5) / n, 0.9})
		mean += m[0] / n
		square += m[0] * m[0] / n
		sd += math.Sqrt(v[0]) / n
	}
	shot := 4*(square-mean*mean) + 0.01
	for _, c := range []struct {
		name      string
		got, want float64
	}{{"mean", r.Start.Mean, 2 + 2*mean}, {"sd", r.Start.SD, 2 * sd}, {"noise sd", r.Start.NoiseSD, math.Sqrt(shot)},
		{"lower bound", r.Start.LowerBound, 2 + 2*(mean-s.Beta*sd)}} {
		// gpcore's rule of few nodes for E[sd] against 2000 midpoints, whose own error is
		// near 1/2000^2.
		if math.Abs(c.got-c.want) > 5e-4 {
			t.Errorf("%s of the start: %.8f, want %.8f", c.name, c.got, c.want)
		}
	}
}

// A held variable stays where it was last measured in every expectation.
func TestHeldVariableInRecommendation(t *testing.T) {
	s := cvsSpec()
	s.ControlSets = s.ControlSets[:1] // only x0
	s.ControlSets[0].Cost = 0
	for i := range s.Variables {
		s.Variables[i].Random.Kind = space.Held
	}
	s.Model = model.Spec{Kernel: "se", Hyperparameters: "fixed", Lengthscale: []float64{.4, .4, .4}, Outputscale: 1, NoiseSD: 0.1}
	p := fresh(t, s)
	fill(t, p, s, 20, 1)
	last := []float64{0.4, 0.33, 0.77}
	observe(t, p, Observation{Step: 21, X: last, Mean: 0.1, Variance: math.NaN(), Shots: 1, Valid: true})
	r, err := p.Recommend()
	if err != nil {
		t.Fatal(err)
	}
	var m, v [1]float64
	e := p.(*engine)
	e.model.GP.Predict(m[:], v[:], []float64{r.X[0], 0.33, 0.77})
	if math.Abs(m[0]-r.Mean) > 1e-12 || !math.IsNaN(r.X[1]) {
		t.Errorf("recommended %v with mean %g, want %g", r.X, r.Mean, m[0])
	}
}

// With "model" the recommendation lies between the settings that were measured, has a greater bound and, over some runs,
// less regret; what is proposed is the same.
func TestRecommendedByTheModel(t *testing.T) {
	hill := func(x []float64) float64 { return -4*(x[0]-0.62)*(x[0]-0.62) - (x[1]-0.37)*(x[1]-0.37) }
	var regret [2]float64
	for seed := range uint64(testsize.Of(4, 20)) {
		var last [2]Proposal
		var best [2]Recommendation
		for k, word := range []string{recommendedMeasured, recommendedModel} {
			s := fixedSpec("irgp-ucb", 2, seed+1)
			s.Confidence, s.Recommended, s.InitialSteps = "", word, 6
			p, rng := fresh(t, s), rand.New(rand.NewPCG(seed, 5))
			for step := 1; step <= 18; step++ {
				var err error
				if last[k], err = p.Propose(t.Context()); err != nil {
					t.Fatal(err)
				}
				observe(t, p, Observation{Step: step, X: last[k].X, Mean: hill(last[k].X) + 0.1*rng.NormFloat64(), Variance: math.NaN(), Shots: 1, Valid: true})
				if best[k], err = p.Recommend(); err != nil {
					t.Fatal(err)
				}
			}
			regret[k] -= hill(best[k].X)
		}
		if !same(last[:1], last[1:]) {
			t.Errorf("seed %d: proposed %v and %v", seed, last[0].X, last[1].X)
		}
		if best[1].LowerBound < best[0].LowerBound {
			t.Errorf("seed %d: bound %g of all settings, %g of the measured ones", seed, best[1].LowerBound, best[0].LowerBound)
		}
	}
	t.Logf("regret, summed: %.4f of the measured settings, %.4f of all", regret[0], regret[1])
	if regret[1] >= regret[0] {
		t.Errorf("regret %.4f of all settings, %.4f of the measured ones", regret[1], regret[0])
	}
}
