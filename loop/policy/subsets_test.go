package policy

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/gpcore/sobol"
	"github.com/labtuner/tuner/loop/policy/cost"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// hartmann is the three-dimensional Hartmann function on the unit cube, greatest
// value 3.86278 at (0.114614, 0.555649, 0.852547); constants from Surjanovic and
// Bingham's Virtual Library of Simulation Experiments.
func hartmann(x []float64) float64 {
	alpha := [4]float64{1, 1.2, 3, 3.2}
	a := [4][3]float64{{3, 10, 30}, {0.1, 10, 35}, {3, 10, 30}, {0.1, 10, 35}}
	p := [4][3]float64{{.3689, .1170, .2673}, {.4699, .4387, .7470}, {.1091, .8732, .5547}, {.0381, .5743, .8828}}
	sum := 0.0
	for i := range alpha {
		q := 0.0
		for j, v := range x {
			q += a[i][j] * (v - p[i][j]) * (v - p[i][j])
		}
		sum += alpha[i] * math.Exp(-q)
	}
	return sum
}

const hartmannMax = 3.86278

// moderate is the paper's problem on three variables: all seven control sets with
// moderate costs, random variables normal(0.5, 0.141821) cut to the unit interval
// (variance 0.02).
func moderate(seed uint64, budget float64) Spec {
	s := Spec{Kind: "ucb-cvs", Variables: box(3), Confidence: "constant", Beta: 2, Schedule: "etc-ada", Budget: budget,
		Design: "random", InitialSteps: 5, Seed: seed, Model: model.Spec{Kernel: "se", Hyperparameters: "fit", Capacity: 256}}
	s.ControlSets = sets(3, []float64{.1, .1, .1, .2, .2, .2, 1},
		[]int{0}, []int{1}, []int{2}, []int{0, 1}, []int{0, 2}, []int{1, 2}, []int{0, 1, 2})
	for i := range s.Variables {
		s.Variables[i].Random = space.Distribution{Kind: space.TruncatedNormal, Mean: 0.5, SD: 0.141821}
	}
	return s
}

// subsetRun is what a run on Hartmann's function left behind.
type subsetRun struct {
	sets   []int     // in order of play
	regret []float64 // of each play, by the true expectation
	found  Recommendation
	final  float64 // regret of the recommendation
	spent  float64
}

// playHartmann runs a specification until the budget is spent or maxSteps are done.
func playHartmann(t testing.TB, s Spec, maxSteps int) subsetRun {
	t.Helper()
	p, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	nature := rand.New(rand.NewPCG(s.Seed, 77))
	left := space.NewMarginal(&s.Variables[0])
	draw := func(x []float64) []float64 {
		out := append([]float64(nil), x...)
		for i, v := range out {
			if math.IsNaN(v) {
				out[i] = left.Quantile(nature.Float64())
			}
		}
		return out
	}
	// The true expectation by 4096 scrambled Sobol points, of error below 0.001.
	truth := func(x []float64) float64 {
		sequence, sum := sobol.NewScrambled(3, num.Stream(1, num.ForNodes, 9)), 0.0
		u := make([]float64, 3)
		for i := range 4096 {
			sequence.Point(u, i)
			for j := range u {
				if u[j] = left.Quantile(u[j]); !math.IsNaN(x[j]) {
					u[j] = x[j]
				}
			}
			sum += hartmann(u)
		}
		return sum / 4096
	}
	var r subsetRun
	for len(r.sets) < maxSteps {
		q, err := p.Propose(context.Background())
		if errors.Is(err, cost.ErrBudget) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		x := draw(q.X)
		o := Observation{Step: q.Step, ControlSet: q.ControlSet, X: x, Mean: hartmann(x) + 0.01*nature.NormFloat64(),
			Variance: math.NaN(), Shots: 1, Cost: s.ControlSets[q.ControlSet].Cost, Valid: true}
		if err := p.Observe(o); err != nil {
			t.Fatal(err)
		}
		r.sets = append(r.sets, q.ControlSet)
		r.spent += o.Cost
		if !q.Initial {
			r.regret = append(r.regret, hartmannMax-truth(q.X))
		}
	}
	if r.found, err = p.Recommend(); err != nil {
		t.Fatal(err)
	}
	r.final = hartmannMax - truth(r.found.X)
	return r
}
