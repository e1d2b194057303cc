package model

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A fit whose process cannot be computed leaves the model as it was.
func TestAFitThatCannotBeTaken(t *testing.T) {
	m, err := New(&Rules{Dims: 2, Spec: Spec{Kernel: "matern52", Hyperparameters: HyperPriors, Capacity: 32, RefitEvery: 5, RefitLag: 1}})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(4, 2))
	for step := range 20 {
		x := []float64{rng.Float64(), rng.Float64()}
		m.Observe(Row{X: x, Mean: math.Sin(6*x[0]) + 0.02*rng.NormFloat64(), Variance: math.NaN(), Shots: 1, Step: step + 1})
	}
	h, err := m.Task(21).run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := m.adoptMember(h); err != nil {
		t.Fatal(err)
	}
	moments := func() (mean, sd [1]float64) {
		m.Posterior().Moments(nil, mean[:], sd[:], []float64{0.3, 0.6})
		return mean, sd
	}
	before := m.OwnLengthscales()
	mean, sd := moments()
	bad := *h
	bad.ShotVariance = math.NaN()
	if m.adoptMember(&bad) == nil {
		t.Fatal("a noise that is no number was taken")
	}
	if err := m.Refresh(); err != nil {
		t.Fatal(err)
	}
	again, spread := moments()
	if math.Abs(again[0]-mean[0]) > 1e-9 || math.Abs(spread[0]-sd[0]) > 1e-9 || math.Abs(m.OwnLengthscales()-before) > 1e-6 || before < 0.01 {
		t.Errorf("%v (%v), probability %g; before %v (%v), %g", again, spread, m.OwnLengthscales(), mean, sd, before)
	}
}

// Where single shots teach the noise, and where nothing could be told apart, no member is fitted.
func TestWhereNoMemberIsFitted(t *testing.T) {
	rules := func(change func(*Rules)) *Rules {
		r := &Rules{Dims: 2, Spec: Spec{Kernel: "matern52", Hyperparameters: HyperPriors, Capacity: 32}}
		change(r)
		return r
	}
	if !rules(func(*Rules) {}).fitsMember() {
		t.Error("no member is fitted by default")
	}
	for name, change := range map[string]func(*Rules){
		"single shots teach the noise": func(r *Rules) { r.Learnt, r.Singles = true, true },
		"shared":                       func(r *Rules) { r.Spec.Lengthscales = LengthscalesShared },
		"one variable":                 func(r *Rules) { r.Dims = 1 },
		"elimination":                  func(r *Rules) { r.Spec.PriorRule = PriorsElimination },
		"drift":                        func(r *Rules) { r.Timescales = []float64{50} },
		"linear":                       func(r *Rules) { r.Spec.Kernel = kernelLinear },
	} {
		if r := rules(change); r.fitsMember() || len(r.fittedMember()) > 0 {
			t.Errorf("%s: a member is fitted", name)
		}
	}
}
