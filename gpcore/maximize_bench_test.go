package gpcore_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/internal/gptest/decide"
	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/gpcore/quadrature"
	"github.com/labtuner/tuner/gpcore/search"
)

// Decisions. Run with one thread:
//
//	GOMAXPROCS=1 go test ./gpcore -run '^$' -bench Decide -benchmem

func BenchmarkDecide(b *testing.B) {
	for _, d := range []int{3, 5} {
		for _, n := range []int{100, 500} {
			for _, slack := range []float64{math.Inf(1), 0} {
				name := fmt.Sprintf("cvs/d=%d/n=%d", d, n)
				if slack == 0 {
					name = fmt.Sprintf("cvs-best/d=%d/n=%d", d, n)
				}
				b.Run(name, func(b *testing.B) { decideCVS(b, d, n, slack) })
			}
		}
	}
	for _, n := range []int{100, 500, 1000} {
		b.Run(fmt.Sprintf("ucb/n=%d", n), func(b *testing.B) { decideUCB(b, n) })
	}
	b.Run("rahbo/n=150", func(b *testing.B) { decideRAHBO(b, 150) })
}

// measured runs a decision b.N times and reports, beside the mean, the median and the best:
// on a shared machine the mean measures the neighbours.
func measured(b *testing.B, decision func(i int)) {
	var took []float64
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		decision(i)
		took = append(took, float64(time.Since(start).Nanoseconds()))
	}
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2], "median-ns")
	b.ReportMetric(took[0], "best-ns")
}

// replaceOldest is the step before a decision: an observation leaves, another comes.
func replaceOldest(b *testing.B, g *gpcore.GP, rng *rand.Rand, noise float64) {
	if err := g.Replace(0, gptest.Point(rng, g.Dim()), rng.NormFloat64(), noise); err != nil {
		b.Fatal(err)
	}
}

func runOnce(b *testing.B, o search.Options, p ...search.Problem) *search.Search {
	s, err := search.New(p, o)
	if err != nil {
		b.Fatal(err)
	}
	s.Run(context.Background(), 0)
	return s
}

// decideCVS adds the reading of a noisy function and finds the maximum of every control
// set's acquisition, or only the best of all.
func decideCVS(b *testing.B, d, n int, slack float64) {
	const noise = 1e-2
	g := gptest.ClusteredGP(b, kernels.SquaredExponential(1, vec.Constant(d, 0.3)), n, noise, 1)
	p := decide.CVSProblems(b, g, quadrature.TruncatedNormal(0.5, 0.2, 0, 1))
	s := runOnce(b, search.Options{Seed: 1, Slack: slack, Workers: 1}, p...)
	rng := rand.New(rand.NewPCG(3, 3))
	measured(b, func(i int) {
		// The new observation stands where the old one was, so that the data stay like
		// the first decision's.
		x, y := slices.Clone(g.X(0)), g.Target(0)+0.1*rng.NormFloat64()
		if err := g.Replace(0, x, y, noise); err != nil {
			b.Fatal(err)
		}
		s.Run(context.Background(), 0)
	})
}

// decideUCB replaces an observation and maximises UCB in three dimensions: 4104 fixed
// points and five climbs.
func decideUCB(b *testing.B, n int) {
	g := gptest.ClusteredGP(b, gptest.Cube(), n, 1e-2, 1)
	e, err := expectations.New([]expectations.Term{{Process: g, Mean: 1, SD: 2}}, expectations.Inputs{Controlled: []int{0, 1, 2}})
	if err != nil {
		b.Fatal(err)
	}
	s := runOnce(b, search.Options{Seed: 1, Workers: 1}, search.Problem{Objective: e, Axes: decide.UnitBox(3), Track: 1, Screen: 4104, Climbs: 5})
	rng := rand.New(rand.NewPCG(3, 3))
	measured(b, func(int) {
		replaceOldest(b, g, rng, 1e-2)
		s.Run(context.Background(), 0)
	})
}

// decideRAHBO replaces an observation of both processes, changes every noise of the
// objective's, as the paper does every step, and maximises
// mean + 2 sd - exp(lower bound of the log variance) in two dimensions.
func decideRAHBO(b *testing.B, n int) {
	g := gptest.ClusteredGP(b, kernels.SquaredExponential(1, vec.Constant(2, 0.3)), n, 1e-2, 1)
	v := gptest.ClusteredGP(b, kernels.SquaredExponential(1, vec.Constant(2, 0.4)), n, 1e-1, 2)
	risk := func(mu, sigma float64) (value, byMu, bySigma float64) {
		value = 0.01 * math.Exp(mu-2*sigma)
		return -value, -value, 2 * value
	}
	e, err := expectations.New([]expectations.Term{{Process: g, Mean: 1, SD: 2}, {Process: v, Of: risk}}, expectations.Inputs{Controlled: []int{0, 1}})
	if err != nil {
		b.Fatal(err)
	}
	s := runOnce(b, search.Options{Seed: 1, Workers: 1}, search.Problem{Objective: e, Axes: decide.UnitBox(2), Climbs: 5, Track: 2})
	rng := rand.New(rand.NewPCG(3, 3))
	noise := make([]float64, n)
	measured(b, func(int) {
		replaceOldest(b, g, rng, 1e-2)
		replaceOldest(b, v, rng, 1e-1)
		v.FittedMeans(noise)
		for i := range noise {
			noise[i] = 0.01 * math.Exp(noise[i])
		}
		if err := g.SetNoises(noise); err != nil {
			b.Fatal(err)
		}
		s.Run(context.Background(), 0)
	})
}
