package policy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/labtuner/tuner/loop/policy/model"
)

// readingsOf gives a policy readings of f, with a little noise, at n uniform settings.
func readingsOf(t *testing.T, s Spec, n int, f func(x []float64) float64) *engine {
	t.Helper()
	e := fresh(t, s).(*engine)
	rng := rand.New(rand.NewPCG(s.Seed, 3))
	for step := 1; step <= n; step++ {
		o := Observation{Step: step, X: make([]float64, len(s.Variables)), Shots: 1, Variance: math.NaN(), Valid: true}
		for j := range o.X {
			o.X[j] = rng.Float64()
		}
		o.Mean = f(o.X) + 0.02*rng.NormFloat64()
		observe(t, e, o)
	}
	return e
}

// builtInSpec lets the built-in priors compete.
func builtInSpec(d int, seed uint64) Spec {
	s := fixedSpec("irgp-ucb", d, seed)
	s.Confidence = ""
	s.Model = model.Spec{Kernel: "matern52", Hyperparameters: model.HyperPriors}
	return s
}

// Of eight variables two have an effect: the prior with a lengthscale for each variable wins and says which. One
// lengthscale for all of them is what a specification gets that asks for it.
func TestIdleKnobsAreFound(t *testing.T) {
	f := func(x []float64) float64 { return math.Sin(6*x[2]) + math.Cos(5*x[5]) }
	s := builtInSpec(8, 1)
	e := readingsOf(t, s, 45, f)
	if p := e.model.OwnLengthscales(); p < 0.99 {
		t.Errorf("its probability is %g", p)
	}
	l := e.Priors().Fit.Lengthscale
	slowest := max(l[2], l[5])
	for j, v := range l {
		if j != 2 && j != 5 && v < 4*slowest {
			t.Errorf("lengthscale %g of idle variable %d beside %g", v, j, slowest)
		}
	}
	s.Model.Lengthscales = model.LengthscalesShared
	e = readingsOf(t, s, 45, f)
	if l := e.Priors().Fit.Lengthscale; !math.IsNaN(e.model.OwnLengthscales()) || slices.Max(l) != slices.Min(l) || e.model.Refits.Pending != nil {
		t.Errorf("shared: probability %g, lengthscales %v", e.model.OwnLengthscales(), l)
	}
}

// Where few readings tell of a function that is alike in all variables, freedom to choose a lengthscale for
// each one costs more than it brings: the odds, even to begin with, turn against it.
func TestFreedomCounts(t *testing.T) {
	f := func(x []float64) float64 {
		return -4*(x[0]-0.4)*(x[0]-0.4) - 4*(x[1]-0.5)*(x[1]-0.5) - 4*(x[2]-0.6)*(x[2]-0.6) - 4*(x[3]-0.5)*(x[3]-0.5)
	}
	sum, n := 0.0, 10
	for seed := range n {
		sum += readingsOf(t, builtInSpec(4, uint64(seed)+1), 16, f).model.OwnLengthscales()
	}
	if mean := sum / float64(n); mean > 0.5 || mean == 0 {
		t.Errorf("mean probability of a lengthscale for each of four variables alike: %g", mean)
	}
}
