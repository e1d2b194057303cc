package expectations

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/gpcore/internal/gptest"
)

// TestAtIsTheExpectationOfPoints: where every coordinate is controlled, terms of every form are
// at points what the objective of a search has there.
func TestAtIsTheExpectationOfPoints(t *testing.T) {
	g, v := gptest.ClusteredGP(t, gptest.Cube(), 60, 1e-2, 1), gptest.ClusteredGP(t, gptest.Cube(), 40, 1e-1, 2)
	terms := []Term{{Process: g, Mean: 0.7, SD: 2},
		{Process: v, Of: func(mu, sigma float64) (value, byMu, bySigma float64) { return math.Exp(mu - sigma), 0, 0 }},
		{Process: g, Mean: -1, SD: 0.5, Offset: func(_, x []float64) float64 { return 3*x[0] - x[2] }}}
	e, err := New(terms, Inputs{Controlled: []int{0, 1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	e.Prepare()
	rng := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{1, 7, 50} { // below and above the size of a batch
		x := gptest.Point(rng, 3*n)
		got, want := make([]float64, n), make([]float64, n)
		new(Cache).At(got, terms, x)
		e.Values(want, x)
		for j := range got {
			if math.Abs(got[j]-want[j]) > 1e-11*(1+math.Abs(want[j])) { // rounding: another order of sums
				t.Errorf("%d points: %g at point %d, want %g", n, got[j], j, want[j])
			}
		}
	}
}

// TestSetTermsGivesOtherCoefficients: an objective with other terms of the same processes is the
// one that is made with them; other processes are refused and change nothing.
func TestSetTermsGivesOtherCoefficients(t *testing.T) {
	g, v := gptest.ClusteredGP(t, gptest.Cube(), 60, 1e-2, 1), gptest.ClusteredGP(t, gptest.Cube(), 40, 1e-1, 2)
	in := Inputs{Controlled: []int{0, 1, 2}}
	e, err := New([]Term{{Process: g, Mean: 1, SD: 2}, {Process: v, Mean: 1}}, in)
	if err != nil {
		t.Fatal(err)
	}
	fork := e.Fork()
	other := []Term{{Process: g, Mean: 0.3, SD: -1}, {Process: v, Of: func(mu, sigma float64) (value, byMu, bySigma float64) { return mu * sigma, sigma, mu }}}
	if !e.SetTerms(other) {
		t.Fatal("other coefficients are refused")
	}
	for name, terms := range map[string][]Term{
		"another process": {other[1], other[0]}, "one term": other[:1], "not finite": {{Process: g, Mean: math.NaN()}, other[1]},
		"an offset": {{Process: g, Mean: 1, Offset: func(_, _ []float64) float64 { return 0 }}, other[1]},
	} {
		if e.SetTerms(terms) {
			t.Errorf("%s: taken", name)
		}
	}
	want, err := New(other, in)
	if err != nil {
		t.Fatal(err)
	}
	e.Prepare()
	want.Prepare()
	x := gptest.Point(rand.New(rand.NewPCG(7, 8)), 30)
	a, b := make([]float64, 10), make([]float64, 10)
	fork.Values(a, x)
	want.Values(b, x)
	for j := range a {
		if a[j] != b[j] {
			t.Errorf("%g at point %d, want %g", a[j], j, b[j])
		}
	}
}
