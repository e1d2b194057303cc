package expectations

import (
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// sideBySide has the terms of cacheTerms two by two, where they are of the same processes.
func sideBySide(g, v *Term) (out [][2][]Term) {
	all := cacheTerms(g, v)
	for _, a := range all {
		for _, b := range all {
			if len(a) == len(b) && a[0].Process == b[0].Process {
				out = append(out, [2][]Term{a, b})
			}
		}
	}
	return out
}

// TestPairHasTheValuesOfEach: what two expectations give side by side is what each gives alone, to
// the last bit, whatever their terms, inputs and kernel, for one point and for many.
func TestPairHasTheValuesOfEach(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 3))
	for _, k := range []kernels.Kernel{kernels.SquaredExponential(1, gptest.Lengthscales(3, 0.4)), kernels.Matern52(1, gptest.Lengthscales(3, 0.4))} {
		g, v := gptest.ClusteredGP(t, k, 30, 1e-2, 1), gptest.ClusteredGP(t, k, 20, 1e-1, 2)
		for _, in := range cacheInputs(rng) {
			for n, terms := range sideBySide(&Term{Process: g}, &Term{Process: v}) {
				var each [2]*Expected
				for i := range each {
					var err error
					if each[i], err = New(terms[i], in); err != nil {
						t.Fatal(err)
					}
					each[i].Prepare()
				}
				pair, err := NewPair(each[0], each[1])
				if err != nil {
					t.Fatal(err)
				}
				for _, points := range []int{1, 3, 30} {
					x := gptest.Point(rng, points*each[0].Dim())
					comparePair(t, n, each, pair, x)
					comparePair(t, n, each, pair.Fork(), x)
				}
			}
		}
	}
}

// comparePair compares a pair at the rows of x.
func comparePair(t *testing.T, n int, each [2]*Expected, pair Pair, x []float64) {
	t.Helper()
	points := len(x) / each[0].Dim()
	room := func(slopes bool) Values {
		v := Values{Value: make([]float64, points)}
		if slopes {
			v.Grad = make([]float64, len(x))
		}
		return v
	}
	for _, slopes := range []bool{false, true} {
		for _, surrogate := range []bool{false, true} {
			got, want := [2]Values{room(slopes), room(slopes)}, [2]Values{room(slopes), room(slopes)}
			if surrogate {
				pair.Surrogates(got[0], got[1], x)
			} else {
				pair.Evaluate(got[0], got[1], x)
			}
			for i, e := range each {
				switch {
				case surrogate:
					e.SurrogateGradients(want[i].Value, want[i].Grad, x)
				case slopes:
					e.Gradients(want[i].Value, want[i].Grad, x)
				default:
					e.Values(want[i].Value, x)
				}
				if !gptest.SameBits(got[i].Value, want[i].Value) || !gptest.SameBits(got[i].Grad, want[i].Grad) {
					t.Fatalf("seed 19, terms %d, %d points, surrogate %v: number %d is %v, want %v", n, points, surrogate, i, got[i], want[i])
				}
			}
		}
	}
}

// TestPairRefusesOthers: expectations of other processes or over other inputs.
func TestPairRefusesOthers(t *testing.T) {
	g, v := gptest.ClusteredGP(t, gptest.Cube(), 30, 1e-2, 1), gptest.ClusteredGP(t, gptest.Cube(), 20, 1e-1, 2)
	of := func(term Term, controlled ...int) *Expected {
		in := Inputs{Controlled: controlled}
		for range 3 - len(controlled) {
			in.Random = append(in.Random, gptest.PaperMarginal())
		}
		e, err := New([]Term{term}, in)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	first := of(Term{Process: g, Mean: 1}, 0, 1)
	for _, second := range []*Expected{of(Term{Process: v, Mean: 1}, 0, 1), of(Term{Process: g, Mean: 1}, 0, 2)} {
		if _, err := NewPair(first, second); err == nil {
			t.Error("a pair of unlike expectations was made")
		}
	}
}

// TestMomentsAreTheirSums: moments are what the sums of which they are made give one by one.
func TestMomentsAreTheirSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 4))
	offset := func(grad, x []float64) float64 { return 3 * x[0] }
	var cache Cache
	for _, k := range []kernels.Kernel{kernels.SquaredExponential(1, gptest.Lengthscales(3, 0.4)), kernels.Matern52(1, gptest.Lengthscales(3, 0.4))} {
		g := gptest.ClusteredGP(t, k, 30, 1e-2, 1)
		for _, in := range cacheInputs(rng) {
			for _, term := range []Term{{Process: g}, {Process: g, Offset: offset}} {
				x := gptest.Point(rng, 16*len(in.Controlled))
				m := Moments{make([]float64, 16), make([]float64, 16), make([]float64, 16)}
				if err := cache.Moments(m, term, in, x); err != nil {
					t.Fatal(err)
				}
				var want [3][]float64
				for i, sum := range term.moments() {
					want[i] = make([]float64, 16)
					if in.Random == nil && in.Nodes == nil {
						cache.At(want[i], []Term{sum}, x)
					} else if err := cache.Values(want[i], []Term{sum}, in, x); err != nil {
						t.Fatal(err)
					}
				}
				for i := range m.Mean {
					mean, sd := want[0][i]-want[1][i], -want[1][i]
					if m.Mean[i] != mean || m.SD[i] != sd || in.Random != nil && m.Square[i] != want[2][i] {
						t.Fatalf("seed 19: mean %g, sd %g, square %g; want %g, %g, %g", m.Mean[i], m.SD[i], m.Square[i], mean, sd, want[2][i])
					}
				}
			}
		}
	}
}
