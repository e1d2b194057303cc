package gpcore_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/internal/gptest/decide"
	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/gpcore/quadrature"
	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/gpcore/sobol"
	"github.com/labtuner/tuner/scripts/testsize"
)

// denseMaximum is the oracle of a search: the objective itself at m scrambled Sobol
// points and on the faces of the unit box, then a compass search, which uses no
// gradients, from the best 12.
func denseMaximum(o search.Objective, m int) float64 {
	d := o.Dim()
	x, value := make([]float64, m*d), make([]float64, m)
	sequence := sobol.NewOwen(d, 12345)
	for i := range m {
		row := x[i*d : (i+1)*d]
		sequence.Point(row, i)
		if k := i / 5 % d; i%5 == 0 {
			row[k] = math.Round(row[k])
		}
	}
	o.Values(value, x)
	order := make([]int, m)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if value[a] > value[b] {
			return -1
		}
		return 1
	})
	best := value[order[0]]
	for _, i := range order[:min(12, m)] {
		best = max(best, compass(o, x[i*d:(i+1)*d], value[i]))
	}
	return best
}

// compass moves to the best of 2d neighbours, or halves their distance.
func compass(o search.Objective, x []float64, v float64) float64 {
	d := len(x)
	near, value := make([]float64, 2*d*d), make([]float64, 2*d)
	for step := 0.02; step > 1e-6; {
		for k := range 2 * d {
			row := near[k*d : (k+1)*d]
			copy(row, x)
			row[k/2] = min(max(row[k/2]+step*float64(2*(k%2)-1), 0), 1)
		}
		o.Values(value, near)
		at := 0
		for k := range value {
			if value[k] > value[at] {
				at = k
			}
		}
		if value[at] > v {
			v = value[at]
			copy(x, near[at*d:(at+1)*d])
			continue
		}
		step /= 2
	}
	return v
}

// A decision's maxima are within 1e-6 of the dense reference, set by set, and the best of
// all is found as well where sets prune each other.
func TestDecisionGap(t *testing.T) {
	points := []int{0, 600, 3000, 8000, 8000, 12000}
	worst, sets := 0.0, 0
	for _, c := range []struct {
		d, n, seeds int
		l, noise    float64
	}{{3, 100, 4, 0.3, 1e-2}, {5, 80, 1, 0.2, 1e-2}, {3, 60, 2, 0.15, 1e-2}, {3, 100, 2, 0.3, 1e-4}, {5, 100, 1, 0.3, 1e-2}}[:testsize.Of(2, 5)] {
		for seed := range uint64(testsize.Of(1, c.seeds)) {
			g := gptest.ClusteredGP(t, kernels.SquaredExponential(1, vec.Constant(c.d, c.l)), c.n, c.noise, seed)
			p := decide.CVSProblems(t, g, quadrature.TruncatedNormal(0.5, 0.2, 0, 1))
			each, err := search.New(p, search.Options{Seed: 1, Slack: math.Inf(1)})
			if err != nil {
				t.Fatal(err)
			}
			found, _ := each.Run(context.Background(), 0)
			best := math.Inf(-1)
			for i, m := range found {
				want := denseMaximum(p[i].Objective, points[p[i].Objective.Dim()])
				best = max(best, want)
				worst, sets = max(worst, want-m.Value), sets+1
				if !m.Complete || want-m.Value > 1e-6 {
					t.Errorf("d=%d n=%d l=%g noise=%g seed=%d set %d: %.9f, dense %.9f, gap %.1e", c.d, c.n, c.l, c.noise, seed, i, m.Value, want, want-m.Value)
				}
			}
			top, err := search.New(p, search.Options{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			got := math.Inf(-1)
			for _, m := range must(top.Run(context.Background(), 0)) {
				got = max(got, m.Value)
			}
			if best-got > 1e-6 {
				t.Errorf("d=%d seed=%d: best %.9f, dense %.9f", c.d, seed, got, best)
			}
		}
	}
	t.Logf("worst gap %.1e over %d sets", worst, sets)
}

func must(m []search.Maximum, _ int) []search.Maximum { return m }
