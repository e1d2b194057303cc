package policy

import (
	"context"
	"flag"
	"math"
	"math/rand/v2"
	"testing"
)

var warpRuns = flag.Int("policy.warp-runs", 2, "seeds of each problem of TestTransformationPays; campaign 10")

// powered is a problem on the unit cube, with its greatest value and the standard deviation of a reading, absolute
// and as a share of the value.
type powered struct {
	name            string
	dims            int
	best            float64
	f               func(u []float64) float64
	noise, relative float64
	skewed          bool
}

// hartmann3 is Hartmann's function of three variables: see loop/benchmarks/cvs.
func hartmann3(u []float64) float64 {
	a := [4][3]float64{{3, 10, 30}, {0.1, 10, 35}, {3, 10, 30}, {0.1, 10, 35}}
	p := [4][3]float64{{0.3689, 0.1170, 0.2673}, {0.4699, 0.4387, 0.7470}, {0.1091, 0.8732, 0.5547}, {0.0381, 0.5743, 0.8828}}
	sum := 0.0
	for i, w := range []float64{1, 1.2, 3, 3.2} {
		q := 0.0
		for j := range 3 {
			q += a[i][j] * (u[j] - p[i][j]) * (u[j] - p[i][j])
		}
		sum += w * math.Exp(-q)
	}
	return sum
}

func poweredProblems() []powered {
	rosenbrock := func(u []float64) float64 {
		x, y := 4*u[0]-2, 4*u[1]-1
		return -(1 + (1-x)*(1-x) + 100*(y-x*x)*(y-x*x))
	}
	goldstein := func(u []float64) float64 {
		x, y := 4*u[0]-2, 4*u[1]-2
		a := 1 + (x+y+1)*(x+y+1)*(19-14*x+3*x*x-14*y+6*x*y+3*y*y)
		b := 30 + (2*x-3*y)*(2*x-3*y)*(18-32*x+12*x*x+48*y-36*x*y+27*y*y)
		return -a * b
	}
	return []powered{
		{"exp(2 Hartmann-3)", 3, math.Exp(2 * 3.86278), func(u []float64) float64 { return math.Exp(2 * hartmann3(u)) }, 0, 0.02, true},
		{"Rosenbrock", 2, -1, rosenbrock, 0, 0.02, true},
		{"Goldstein-Price", 2, -3, goldstein, 0, 0.02, true},
		{"Hartmann-3", 3, 3.86278, hartmann3, 0.02, 0, false},
		{"Branin", 2, -0.397887, branin(0).f, 0.5, 0, true},
		{"Branin above 400", 2, 400 - 0.397887, func(u []float64) float64 { return 400 + branin(0).f(u) }, 0.5, 0, true},
	}
}

// regretOf is the regret of the recommendation after 40 steps, and whether a transformation was in force at any time.
func (q powered) regretOf(t *testing.T, transform string, seed uint64) (regret float64, acted bool) {
	t.Helper()
	s := Spec{Kind: "irgp-ucb", Variables: box(q.dims), ControlSets: sets(q.dims, []float64{0}, []int{0, 1, 2}[:q.dims]), Beta: 2, Seed: seed,
		Design: "sobol", InitialSteps: 2*q.dims + 2, Model: Model{Kernel: "matern52", Hyperparameters: "priors", Transform: transform}}
	p := fresh(t, s)
	for step := 1; step <= 40; step++ {
		next, err := p.Propose(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(seed, uint64(step)))
		y := q.f(next.X)
		y += (q.noise + q.relative*math.Abs(y)) * rng.NormFloat64()
		observe(t, p, Observation{Step: step, X: next.X, Mean: y, Variance: math.NaN(), Shots: 1, Valid: true})
		if w, ok := p.(*warped); ok {
			acted = acted || w.log.Acts()
		}
	}
	r, err := p.Recommend()
	if err != nil {
		t.Fatal(err)
	}
	return q.best - q.f(r.X), acted
}

// A skewed objective is learnt through a transformation, one that is not skewed as it is: regret of the
// recommendation after 40 steps, in pairs.
func TestTransformationPays(t *testing.T) {
	for _, q := range poweredProblems() {
		logs, square, acted := 0.0, 0.0, 0
		for seed := range *warpRuns {
			with, did := q.regretOf(t, transformLearnt, uint64(seed))
			without, _ := q.regretOf(t, transformNone, uint64(seed))
			least := 1e-6 * math.Abs(q.best)
			ratio := math.Log(max(with, least) / max(without, least))
			logs, square = logs+ratio, square+ratio*ratio
			if did {
				acted++
			}
		}
		n := float64(*warpRuns)
		mean := logs / n
		se := math.Sqrt(max(square/n-mean*mean, 0) / max(n-1, 1))
		t.Logf("%s: seeds 0 to %d, transformed in %d; regret %.3g times that without (geometric mean; %.3g to %.3g within two standard errors)",
			q.name, *warpRuns-1, acted, math.Exp(mean), math.Exp(mean-2*se), math.Exp(mean+2*se))
		if q.skewed && acted == 0 || !q.skewed && acted == *warpRuns && *warpRuns > 1 {
			t.Errorf("%s: transformed in %d of %d runs", q.name, acted, *warpRuns)
		}
	}
}
