package gpcore

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// reference is the posterior of the same data by a dense Cholesky factorisation.
type reference struct {
	g  *GP
	ch mat.Cholesky
	a  mat.VecDense
}

func newReference(t testing.TB, g *GP) *reference {
	t.Helper()
	n := g.Len()
	k := mat.NewSymDense(n, nil)
	y := mat.NewVecDense(n, nil)
	for i := range n {
		y.SetVec(i, g.Target(i))
		for j := range i + 1 {
			v := g.Kernel().Cov(g.X(i), g.X(j))
			if i == j {
				v += g.NoiseVariance(i)
			}
			k.SetSym(i, j, v)
		}
	}
	r := &reference{g: g}
	if !r.ch.Factorize(k) {
		t.Fatal("reference is not positive definite")
	}
	if err := r.ch.SolveVecTo(&r.a, y); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *reference) predict(x []float64) (mean, variance float64) {
	n := r.g.Len()
	k, s := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	for i := range n {
		k.SetVec(i, r.g.Kernel().Cov(r.g.X(i), x))
	}
	_ = r.ch.SolveVecTo(s, k)
	return mat.Dot(k, &r.a), r.g.Kernel().Variance(x) - mat.Dot(k, s)
}

func point(rng *rand.Rand, d int) []float64 {
	x := make([]float64, d)
	for i := range x {
		x[i] = rng.Float64()
	}
	return x
}

func compare(t *testing.T, g *GP, rng *rand.Rand) {
	t.Helper()
	if g.Len() == 0 {
		return
	}
	ref := newReference(t, g)
	const m = 31
	x := make([]float64, 0, m*g.Dim())
	for range m {
		x = append(x, point(rng, g.Dim())...)
	}
	mean, variance := make([]float64, m), make([]float64, m)
	g.Predict(mean, variance, x)
	for j := range m {
		wm, wv := ref.predict(x[j*g.Dim() : (j+1)*g.Dim()])
		if math.Abs(mean[j]-wm) > 1e-9 || math.Abs(variance[j]-wv) > 1e-9 {
			t.Fatalf("n=%d point %d: mean %g want %g, variance %g want %g", g.Len(), j, mean[j], wm, variance[j], wv)
		}
	}
}

func TestChurn(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, k := range []Kernel{SquaredExponential(1.5, []float64{0.3, 0.4, 0.5}), Matern52(0.7, []float64{0.3, 0.4, 0.5})} {
		for _, cap := range []int{1, 2, 7, 8, 9, 25, 61} {
			g := New(k, cap)
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			noise := func() float64 { return 0.01 + 0.1*rng.Float64() }
			for g.Len() < cap {
				must(g.Append(point(rng, 3), rng.NormFloat64(), noise()))
			}
			compare(t, g, rng)
			for range 60 {
				must(g.Remove(rng.IntN(g.Len())))
				compare(t, g, rng)
				must(g.Append(point(rng, 3), rng.NormFloat64(), noise()))
				compare(t, g, rng)
				must(g.Replace(rng.IntN(g.Len()), point(rng, 3), rng.NormFloat64(), noise()))
				compare(t, g, rng)
				must(g.SetNoise(rng.IntN(g.Len()), noise()))
				must(g.SetTarget(rng.IntN(g.Len()), rng.NormFloat64()))
				compare(t, g, rng)
			}
			ll := g.LogLikelihood()
			must(g.SetNoises(append([]float64(nil), g.f.noise[:g.Len()]...)))
			compare(t, g, rng)
			if math.Abs(ll-g.LogLikelihood()) > 1e-9*(1+math.Abs(ll)) {
				t.Fatal(ll, g.LogLikelihood())
			}
			must(g.SetKernel(Matern52(1, []float64{0.5, 0.2, 0.9})))
			compare(t, g, rng)
		}
	}
}
