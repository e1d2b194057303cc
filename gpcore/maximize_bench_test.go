package gpcore

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// Decisions. Run with one thread:
//
//	GOMAXPROCS=1 go test ./gpcore -run '^$' -bench Decide -benchmem

// papersSets are the control sets of experiment 1.2 for three and five variables.
func papersSets(d int) [][]int {
	if d == 3 {
		return [][]int{{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}}
	}
	return [][]int{{0, 1}, {2, 3}, {3, 4}, {0, 1, 2}, {1, 2, 3}, {2, 3, 4}, {0, 1, 2, 3, 4}}
}

// cvsProblems are the seven acquisitions of a UCB-CVS decision.
func cvsProblems(tb testing.TB, g *GP, m Marginal) []Problem {
	tb.Helper()
	d := g.Dim()
	var sets []Inputs
	for _, c := range papersSets(d) {
		in := Inputs{Controlled: c, Seed: 1}
		for range d - len(c) {
			in.Random = append(in.Random, m)
		}
		sets = append(sets, in)
	}
	e, err := NewExpectations([]Term{{Process: g, Mean: 1, SD: 2}}, sets)
	if err != nil {
		tb.Fatal(err)
	}
	var p []Problem
	for i, e := range e {
		p = append(p, Problem{Objective: e, Axes: unitBox(len(sets[i].Controlled)), Track: true})
	}
	return p
}

func unitBox(d int) []Axis {
	a := make([]Axis, d)
	for i := range a {
		a[i].High = 1
	}
	return a
}

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
func replaceOldest(b *testing.B, g *GP, rng *rand.Rand, noise float64) {
	if err := g.Replace(0, point(rng, g.Dim()), rng.NormFloat64(), noise); err != nil {
		b.Fatal(err)
	}
}

func search(b *testing.B, o Options, p ...Problem) *Search {
	s, err := NewSearch(p, o)
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
	g := worldOf(b, kernels.SquaredExponential(1, vec.Constant(d, 0.3)), n, noise, 1)
	p := cvsProblems(b, g, TruncatedNormal(0.5, 0.2, 0, 1))
	s := search(b, Options{Seed: 1, Slack: slack, Workers: 1}, p...)
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
	g := worldOf(b, cube(), n, 1e-2, 1)
	e, err := NewExpected([]Term{{Process: g, Mean: 1, SD: 2}}, Inputs{Controlled: []int{0, 1, 2}})
	if err != nil {
		b.Fatal(err)
	}
	s := search(b, Options{Seed: 1, Workers: 1}, Problem{Objective: e, Axes: unitBox(3), Track: true, Screen: 4104, Climbs: 5})
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
	g := worldOf(b, kernels.SquaredExponential(1, vec.Constant(2, 0.3)), n, 1e-2, 1)
	v := worldOf(b, kernels.SquaredExponential(1, vec.Constant(2, 0.4)), n, 1e-1, 2)
	risk := func(mu, sigma float64) (value, byMu, bySigma float64) {
		value = 0.01 * math.Exp(mu-2*sigma)
		return -value, -value, 2 * value
	}
	e, err := NewExpected([]Term{{Process: g, Mean: 1, SD: 2}, {Process: v, Of: risk}}, Inputs{Controlled: []int{0, 1}})
	if err != nil {
		b.Fatal(err)
	}
	s := search(b, Options{Seed: 1, Workers: 1}, Problem{Objective: e, Axes: unitBox(2), Climbs: 5, Track: true})
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
