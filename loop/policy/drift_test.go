package policy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/labtuner/tuner/loop/policy/drift"
	"github.com/labtuner/tuner/loop/policy/internal/policytest"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// driftCasts are the specifications of drifting objectives that the tests of determinism
// run. They hold within their 24 steps: a search of one variable takes 10 steps, one of a
// few settings no longer than to try each twice.
func driftCasts() map[string]Spec {
	fitted := fixedSpec("track", 1, 41)
	fitted.Model, fitted.Drift.Timescale = model.Spec{Kernel: "matern52", Hyperparameters: "fit", Capacity: 12}, []float64{50}
	set := fixedSpec("track", 1, 42)
	set.Drift = drift.Spec{Timescale: []float64{20, 100}, Hold: 0.1}
	listed := withCandidates(fixedSpec("track", 2, 43), 5)
	subsets := fixedSpec("track", 2, 44)
	subsets.ControlSets = sets(2, []float64{0.1, 1}, []int{0}, []int{0, 1})
	for i := range subsets.Variables {
		subsets.Variables[i].Levels, subsets.Variables[i].Random.Kind = []float64{0.2, 0.8}, space.Learnt
	}
	sampled := fixedSpec("ts", 2, 45)
	sampled.Drift.Timescale = []float64{30}
	risky := rahboSpec(1, 46)
	risky.InitialSteps, risky.Drift = 4, drift.Spec{Hold: 0.05, Detect: true}
	return map[string]Spec{"track fit": fitted, "track several timescales": set, "track listed": listed,
		"track subsets": subsets, "ts drifting": sampled, "rahbo held": risky}
}

// scattered gives a policy n readings of noise at scattered settings.
func scattered(t *testing.T, p Policy, dims, n int, seed uint64) []policytest.Reading {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 3))
	var out []policytest.Reading
	for step := 1; step <= n; step++ {
		r := policytest.Reading{X: make([]float64, dims), Step: step, Y: rng.NormFloat64()}
		for i := range r.X {
			r.X[i] = rng.Float64()
		}
		if err := p.Observe(Observation{Step: step, X: r.X, Mean: r.Y, Variance: math.NaN(), Shots: 1, Valid: true}); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// The model under drift is the process with the product of the two kernels, seen from the
// step about to be played.
func TestDriftingPosterior(t *testing.T) {
	for seed := range uint64(3) {
		s := fixedSpec("gp-ucb", 2, seed)
		s.Drift.Timescale = []float64{15}
		s.Model.Mean, s.Model.Outputscale = 0.4, 2
		p := fresh(t, s)
		readings := scattered(t, p, 2, 30, seed)
		e := p.(*engine)
		setting := []float64{0.3, 0.6}
		got, err := e.estimates(e.domains[0], setting)
		if err != nil {
			t.Fatal(err)
		}
		mean, sd, _ := policytest.DensePosterior(s.Model, readings, 15, policytest.Reading{X: setting, Step: 31})
		// Two solutions of a well-conditioned system of 30 observations.
		if math.Abs(got[0].Mean-mean) > 1e-10 || math.Abs(got[0].SD-sd) > 1e-10 {
			t.Errorf("seed %d: %.12f +- %.12f, want %.12f +- %.12f", seed, got[0].Mean, got[0].SD, mean, sd)
		}
	}
}

// Several timescales weigh as their evidences do, and the belief is their mixture.
func TestTimescalesCompete(t *testing.T) {
	timescales := []float64{4, 40, 400}
	for seed := range uint64(3) {
		s := fixedSpec("gp-ucb", 2, seed)
		s.Drift.Timescale = timescales
		p := fresh(t, s)
		readings := scattered(t, p, 2, 25, seed)
		e := p.(*engine)
		at := policytest.Reading{X: []float64{0.3, 0.6}, Step: 26}
		weights, total, top := make([]float64, 3), 0.0, math.Inf(-1)
		means, sds := make([]float64, 3), make([]float64, 3)
		for i, tau := range timescales {
			means[i], sds[i], weights[i] = policytest.DensePosterior(s.Model, readings, tau, at)
			top = max(top, weights[i])
		}
		for i := range weights {
			weights[i] = math.Exp(weights[i] - top)
			total += weights[i]
		}
		mean, second := 0.0, 0.0
		for i, w := range weights {
			mean += w / total * means[i]
			second += w / total * (sds[i]*sds[i] + means[i]*means[i])
		}
		got, err := e.estimates(e.domains[0], at.X)
		if err != nil {
			t.Fatal(err)
		}
		sd := math.Sqrt(second - mean*mean)
		// Members of negligible weight (1e-4) are left out of the mixture.
		if math.Abs(got[0].Mean-mean) > 1e-3 || math.Abs(got[0].SD-sd) > 1e-3 {
			t.Errorf("seed %d: %.6f +- %.6f, want %.6f +- %.6f (weights %v of %g)", seed, got[0].Mean, got[0].SD, mean, sd, weights, total)
		}
	}
}

// With a long timescale and hardly any time, drift changes nothing.
func TestSlowestDriftIsNone(t *testing.T) {
	still, drifting := fixedSpec("gp-ucb", 2, 9), fixedSpec("gp-ucb", 2, 9)
	drifting.Drift.Timescale = []float64{1e9}
	w := story{scale: 1, shots: 1}
	a := w.tell(t, fresh(t, still), &still, 12, nil)
	b := w.tell(t, fresh(t, drifting), &drifting, 12, nil)
	for i := range a {
		for j := range a[i].X {
			// The search ends where gradients are 1e-5 of the objective's scale.
			if math.Abs(a[i].X[j]-b[i].X[j]) > 1e-3 {
				t.Fatalf("step %d: %v and %v", i+1, a[i].X, b[i].X)
			}
		}
	}
}

func TestNewRefusesDrifts(t *testing.T) {
	refused(t, []refusal{
		{`timescale 0 of the drift, in steps, must be positive`, fixedSpec("track", 2, 1), func(s *Spec) { s.Drift.Timescale = []float64{0} }},
		{`timescale +Inf of the drift`, fixedSpec("track", 2, 1), func(s *Spec) { s.Drift.Timescale = []float64{math.Inf(1)} }},
		{`17 timescales of the drift: at most 16 can compete`, fixedSpec("track", 2, 1), func(s *Spec) { s.Drift.Timescale = slices.Repeat([]float64{9}, 17) }},
		{`hold 1.5 must lie between 0 and 1`, fixedSpec("track", 2, 1), func(s *Spec) { s.Drift.Hold = 1.5 }},
		{`hold NaN must lie`, fixedSpec("track", 2, 1), func(s *Spec) { s.Drift.Hold = math.NaN() }},
		{`hyperparameters "fit" take one timescale of the drift, got 2`, fixedSpec("track", 2, 1), func(s *Spec) {
			s.Drift.Timescale, s.Model = []float64{10, 20}, model.Spec{Kernel: "se", Hyperparameters: "fit"}
		}},
		{`kind "random" follows nothing`, rahboSpec(2, 1), func(s *Spec) { s.Kind, s.Risk, s.Drift.Detect = "random", 0, true }},
	})
}
