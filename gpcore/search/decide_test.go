package search_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/internal/gptest/decide"
	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/gpcore/quadrature"
	"github.com/labtuner/tuner/gpcore/search"
)

// On a list with an upper bound the result is the list's best, and only few settings
// were looked at with the objective itself.
func TestMaximizeList(t *testing.T) {
	g := gptest.ClusteredGP(t, kernels.SquaredExponential(1, vec.Constant(3, 0.3)), 60, 1e-2, 3)
	in := expectations.Inputs{Controlled: []int{0, 2}, Random: []quadrature.Marginal{gptest.PaperMarginal()}}
	rng := rand.New(rand.NewPCG(1, 1))
	list := gptest.Point(rng, 2*500)
	e, err := expectations.New([]expectations.Term{{Process: g, Mean: 1, SD: 2}}, in)
	if err != nil {
		t.Fatal(err)
	}
	s, err := search.New([]search.Problem{{Objective: e, List: list}}, search.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, _ := s.Run(context.Background(), 0)
	value := make([]float64, 500)
	e.Values(value, list)
	at := slices.Index(value, slices.Max(value))
	if !slices.Equal(m[0].X, list[2*at:2*at+2]) || !m[0].Complete {
		t.Errorf("%+v, want row %d of value %g", m[0], at, value[at])
	}
	if looked := s.Examined(0); looked > 100 {
		t.Errorf("%d of 500 settings looked at", looked)
	}
}

// The same seed gives the same bits on any number of workers, and after any number of
// units.
func TestSearchIsDeterministic(t *testing.T) {
	g := gptest.ClusteredGP(t, kernels.SquaredExponential(1, vec.Constant(3, 0.3)), 60, 1e-2, 3)
	for _, slack := range []float64{0, 0.1, math.Inf(1)} {
		run := func(workers, units int) ([]float64, int) {
			s, err := search.New(decide.CVSProblems(t, g, gptest.PaperMarginal()), search.Options{Seed: 7, Slack: slack, Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			var out []float64
			m, done := s.Run(context.Background(), units)
			for _, m := range m {
				out = append(append(out, m.Value), m.X...)
			}
			return out, done
		}
		whole, total := run(1, 0)
		for _, units := range []int{0, 1, 5, 9, 14, 20, total - 1, total} {
			want, done := run(1, units)
			if units > 0 && done != units {
				t.Errorf("slack %g: %d units done, want %d", slack, done, units)
			}
			for _, workers := range []int{2, 5} {
				got, d := run(workers, units)
				if !gptest.SameBits(got, want) || d != done {
					t.Errorf("slack %g: %d workers, %d units: differs from one worker", slack, workers, units)
				}
			}
			if units == total && !gptest.SameBits(want, whole) {
				t.Errorf("slack %g: all units differ from no limit", slack)
			}
		}
	}
}

// A search that takes on less is complete sooner, with fewer points, and finds nearly as much; with all of it again it is
// as if there had been no other run.
func TestShare(t *testing.T) {
	g := gptest.ClusteredGP(t, kernels.SquaredExponential(1, vec.Constant(3, 0.3)), 60, 1e-2, 3)
	s, err := search.New(decide.CVSProblems(t, g, gptest.PaperMarginal()), search.Options{Seed: 7, Slack: math.Inf(1)})
	if err != nil {
		t.Fatal(err)
	}
	values := func(share float64) (out []float64, done int) {
		s.SetShare(share)
		m, done := s.Run(context.Background(), 0)
		for _, m := range m {
			if !m.Complete {
				t.Errorf("share %g: not complete", share)
			}
			out = append(out, m.Value)
		}
		return out, done
	}
	whole, all := values(1)
	before := all
	for _, share := range []float64{0.5, 0.1, 0.001} {
		less, done := values(share)
		if done > before || share == 0.1 && done >= all {
			t.Errorf("share %g: %d units, %d with more", share, done, before)
		}
		before = done
		for i, v := range less {
			if !(v > whole[i]-0.1) { // of a standard deviation of the prior: a lower hill may be found
				t.Errorf("share %g: problem %d finds %g of %g", share, i, v, whole[i])
			}
		}
	}
	if again, done := values(1); done != all || !gptest.SameBits(again, whole) {
		t.Error("with all of it again another maximum is found")
	}
}

// A search that is cut holds something that may be chosen, with its true value, from the
// first unit on; and more work never makes it worse.
func TestSearchIsAnytime(t *testing.T) {
	g := gptest.ClusteredGP(t, kernels.SquaredExponential(1, vec.Constant(3, 0.3)), 40, 1e-2, 5)
	problems := decide.CVSProblems(t, g, gptest.PaperMarginal())
	const step = 0.001
	for i := range problems {
		problems[i].Axes[0] = search.Axis{Low: 0, High: 1, Step: step}
	}
	s, err := search.New(problems, search.Options{Slack: math.Inf(1)})
	if err != nil {
		t.Fatal(err)
	}
	s.SetStarts(0, []float64{0.3337, 0.9})
	_, total := s.Run(context.Background(), 0)
	before := vec.Constant(len(problems), math.Inf(-1))
	value := make([]float64, 1)
	for units := 1; units <= total; units++ {
		m, done := s.Run(context.Background(), units)
		if done != units {
			t.Fatalf("%d units done, want %d", done, units)
		}
		for i, m := range m {
			if m.Complete != (units == total) {
				t.Errorf("%d of %d units: problem %d says complete %v", units, total, i, m.Complete)
			}
			if m.X[0] != min(math.Round(m.X[0]/step)*step, 1) {
				t.Errorf("%d units: problem %d returns %v, off the grid", units, i, m.X)
			}
			if math.IsInf(m.Value, -1) {
				if i == 0 {
					t.Errorf("%d units: nothing known of the first problem", units)
				}
				continue
			}
			problems[i].Objective.Values(value, m.X)
			if !gptest.Agree(value[0], m.Value, 1e-9) {
				t.Errorf("%d units: problem %d has value %g, said %g", units, i, value[0], m.Value)
			}
			// Rounding to the grid may lose what climbing won, less than a step's worth.
			if m.Value < before[i]-1e-2 {
				t.Errorf("%d units: problem %d fell from %g to %g", units, i, before[i], m.Value)
			}
			before[i] = m.Value
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, done := s.Run(ctx, 0); done != 1 {
		t.Errorf("%d units after the context's end, want 1", done)
	}
}

// A decision allocates nothing after the first, with one worker.
func TestSearchAllocatesNothing(t *testing.T) {
	g := gptest.ClusteredGP(t, kernels.SquaredExponential(1, vec.Constant(3, 0.3)), 40, 1e-2, 5)
	s, err := search.New(decide.CVSProblems(t, g, gptest.PaperMarginal()), search.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	x := [][]float64{{0.1, 0.2, 0.3}, {0.7, 0.4, 0.5}}
	i := 0
	decide := func() {
		_ = g.Replace(0, x[i%2], 1, 1e-2)
		s.Run(context.Background(), 0)
		i++
	}
	for range 60 { // until every observation was replaced and all memory has its size
		decide()
	}
	if a := testing.AllocsPerRun(20, decide); a != 0 {
		t.Errorf("%g allocations a decision", a)
	}
}
