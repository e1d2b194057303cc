package policy

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// noisy is a test problem on the unit cube: the objective and the standard deviation
// of one shot. Both are those of Makarova et al.'s code, whose function called
// variance is used as the standard deviation.
type noisy struct {
	dims int
	f    func(x []float64) float64
	sd   func(x []float64) float64
}

func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// sine has two equal maxima at x = 0.25 (quiet) and 1.25 (noisy) of [0, 2].
func sine(scale float64) noisy {
	return noisy{1,
		func(x []float64) float64 { return math.Sin(2 * math.Pi * 2 * x[0]) },
		func(x []float64) float64 { return sigmoid(30*(2*x[0]-1))*scale + 0.1 }}
}

// branin has three equal maxima, of which C = (-pi, 12.275) is quiet.
func branin(scale float64) noisy {
	at := func(x []float64) (float64, float64) { return 15*x[0] - 5, 15 * x[1] }
	v := func(z, shift float64) float64 { return sigmoid(2*(z-shift))*scale + 0.2 }
	return noisy{2,
		func(x []float64) float64 {
			a, b := at(x)
			q := b - 5.1/(4*math.Pi*math.Pi)*a*a + 5/math.Pi*a - 6
			return -(q*q + 10*(1-1/(8*math.Pi))*math.Cos(a) + 10)
		},
		func(x []float64) float64 { a, b := at(x); return v(a, 3.2) * v(b, 0) }}
}

// shots measures a setting k times.
func (n noisy) shots(x []float64, k int, rng *rand.Rand) (mean, variance float64) {
	f, sd := n.f(x), n.sd(x)
	y := make([]float64, k)
	for i := range y {
		y[i] = f + sd*rng.NormFloat64()
		mean += y[i] / float64(k)
	}
	for _, v := range y {
		variance += (v - mean) * (v - mean) / float64(k-1)
	}
	return mean, variance
}

// mv is the mean-variance objective.
func (n noisy) mv(x []float64, alpha float64) float64 { s := n.sd(x); return n.f(x) - alpha*s*s }

// campaign runs a policy on the problem for the initial steps and then steps more;
// the noise of a step depends on seed and step only, so campaigns are paired.
// regret is the cumulative mean-variance regret after the initial steps.
func (n noisy) campaign(t testing.TB, s Spec, alpha, optimum float64, steps int) (rec Recommendation, regret float64) {
	t.Helper()
	p, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	for step := 1; step <= s.InitialSteps+steps; step++ {
		q, err := p.Propose(context.Background())
		if err != nil {
			t.Fatalf("seed %d: %v", s.Seed, err)
		}
		mean, variance := n.shots(q.X, 10, rand.New(rand.NewPCG(s.Seed, uint64(step))))
		if err := p.Observe(Observation{Step: q.Step, X: q.X, Mean: mean, Variance: variance, Shots: 10, Cost: 10, Valid: true}); err != nil {
			t.Fatal(err)
		}
		if step > s.InitialSteps {
			regret += optimum - n.mv(q.X, alpha)
		}
	}
	if rec, err = p.Recommend(); err != nil {
		t.Fatal(err)
	}
	return rec, regret
}
