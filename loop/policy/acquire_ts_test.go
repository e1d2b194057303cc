package policy

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/loop/policy/acquisition"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// fixedSpec is a problem of d continuous variables with given hyperparameters.
func fixedSpec(kind string, d int, seed uint64) Spec {
	s := Spec{Kind: kind, Variables: box(d), Confidence: "constant", Beta: 2, Design: "sobol", InitialSteps: 2, Seed: seed,
		Model: model.Spec{Kernel: "se", Hyperparameters: "fixed", Outputscale: 1, NoiseSD: 0.1}}
	for range d {
		s.Model.Lengthscale = append(s.Model.Lengthscale, 0.3)
	}
	s.ControlSets = []space.ControlSet{{Controlled: make([]bool, d), Cost: 1}}
	for i := range d {
		s.ControlSets[0].Controlled[i] = true
	}
	return s
}

// withCandidates restricts a problem to n scattered settings.
func withCandidates(s Spec, n int) Spec {
	rng := rand.New(rand.NewPCG(s.Seed, 11))
	for range n {
		row := make([]float64, len(s.Variables))
		for i := range row {
			row[i] = rng.Float64()
		}
		s.Candidates = append(s.Candidates, row)
	}
	return s
}

// observeAt gives n observations at candidates, or anywhere without candidates.
func observeAt(t *testing.T, p Policy, s Spec, n int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(s.Seed, 12))
	for step := 1; step <= n; step++ {
		o := Observation{Step: step, Shots: 1, Valid: true, Variance: math.NaN(), Mean: rng.NormFloat64(), Cost: 1}
		for range s.Variables {
			o.X = append(o.X, rng.Float64())
		}
		if len(s.Candidates) > 0 {
			o.X = s.Candidates[rng.IntN(len(s.Candidates))]
		}
		observe(t, p, o)
	}
}

// agree checks the mean and the covariance of draws (row by row) against a joint
// posterior computed by plain linear algebra, within five standard errors.
func agree(t *testing.T, name string, draws [][]float64, mean []float64, cov [][]float64, slack float64) {
	t.Helper()
	n := float64(len(draws))
	for i := range mean {
		sum := 0.0
		for _, f := range draws {
			sum += f[i] / n
		}
		if d := math.Abs(sum - mean[i]); d > 5*math.Sqrt(cov[i][i]/n)+1e-9 {
			t.Errorf("%s: mean at %d is %.4f, want %.4f", name, i, sum, mean[i])
		}
		for j := range i + 1 {
			c := 0.0
			for _, f := range draws {
				c += (f[i] - mean[i]) * (f[j] - mean[j]) / n
			}
			se := math.Sqrt((cov[i][i]*cov[j][j] + cov[i][j]*cov[i][j]) / n)
			if d := math.Abs(c - cov[i][j]); d > 5*se+slack+1e-9 {
				t.Errorf("%s: covariance of %d and %d is %.4f, want %.4f (se %.4f)", name, i, j, c, cov[i][j], se)
			}
		}
	}
}

// posterior is the joint posterior of a process at points, by Gaussian elimination.
func posterior(g *gpcore.GP, x [][]float64) (mean []float64, cov [][]float64) {
	n := g.Len()
	k := make([][]float64, n)
	for i := range k {
		k[i] = make([]float64, n)
		for j := range n {
			k[i][j] = g.Kernel().Cov(g.X(i), g.X(j))
		}
		k[i][i] += g.NoiseVariance(i)
	}
	right := make([][]float64, n) // [covariances with x | y]
	for i := range right {
		for _, p := range x {
			right[i] = append(right[i], g.Kernel().Cov(g.X(i), p))
		}
		right[i] = append(right[i], g.Target(i))
	}
	left := make([][]float64, n) // keeps the covariances
	for i := range left {
		left[i] = append([]float64(nil), right[i]...)
	}
	for c := range n {
		for r := c + 1; r < n; r++ {
			q := k[r][c] / k[c][c]
			for j := range n {
				k[r][j] -= q * k[c][j]
			}
			for j := range right[r] {
				right[r][j] -= q * right[c][j]
			}
		}
	}
	for r := n - 1; r >= 0; r-- {
		for j := range right[r] {
			for c := r + 1; c < n; c++ {
				right[r][j] -= k[r][c] * right[c][j]
			}
			right[r][j] /= k[r][r]
		}
	}
	for a, p := range x {
		m := 0.0
		row := make([]float64, len(x))
		for i := range n {
			m += left[i][a] * right[i][len(x)]
		}
		for b, q := range x {
			row[b] = g.Kernel().Cov(p, q)
			for i := range n {
				row[b] -= left[i][a] * right[i][b]
			}
		}
		mean, cov = append(mean, m), append(cov, row)
	}
	return mean, cov
}

// Samples at candidates have the posterior's mean and covariance: with observations at
// candidates, and with one off them, which takes another way.
func TestSamplesAtCandidates(t *testing.T) {
	s := withCandidates(fixedSpec("ts", 2, 5), 8)
	for _, off := range []bool{false, true} {
		p := fresh(t, s)
		observeAt(t, p, s, 6)
		if off {
			observe(t, p, Observation{Step: 7, X: []float64{0.31, 0.62}, Shots: 1, Valid: true, Variance: math.NaN(), Mean: 1})
		}
		e := p.(*engine)
		const count = 4000
		var draws [][]float64
		for step := range count {
			_, o := decisionBefore(t, e, 8+step, 0)
			draws = append(draws, valuesAt(o[0], e.domains[0].List))
		}
		mean, cov := posterior(e.model.GP, s.Candidates)
		agree(t, map[bool]string{false: "at candidates", true: "one off"}[off], draws, mean, cov, 0)
	}
}

// Paths have the posterior's mean and covariance; 1000 waves err by about 1/sqrt(1000)
// of the prior variance in each path, which averages out over paths.
func TestPathsAreTheSamePosterior(t *testing.T) {
	s := fixedSpec("gp-ts", 2, 6)
	p := fresh(t, s)
	observeAt(t, p, s, 6)
	points := [][]float64{{0.1, 0.2}, {0.15, 0.25}, {0.8, 0.3}, {0.5, 0.9}}
	var flat []float64
	for _, x := range points {
		flat = append(flat, x...)
	}
	var draws [][]float64
	for step := range 1000 {
		_, o := decisionBefore(t, p.(*engine), 8+step, 0)
		draws = append(draws, valuesAt(o[0], flat))
	}
	mean, cov := posterior(p.(*engine).model.GP, points)
	agree(t, "paths", draws, mean, cov, 0)
}

// All control sets see the same sample: what one that leaves a variable random
// maximises is the mean of what the full one maximises; and gradients are those of
// finite differences.
func TestControlSetsShareASample(t *testing.T) {
	s := cvsSpec()
	s.Kind, s.Schedule = "ts-psq", ""
	s.Model = model.Spec{Kernel: "matern52", Hyperparameters: "fixed", Lengthscale: []float64{.3, .4, .5}, Outputscale: 1, NoiseSD: 0.1}
	for i := range s.Variables {
		s.Variables[i].Random = space.Distribution{Kind: space.TruncatedNormal, Mean: 0.5, SD: 0.15}
	}
	p := fresh(t, s)
	fill(t, p, s, 12, 1)
	e := p.(*engine)
	d, _ := decisionBefore(t, e, 13, 0)
	d.Sets = []int{0, 1, 2}
	options, err := e.acquisition.Options(d.Decision)
	if err != nil {
		t.Fatal(err)
	}
	const side = 400 // midpoints of quantiles: error below 1e-5 for smooth functions
	m := e.criterion.Random.Marginals[2]
	for _, c := range [][]float64{{0.2, 0.3}, {0.9, 0.1}} {
		want := 0.0
		for q := range side {
			r := m.Quantile((float64(q) + 0.5) / side)
			want += valuesAt(options[2], []float64{c[0], c[1], r})[0] / side
		}
		if got := valuesAt(options[1], c)[0]; math.Abs(got-want) > 2e-3 {
			t.Errorf("at %v: %.5f, the mean of the full set's is %.5f", c, got, want)
		}
	}
	for i, o := range options {
		slopes(t, o, []float64{0.3, 0.6, 0.4}[:i+1])
	}
}

// slopes compares an option's gradient with central differences.
func slopes(t *testing.T, o acquisition.Option, x []float64) {
	t.Helper()
	g, ok := o.Objective.(search.Differentiable)
	if !ok {
		t.Fatalf("option of set %d has no gradient", o.Set)
	}
	value, grad := make([]float64, 1), make([]float64, len(x))
	g.Gradients(value, grad, x)
	if v := valuesAt(o, x)[0]; math.Abs(v-value[0]) > 1e-9*(1+math.Abs(v)) {
		t.Errorf("set %d: value %.12g beside the gradient, %.12g alone", o.Set, value[0], v)
	}
	const h = 1e-5
	for i := range x {
		up, down := append([]float64(nil), x...), append([]float64(nil), x...)
		up[i] += h
		down[i] -= h
		want := (valuesAt(o, up)[0] - valuesAt(o, down)[0]) / (2 * h)
		if math.Abs(want-grad[i]) > 1e-4*(1+math.Abs(want)) { // differences lose five digits
			t.Errorf("set %d: slope %d is %.8g, differences say %.8g", o.Set, i, grad[i], want)
		}
	}
}

// Every view has a sample of its own; of a view with several components each is taken
// as often as its weight says.
func TestViewsHaveSamplesOfTheirOwn(t *testing.T) {
	s := withCandidates(fixedSpec("ts", 1, 7), 5)
	p := fresh(t, s)
	observeAt(t, p, s, 4)
	e := p.(*engine)
	g := e.model.GP
	first := 0
	const steps = 2000
	for step := range steps {
		d, _ := decisionBefore(t, e, 8+step, 0)
		d.Views = []model.View{{{GP: g, Mean: 1, Scale: 1, Weight: 0.3}, {GP: g, Mean: 2, Scale: 1, Weight: 0.7}}, {{GP: g, Mean: 1, Scale: 1, Weight: 1}}}
		options, err := e.acquisition.Options(d.Decision)
		if err != nil {
			t.Fatal(err)
		}
		if options[0].Offset == 1 {
			first++
		}
		a, b := valuesAt(options[0], e.domains[0].List), valuesAt(options[1], e.domains[0].List)
		if a[0] == b[0] {
			t.Fatal("two views share a sample")
		}
	}
	if se := math.Sqrt(0.21 * steps); math.Abs(float64(first)-0.3*steps) > 5*se {
		t.Errorf("the component of weight 0.3 was taken %d times of %d", first, steps)
	}
}
