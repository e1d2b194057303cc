package gpcore_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/internal/gptest/decide"
	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/gpcore/quadrature"
	"github.com/labtuner/tuner/gpcore/search"
)

// Decisions as scripts/compare times them: each after a step that changed the data, on
// one thread.

// besideSearch times a step and the search after it.
func besideSearch(b *testing.B, problems []search.Problem, step func()) {
	s, err := search.New(problems, search.Options{Seed: 1, Slack: math.Inf(1), Workers: 1})
	if err != nil {
		b.Fatal(err)
	}
	s.Run(context.Background(), 0) // takes the memory
	medianMicroseconds(b, func() {
		step()
		s.Run(context.Background(), 0)
	})
}

// newcomers is a step: a reading at random replaces the oldest.
func newcomers(b *testing.B, g *gpcore.GP) func() {
	rng := rand.New(rand.NewPCG(4, uint64(g.Len())))
	return func() {
		if err := g.Replace(0, gptest.Point(rng, g.Dim()), rng.NormFloat64(), 0.01); err != nil {
			b.Fatal(err)
		}
	}
}

// The job that scikit-learn does: mean + 2 sd over the unit cube, 4104 points and five
// climbs.
func besideUCB(b *testing.B, n int) {
	g, _ := full(b, gptest.Cube(), n)
	e, err := expectations.New([]expectations.Term{{Process: g, Mean: 1, SD: 2}}, expectations.Inputs{Controlled: []int{0, 1, 2}})
	if err != nil {
		b.Fatal(err)
	}
	besideSearch(b, []search.Problem{{Objective: e, Axes: decide.UnitBox(3), Track: 1, Screen: 4104, Climbs: 5}}, newcomers(b, g))
}

// The job that plain numpy does: the maximum of every control set.
func besideCVS(b *testing.B, d, n int) {
	g := gptest.ClusteredGP(b, kernels.SquaredExponential(1, vec.Constant(d, 0.3)), n, 1e-2, 1)
	besideSearch(b, decide.CVSProblems(b, g, quadrature.TruncatedNormal(0.5, 0.2, 0, 1)), newcomers(b, g))
}

// mean + 2 sd of one process less the variance that another, of log variances, says at
// the least.
func besideRAHBO(b *testing.B, n int, noises bool) {
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
	one, other := newcomers(b, g), newcomers(b, v)
	x, noise := make([]float64, 0, 2*n), make([]float64, n)
	means := make([]float64, n)
	besideSearch(b, []search.Problem{{Objective: e, Axes: decide.UnitBox(2), Climbs: 5, Track: 2}}, func() {
		one()
		other()
		if !noises {
			return
		}
		x = x[:0]
		for i := range n {
			x = append(x, g.X(i)...)
		}
		v.Predict(means, nil, x)
		for i, m := range means {
			noise[i] = 0.01 * math.Exp(m)
		}
		if err := g.SetNoises(noise); err != nil {
			b.Fatal(err)
		}
	})
}
