package policy

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/loop/policy/model"
)

// conditional is the mean and the variance of a zero-mean process at a point given
// noisy values elsewhere, by elimination without pivots.
func conditional(k kernels.Kernel, x [][]float64, y []float64, noise float64, at []float64) (mean, variance float64) {
	n := len(y)
	points := append(append([][]float64{}, x...), at)
	a := make([][]float64, n+1)
	for i := range a {
		a[i] = make([]float64, n+2)
		for j := range n + 1 {
			a[i][j] = k.Cov(points[i], points[j])
		}
		if i < n {
			a[i][i] += noise
			a[i][n+1] = y[i]
		}
	}
	for i := range n {
		for r := i + 1; r <= n; r++ {
			f := a[r][i] / a[i][i]
			for c := i; c <= n+1; c++ {
				a[r][c] -= f * a[i][c]
			}
		}
	}
	return -a[n][n+1], a[n][n]
}

// trialOf is the direct computation of one prior's test.
type trialOf struct {
	kernel     kernels.Kernel
	prior      model.Prior
	sum, width float64
	decided    int
	out        bool
}

// PE-GP-UCB against a direct computation of Algorithm 1: which setting, by which prior,
// and who is out after it.
func TestEliminationAgainstAlgorithm1(t *testing.T) {
	const candidates, steps, delta, noise = 40, 40, 0.05, 0.1
	s := withCandidates(fixedSpec("pe-gp-ucb", 1, 50), candidates)
	s.Confidence, s.Delta, s.InitialSteps = "srinivas", delta, 1
	s.Model = model.Spec{Kernel: "se", Hyperparameters: "priors"}
	priors := []trialOf{ // two expect too much, with certainty
		{kernel: kernels.SquaredExponential(0.04, []float64{0.8})},
		{kernel: kernels.SquaredExponential(1, []float64{0.15})},
		{kernel: kernels.Matern32(0.01, []float64{0.3})},
	}
	for i := range priors {
		p := model.Prior{Custom: priors[i].kernel, NoiseSD: noise, Mean: []float64{6, 0, 7}[i]}
		priors[i].prior = p
		s.Model.Priors = append(s.Model.Priors, p)
	}
	p := fresh(t, s)
	rng := rand.New(rand.NewPCG(50, 1))
	var x [][]float64
	var y []float64
	gone := 0
	for step := 1; step <= steps; step++ {
		q := propose(t, p)
		at := q.X
		count := float64(step - s.InitialSteps)
		member := -1
		if count > 0 {
			zeta := 2 * math.Log(candidates*count*count*math.Pi*math.Pi/(6*delta))
			best := math.Inf(-1)
			for i := range priors {
				for _, c := range s.Candidates {
					if m, v := priors[i].at(x, y, noise, c); !priors[i].out && m+math.Sqrt(zeta*v) > best {
						best, member = m+math.Sqrt(zeta*v), i
						at = c
					}
				}
			}
			if q.Prior != member || math.Abs(q.X[0]-at[0]) > 1e-12 {
				t.Fatalf("step %d: prior %d at %v, by Algorithm 1 prior %d at %v", step, q.Prior, q.X, member, at)
			}
		}
		value := math.Sin(9*q.X[0]) + noise*rng.NormFloat64()
		if member >= 0 {
			r := &priors[member]
			m, v := r.at(x, y, noise, at)
			r.decided++
			r.sum += value - m
			r.width += math.Sqrt(2*math.Log(candidates*count*count*math.Pi*math.Pi/(6*delta))) * math.Sqrt(v)
			xi := 2 * noise * noise * math.Log(3*math.Pi*math.Pi*count*count/(3*delta))
			r.out = math.Abs(r.sum) > math.Sqrt(xi*float64(r.decided))+r.width
		}
		x, y = append(x, q.X), append(y, value)
		observe(t, p, Observation{Step: step, X: q.X, Mean: value, Variance: math.NaN(), Shots: 1, Valid: true})
		report := p.(PriorReporter).Priors()
		gone = 0
		for i := range priors {
			if report.Eliminated[i] != priors[i].out {
				t.Fatalf("step %d: prior %d eliminated %v, by Algorithm 1 %v", step, i, report.Eliminated[i], priors[i].out)
			}
			if priors[i].out {
				gone++
			}
		}
	}
	if gone != 2 {
		t.Errorf("%d priors were eliminated, the test wants 2", gone)
	}
}

// at is the prior's prediction at a setting.
func (r *trialOf) at(x [][]float64, y []float64, noise float64, at []float64) (mean, variance float64) {
	rest := make([]float64, len(y))
	for i := range y {
		rest[i] = y[i] - r.prior.Mean
	}
	m, v := conditional(r.kernel, x, rest, noise*noise, at)
	return r.prior.Mean + m, math.Max(v, 0)
}

// Where every prior fails, the last one stays in force, the policy goes on, and the
// report says that none fits.
func TestAllPriorsEliminated(t *testing.T) {
	for _, kind := range []string{"pe-gp-ucb", "pe-gp-ts"} {
		s := withCandidates(fixedSpec(kind, 1, 51), 30)
		s.Confidence, s.InitialSteps = "srinivas", 1
		s.Model = model.Spec{Kernel: "se", Hyperparameters: "priors"}
		for _, mean := range []float64{0, 3} {
			s.Model.Priors = append(s.Model.Priors, model.Prior{Lengthscale: []float64{5}, Outputscale: 1e-4, NoiseSD: 0.1, Mean: mean})
		}
		p := fresh(t, s)
		for step := 1; step <= 20; step++ {
			q := propose(t, p)
			y := 100.0
			if q.X[0] > 0.5 {
				y = -100
			}
			observe(t, p, Observation{Step: step, X: q.X, Mean: y, Variance: math.NaN(), Shots: 1, Valid: true})
		}
		r := p.(PriorReporter).Priors()
		left := 0
		for i := range r.Eliminated {
			if !r.Eliminated[i] {
				left++
				if r.Probability[i] != 1 {
					t.Errorf("%s: the prior left has probability %g", kind, r.Probability[i])
				}
			}
		}
		if !r.Refuted || left != 1 {
			t.Errorf("%s: refuted %v with %d priors left", kind, r.Refuted, left)
		}
		if _, err := p.Recommend(); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
