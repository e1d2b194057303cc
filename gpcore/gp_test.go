package gpcore_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/internal/factor"
	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/scripts/testsize"
)

// reference is the posterior of the same data by a dense Cholesky factorisation.
type reference struct {
	g  *gpcore.GP
	ch mat.Cholesky
	a  mat.VecDense
}

func newReference(t testing.TB, g *gpcore.GP) *reference {
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

func compare(t *testing.T, g *gpcore.GP, rng *rand.Rand) {
	t.Helper()
	if g.Len() == 0 {
		return
	}
	ref := newReference(t, g)
	const m = 31
	x := make([]float64, 0, m*g.Dim())
	for range m {
		x = append(x, gptest.Point(rng, g.Dim())...)
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

// snapshot is a copy of everything that an operation might change.
func snapshot(g *gpcore.GP) []float64 {
	var s []float64
	s = append(s, float64(g.Model().Factor.N))
	for _, v := range [][]float64{g.Model().Factor.W, g.Model().Factor.B, g.Model().Factor.Alpha, g.Model().Factor.Y, g.Model().Factor.Noise, g.Model().Factor.Inv, g.Model().Points.X, g.Model().Points.Rows, g.Model().Points.Blocks, g.Model().Points.Prior} {
		s = append(s, v...)
	}
	return s
}

// failer is a test, of this package's kind or rapid's.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkPadding fails where W or a vector holds something outside its triangle.
func checkPadding(t failer, f *factor.Factor) {
	t.Helper()
	for k := range len(f.W) / f.Stride {
		for j, v := range f.W[k*f.Stride : (k+1)*f.Stride] {
			if (k >= f.N || j > k) && v != 0 {
				t.Fatalf("n=%d: W[%d][%d] = %g outside the triangle", f.N, k, j, v)
			}
		}
	}
	for j := f.N; j < len(f.B); j++ {
		if f.B[j] != 0 || f.Alpha[j] != 0 {
			t.Fatalf("n=%d: b or alpha not zero at %d", f.N, j)
		}
	}
}

func TestChurn(t *testing.T) {
	gptest.ForEachKernel(t, func(t *testing.T, k kernels.Kernel, rng *rand.Rand) {
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		noise := func() float64 { return 0.01 + 0.1*rng.Float64() }
		for _, cap := range []int{1, 2, 7, 8, 9, 25, 61} {
			g := gpcore.New(k, cap)
			for g.Len() < cap {
				must(g.Append(gptest.Point(rng, 3), rng.NormFloat64(), noise()))
			}
			if err := g.Append(gptest.Point(rng, 3), 0, 1); err != gpcore.ErrFull {
				t.Fatal(err)
			}
			compare(t, g, rng)
			for range testsize.Of(5, 15) {
				must(g.Remove(rng.IntN(g.Len())))
				compare(t, g, rng)
				must(g.Append(gptest.Point(rng, 3), rng.NormFloat64(), noise()))
				compare(t, g, rng)
				must(g.Replace(rng.IntN(g.Len()), gptest.Point(rng, 3), rng.NormFloat64(), noise()))
				compare(t, g, rng)
				must(g.SetNoise(rng.IntN(g.Len()), noise()))
				must(g.SetNoise(rng.IntN(g.Len()), 1e4*noise()))
				must(g.SetTarget(rng.IntN(g.Len()), rng.NormFloat64()))
				compare(t, g, rng)
				must(g.SetTargets(gptest.Point(rng, g.Len())))
				compare(t, g, rng)
				checkPadding(t, g.Model().Factor)
			}
			ll := g.LogLikelihood()
			must(g.SetNoises(slices.Clone(g.Model().Factor.Noise[:g.Len()])))
			compare(t, g, rng)
			checkPadding(t, g.Model().Factor)
			if !gptest.Agree(ll, g.LogLikelihood(), 1e-9) {
				t.Fatal(ll, g.LogLikelihood())
			}
			if c := g.Clone(); !gptest.SameBits(snapshot(c), snapshot(g)) {
				t.Fatal("clone differs")
			}
			must(g.SetKernel(kernels.Matern52(1, []float64{0.5, 0.2, 0.9})))
			compare(t, g, rng)
			must(g.SetKernel(k))
			compare(t, g, rng)
		}
	})
}
