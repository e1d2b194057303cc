package policy

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/loop/policy/model"
)

// threePriors are given in full: the sequential hyperposterior.
func threePriors() []model.Prior {
	return []model.Prior{
		{Kernel: "se", Lengthscale: []float64{0.2}, Outputscale: 4, NoiseSD: 0.3, Mean: 1, Weight: 2},
		{Kernel: "matern32", Lengthscale: []float64{0.3, 0.6}, Outputscale: 1, NoiseSD: 0.5, Mean: -1, Weight: 1},
		{Kernel: "rq", Lengthscale: []float64{0.4}, Outputscale: 9, NoiseSD: 0.2, Weight: 0.5,
			MeanOf: func(x []float64) float64 { return 0.5 * x[0] }},
	}
}

func priorSpec(rule string, priors []model.Prior) Spec {
	return Spec{Kind: "gp-ucb", Variables: box(2), ControlSets: full(2), Confidence: "constant", Beta: 2, Design: "sobol",
		InitialSteps: 2, Seed: 5, Model: model.Spec{Kernel: "matern52", Hyperparameters: "priors", Priors: priors, PriorRule: rule}}
}

// dense is the log density of y under a Gaussian process, by elimination without pivots.
func dense(k kernels.Kernel, x [][]float64, y, noise []float64) float64 {
	n := len(y)
	a := make([][]float64, n)
	for i := range a {
		a[i] = make([]float64, n+1)
		for j := range n {
			a[i][j] = k.Cov(x[i], x[j])
		}
		a[i][i] += noise[i]
		a[i][n] = y[i]
	}
	ll := -0.5 * float64(n) * math.Log(2*math.Pi)
	for i := range n { // the pivots are the variances of y_i given y_1..y_(i-1)
		ll -= 0.5*math.Log(a[i][i]) + 0.5*a[i][n]*a[i][n]/a[i][i]
		for r := i + 1; r < n; r++ {
			f := a[r][i] / a[i][i]
			for c := i; c <= n; c++ {
				a[r][c] -= f * a[i][c]
			}
		}
	}
	return ll
}

// told feeds n random observations and returns what the model was told.
func told(t *testing.T, p Policy, n, shots int) (x [][]float64, y, s2 []float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(31, uint64(n)))
	for step := 1; step <= n; step++ {
		at := []float64{rng.Float64(), rng.Float64()}
		o := Observation{Step: step, X: at, Mean: 2 + 3*math.Sin(5*at[0]) + at[1] + 0.2*rng.NormFloat64(), Variance: math.NaN(), Shots: shots, Valid: true}
		if shots > 1 {
			o.Variance = 0.04 * math.Exp(2*at[1]) * (0.5 + rng.Float64())
		}
		observe(t, p, o)
		x, y, s2 = append(x, at), append(y, o.Mean), append(s2, o.Variance)
	}
	return x, y, s2
}

// The hyperposterior is Bayes' rule on the density of all that was observed, computed
// without any of the model's code. A run resumed at capacity keeps what left: there the
// product of the predictions, each from a process of its own.
func TestHyperposteriorAgainstEvidence(t *testing.T) {
	s := priorSpec("averaged", threePriors())
	p := fresh(t, s)
	x, y, _ := told(t, p, 30, 1)
	var logs []float64
	for i, q := range s.Model.Priors {
		l := q.Lengthscale
		if len(l) == 1 {
			l = slices.Repeat(l, 2)
		}
		r, noise := make([]float64, len(y)), make([]float64, len(y))
		for k := range y {
			r[k], noise[k] = y[k]-q.Mean, q.NoiseSD*q.NoiseSD
			if q.MeanOf != nil {
				r[k] -= q.MeanOf(x[k])
			}
		}
		k := []kernels.Kernel{kernels.SquaredExponential(4, l), kernels.Matern32(1, l), kernels.RationalQuadratic(9, 0.5, l)}[i]
		logs = append(logs, dense(k, x, r, noise)+math.Log(q.Weight))
	}
	checkProbabilities(t, p, logs)
}

// checkProbabilities compares with weights given by their logarithms; sums of 30 terms
// of order 10 are good to 1e-12.
func checkProbabilities(t *testing.T, p Policy, logs []float64) {
	t.Helper()
	sum, top := 0.0, slices.Max(logs)
	for _, l := range logs {
		sum += math.Exp(l - top)
	}
	got := p.(PriorReporter).Priors().Probability
	for i, l := range logs {
		if want := math.Exp(l-top) / sum; math.Abs(got[i]-want) > 1e-9 {
			t.Errorf("prior %d: probability %.12g, by evidence %.12g", i+1, got[i], want)
		}
	}
}

// At capacity an observation that left keeps its share in the sequential weights: each
// reading counts with its density given those held when it came.
func TestHyperposteriorAtCapacity(t *testing.T) {
	s := priorSpec("averaged", threePriors()[:2])
	s.Model.Capacity = 8
	p := fresh(t, s)
	x, y, _ := told(t, p, 25, 1)
	held := model.Store{Capacity: 8, Dims: 2}
	logs := []float64{math.Log(2), 0}
	kernels := []kernels.Kernel{kernels.SquaredExponential(4, []float64{0.2, 0.2}), kernels.Matern32(1, []float64{0.3, 0.6})}
	for k := range y {
		held.Add(model.Row{X: x[k], Mean: y[k], Shots: 1})
		var at [][]float64
		var all []float64
		for _, r := range held.Rows {
			at, all = append(at, r.X), append(all, r.Mean)
		}
		n := len(all)
		for i, q := range s.Model.Priors {
			z, noise := make([]float64, n), make([]float64, n)
			for j := range z {
				z[j], noise[j] = all[j]-q.Mean, q.NoiseSD*q.NoiseSD
			}
			logs[i] += dense(kernels[i], at, z, noise) - dense(kernels[i], at[:n-1], z[:n-1], noise[:n-1])
		}
	}
	checkProbabilities(t, p, logs)
}

// Means and output scales that are estimated count by their integrated evidence: here
// by brute force, the mean as a part of the kernel and the scale on a fine grid.
func TestEstimatedPriorsAgainstQuadrature(t *testing.T) {
	nan := math.NaN()
	s := priorSpec("averaged", []model.Prior{
		{Kernel: "se", Lengthscale: []float64{0.3}, Outputscale: nan, NoiseSD: nan, Mean: nan},
		{Kernel: "matern52", Lengthscale: []float64{0.2}, Outputscale: 4, NoiseSD: 0.4, Mean: nan},
		{Kernel: "matern32", Lengthscale: []float64{0.5}, Outputscale: 4, NoiseSD: 0.4, Mean: 2},
	})
	p := fresh(t, s)
	x, y, _ := told(t, p, 14, 1)
	center, scale := momentsOf(y)
	z := make([]float64, len(y))
	for k := range y {
		z[k] = (y[k] - center) / scale
	}
	shifted := func(k kernels.Kernel, variance float64) kernels.Kernel {
		return kernels.Sum(k, kernels.Constant(variance, 2))
	}
	constantly := func(v float64) []float64 { return slices.Repeat([]float64{v}, len(y)) }
	// First prior: three noise ratios, each integrated over a^2 = exp(g).
	first, weights := math.Inf(-1), 0.0
	for _, q := range []float64{-1.5, 0, 1.5} {
		ratio, w := 0.01*math.Exp(1.5*q), math.Exp(-q*q/2)
		weights += w
		const step = 0.01
		for g := -12.0; g < 12; g += step {
			v := math.Exp(g)
			// Inverse gamma(1/2, 1/2) of v, times dv/dg = v.
			logPrior := 0.5*math.Log(0.5) - 0.5*math.Log(math.Pi) - 0.5*g - 0.5/v
			l := dense(shifted(kernels.SquaredExponential(v, []float64{0.3, 0.3}), v), x, z, constantly(v*ratio))
			first = logAdd(first, l+logPrior+math.Log(step)+math.Log(w))
		}
	}
	u := 4 / (scale * scale)
	noise := constantly(0.16 / (scale * scale))
	second := dense(shifted(kernels.Matern52(u, []float64{0.2, 0.2}), u), x, z, noise)
	for k := range z {
		z[k] = (y[k] - 2) / scale
	}
	third := dense(kernels.Matern32(u, []float64{0.5, 0.5}), x, z, noise)
	// The trapezoidal rule converges exponentially here: nothing is left at 1e-9.
	checkProbabilities(t, p, []float64{first - math.Log(weights), second, third})
}

func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	return a + math.Log1p(math.Exp(b-a))
}

func momentsOf(y []float64) (mean, sd float64) {
	for _, v := range y {
		mean += v / float64(len(y))
	}
	for _, v := range y {
		sd += (v - mean) * (v - mean) / float64(len(y)-1)
	}
	return mean, math.Sqrt(sd)
}

// What is wrong with priors is named.
func TestPriorsAreChecked(t *testing.T) {
	nan := math.NaN()
	good := model.Prior{Lengthscale: []float64{0.3}, Outputscale: nan, NoiseSD: nan, Mean: nan}
	with := func(f func(p *model.Prior)) []model.Prior { p := good; f(&p); return []model.Prior{good, p} }
	for name, k := range map[string]struct {
		rule   string
		priors []model.Prior
		want   string
	}{
		"empty":             {"averaged", []model.Prior{}, "list of priors is empty"},
		"rule":              {"best", []model.Prior{good}, `prior rule "best" is not known`},
		"kernel":            {"", with(func(p *model.Prior) { p.Kernel = "cosine" }), `kernel "cosine" is not known`},
		"lengthscale":       {"", with(func(p *model.Prior) { p.Lengthscale = []float64{0} }), "prior 2: lengthscale 0 must be positive"},
		"lengthscales":      {"", with(func(p *model.Prior) { p.Lengthscale = []float64{1, 1, 1} }), "prior 2: 3 lengthscales for 2 variables"},
		"outputscale":       {"", with(func(p *model.Prior) { p.Outputscale = 0 }), "prior 2: outputscale 0 must be positive"},
		"noise":             {"", with(func(p *model.Prior) { p.NoiseSD = -1 }), "prior 2: noise sd -1"},
		"mean":              {"", with(func(p *model.Prior) { p.Mean = math.Inf(1) }), "prior 2: mean +Inf"},
		"weight":            {"", with(func(p *model.Prior) { p.Weight = nan }), "prior 2: weight NaN"},
		"weight below zero": {"", with(func(p *model.Prior) { p.Weight = -1 }), "prior 2: weight -1"},
		"custom":            {"", with(func(p *model.Prior) { p.Custom = kernels.Linear([]float64{1}) }), "prior 2: the kernel is for 1 variables, there are 2"},
	} {
		_, err := New(priorSpec(k.rule, k.priors))
		if err == nil || !strings.Contains(err.Error(), k.want) {
			t.Errorf("%s: %v, want %q", name, err, k.want)
		}
	}
	zero := []model.Prior{good, good}
	if p := fresh(t, priorSpec("", zero)).(PriorReporter).Priors().Probability; p[0] != 0.5 || p[1] != 0.5 {
		t.Errorf("weights of zero count as one: %v", p)
	}
}
