package expectations

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/gpcore/quadrature"
)

// cacheTerms are terms of every form, by one process and by two.
func cacheTerms(g, v *Term) [][]Term {
	product := func(mu, sigma float64) (value, byMu, bySigma float64) { return mu * sigma, sigma, mu }
	offset := func(grad, x []float64) float64 {
		if grad != nil {
			clear(grad)
			grad[0] = 3
		}
		return 3 * x[0]
	}
	return [][]Term{
		{{Process: g.Process, SD: -1}}, {{Process: g.Process, Mean: 1, SD: 2}}, {{Process: g.Process, Of: product}},
		{{Process: g.Process, Mean: 1, SD: -1, Offset: offset}}, {{Process: g.Process, Mean: 1}, {Process: v.Process, Of: product}}, {{Process: v.Process, Mean: 0.5, SD: 1}},
	}
}

// cacheInputs are control sets with marginals and with nodes, some of which change from round to round.
func cacheInputs(rng *rand.Rand) []Inputs {
	m, held := gptest.PaperMarginal(), quadrature.PointMass(rng.Float64())
	return []Inputs{
		{Controlled: []int{0, 1, 2}}, {Controlled: []int{1}, Random: []quadrature.Marginal{m, m}}, {Controlled: []int{0, 2}, Random: []quadrature.Marginal{m}},
		{Controlled: []int{0, 1}, Random: []quadrature.Marginal{held}},
		{Controlled: []int{0, 1}, Nodes: &quadrature.Nodes{X: gptest.Point(rng, 5), Weight: []float64{1, 2, 3, 2, 1}}},
	}
}

// TestCacheGivesWhatIsMadeAnew: whatever has become of the processes, terms and control sets
// since, values, gradients, surrogates and nodes from a cache are those of an expectation that is made
// now, to the last bit; and what was taken stays its taker's.
func TestCacheGivesWhatIsMadeAnew(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 2))
	g, v := gptest.ClusteredGP(t, gptest.Cube(), 30, 1e-2, 1), gptest.ClusteredGP(t, gptest.Cube(), 20, 1e-1, 2)
	var cache Cache
	type taken struct {
		got, want *Expected
	}
	var still []taken
	compare := func(round int, got, want *Expected) {
		t.Helper()
		dim := want.Dim()
		x := gptest.Point(rng, 6*dim)
		for _, of := range []func(e *Expected, dst, grad []float64){
			func(e *Expected, dst, _ []float64) { e.Values(dst, x) },
			func(e *Expected, dst, grad []float64) { e.Gradients(dst, grad, x) },
			func(e *Expected, dst, grad []float64) { e.SurrogateGradients(dst, grad, x) },
			func(e *Expected, dst, _ []float64) { e.Fork().Values(dst, x) },
		} {
			a, b, ga, gb := make([]float64, 6), make([]float64, 6), make([]float64, 6*dim), make([]float64, 6*dim)
			of(got, a, ga)
			of(want, b, gb)
			if !gptest.SameBits(a, b) || !gptest.SameBits(ga, gb) {
				t.Fatalf("round %d, seed 19: %v with slopes %v, want %v with %v", round, a, ga, b, gb)
			}
		}
	}
	made := 0
	for round := range 250 {
		switch rng.IntN(5) {
		case 0:
			if err := g.Append(gptest.Point(rng, 3), rng.NormFloat64(), 0.01); err != nil {
				t.Fatal(err)
			}
		case 1:
			if err := g.Remove(rng.IntN(g.Len())); err != nil {
				t.Fatal(err)
			}
		case 2:
			l := gptest.Lengthscales(3, math.Exp(3*rng.Float64()-3)) // 0.05 to 1: rules of different sizes
			k := kernels.SquaredExponential(1, l)
			if rng.IntN(2) == 0 {
				k = kernels.Matern52(1, l)
			}
			if err := g.SetKernel(k); err != nil {
				t.Fatal(err)
			}
		case 3:
			still = nil
			cache.Renew()
		}
		all, sets := cacheTerms(&Term{Process: g}, &Term{Process: v}), cacheInputs(rng)
		terms, in := all[rng.IntN(len(all))], sets[rng.IntN(len(sets))]
		want, err := New(terms, in)
		if err != nil {
			t.Fatal(err)
		}
		want.Prepare()
		shape, err := cache.Shape(terms[0].Process, in)
		if err != nil {
			t.Fatal(err)
		}
		full, coarse := shape.Rules()
		if f, c := want.Rules(); !gptest.SameBits(full.X, f.X) || !gptest.SameBits(coarse.X, c.X) {
			t.Fatalf("round %d, seed 19: nodes %v, want %v", round, full, f)
		}
		x := gptest.Point(rng, 4*want.Dim())
		values := make([]float64, 4)
		if err := cache.Values(values, terms, in, x); err != nil {
			t.Fatal(err)
		}
		direct := make([]float64, 4)
		if want.Values(direct, x); !gptest.SameBits(values, direct) {
			t.Fatalf("round %d, seed 19: %v, want %v", round, values, direct)
		}
		got, err := cache.One(terms, in)
		if err != nil {
			t.Fatal(err)
		}
		got.Prepare()
		compare(round, got, want)
		still = append(still, taken{got, want})
		for _, s := range still { // the taker's, whatever was asked for since
			s.got.Prepare()
			s.want.Prepare()
			compare(round, s.got, s.want)
		}
		for _, group := range cache.groups {
			made = max(made, len(group.members))
			for _, s := range group.shared {
				if len(s.factors) > 3*len(group.members) {
					t.Fatalf("round %d: %d factors for %d control sets", round, len(s.factors), len(group.members))
				}
			}
		}
	}
	if made < 3 {
		t.Errorf("no group had more than %d members: nothing was shared", made)
	}
	for range mostIdle + 2 {
		cache.Renew()
	}
	if len(cache.groups) > 0 {
		t.Errorf("%d groups are kept that nobody uses", len(cache.groups))
	}
}

// BenchmarkCache compares an expectation from the cache with one made anew, over two random coordinates.
func BenchmarkCache(b *testing.B) {
	g := gptest.ClusteredGP(b, gptest.Cube(), 100, 1e-2, 1)
	m := gptest.PaperMarginal()
	in, terms, x := Inputs{Controlled: []int{0}, Random: []quadrature.Marginal{m, m}}, []Term{{Process: g, Mean: 1, SD: -1}}, []float64{0.2, 0.4, 0.6, 0.8}
	for name, cache := range map[string]*Cache{"kept": {}, "anew": nil} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			values := make([]float64, len(x))
			for b.Loop() {
				if err := cache.Values(values, terms, in, x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
