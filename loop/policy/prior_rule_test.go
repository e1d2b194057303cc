package policy

import (
	"math"
	"testing"

	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
)

// A prior is drawn as often as the hyperposterior says (HP-GP-TS), the most probable
// one is taken (MAP-GP-TS), or all count by their probability.
func TestRulesFollowTheHyperposterior(t *testing.T) {
	const draws = 4000
	s := priorSpec("sampled", threePriors())
	p := fresh(t, s)
	told(t, p, 4, 1)
	c := p.(*engine).model.Priors
	probability := p.(PriorReporter).Priors().Probability
	if probability[num.Argmax(probability)] > 0.95 {
		t.Fatalf("the data decide already: %v", probability)
	}
	count := make([]float64, len(probability))
	for step := range draws {
		v := c.Views(step + 1)
		if len(v) != 1 || len(v[0]) != 1 || v[0][0].Weight != 1 {
			t.Fatalf("sampled: %d views", len(v))
		}
		count[v[0][0].Member]++
	}
	for i, n := range count {
		want := probability[i]
		if e := (n/draws - want) / math.Sqrt(want*(1-want)/draws); math.Abs(e) > 5 {
			t.Errorf("seed %d: prior %d drawn %g of %d times, probability %g: %.1f standard errors", s.Seed, i+1, n, draws, want, e)
		}
	}
	c.Spec.PriorRule = "greedy"
	if v := c.Views(7); len(v) != 1 || v[0][0].Member != num.Argmax(probability) {
		t.Errorf("greedy: %+v, probabilities %v", v, probability)
	}
	c.Spec.PriorRule = "elimination"
	if v := c.Views(7); len(v) != 3 {
		t.Errorf("elimination: %d views of 3 priors", len(v))
	}
	c.Spec.PriorRule = "averaged"
	v := c.Views(7)
	if len(v) != 1 {
		t.Fatalf("averaged: %d views", len(v))
	}
	for _, q := range v[0] { // three of them, less than 1e-4 of the probability is left out
		if math.Abs(q.Weight-probability[q.Member]) > 3e-4 {
			t.Errorf("averaged: weight %g of prior %d, probability %g", q.Weight, q.Member+1, probability[q.Member])
		}
	}
}

// The mixture of five priors, one of each kernel, against numpy: probabilities, mean,
// standard deviation, and the averaged upper bound that a decision maximises.
func TestMixtureAgainstNumpy(t *testing.T) {
	o := numbers(t).Priors
	s := priorSpec("averaged", nil)
	s.Beta = o.Beta
	for _, q := range o.Priors {
		s.Model.Priors = append(s.Model.Priors, model.Prior{Kernel: q.Kernel, Lengthscale: q.Lengthscale,
			Outputscale: q.Outputscale, NoiseSD: q.NoiseSD, Mean: q.Mean, Weight: q.Weight})
	}
	p := fresh(t, s)
	for i := range o.Y {
		observe(t, p, Observation{Step: i + 1, X: o.X[i], Mean: o.Y[i], Variance: math.NaN(), Shots: o.Shots[i], Valid: true})
	}
	d, options := decisionBefore(t, p.(*engine), len(o.Y)+1, 0)
	got := p.(PriorReporter).Priors().Probability
	for i, want := range o.Probability {
		if math.Abs(got[i]-want) > 1e-10 {
			t.Errorf("prior %d: probability %.12f, want %.12f", i+1, got[i], want)
		}
	}
	h, v := d.Criterion.Model.Active, d.Criterion.Model.Posterior()
	for k, x := range o.At {
		var mean, sd [1]float64
		v.Moments(nil, mean[:], sd[:], x)
		upper := options[0].InUserUnits(h, valuesAt(options[0], x)[0])
		for what, pair := range map[string][2]float64{"mean": {h.Center + h.Scale*mean[0], o.Mean[k]},
			"sd": {h.Scale * sd[0], o.SD[k]}, "averaged bound": {upper, o.Upper[k]}} {
			// Nine observations, no component below the weight at which one is left out:
			// rounding of condition numbers near 100.
			if math.Abs(pair[0]-pair[1]) > 1e-10*(1+math.Abs(pair[1])) {
				t.Errorf("%s at %v: %.9f, want %.9f", what, x, pair[0], pair[1])
			}
		}
	}
}

// A noise that is known replaces that of every prior, in the weights too.
func TestPriorsWithKnownNoise(t *testing.T) {
	s := priorSpec("averaged", threePriors()[:2])
	s.NoiseVariance = func(x []float64) float64 { return 0.05 + 0.3*x[0] }
	p := fresh(t, s)
	x, y, _ := told(t, p, 12, 1)
	noise := make([]float64, len(x))
	for k := range x {
		noise[k] = s.NoiseVariance(x[k])
	}
	rest := func(mean float64) []float64 {
		out := make([]float64, len(y))
		for k := range y {
			out[k] = y[k] - mean
		}
		return out
	}
	checkProbabilities(t, p, []float64{
		math.Log(2) + dense(kernels.SquaredExponential(4, []float64{0.2, 0.2}), x, rest(1), noise),
		dense(kernels.Matern32(1, []float64{0.3, 0.6}), x, rest(-1), noise)})
}
