package kernels_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/internal/model"
	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/kernels"
)

func TestPanelsAgreeWithCov(t *testing.T) {
	gptest.ForEachKernel(t, func(t *testing.T, k kernels.Kernel, rng *rand.Rand) {
		const n = 31
		g := gpcore.New(k, n)
		for range n {
			if err := g.Append(gptest.Point(rng, 3), 0, 1); err != nil {
				t.Fatal(err)
			}
		}
		r := model.NewView(g.Model())
		x := make([]float64, 0, 3*vec.Lanes)
		for range vec.Lanes {
			x = append(x, gptest.Point(rng, 3)...)
		}
		copy(x[:3], g.X(7)) // a pair at distance zero
		r.Load(x, vec.Lanes)
		r.Covariances()
		for j := range vec.Lanes {
			xj := x[3*j : 3*j+3]
			// The embedding rounds coordinates: a few parts in 1e16 of the exponent.
			if want := k.Variance(xj); !gptest.Agree(r.Prior[j], want, 1e-14) || !gptest.Agree(want, k.Cov(xj, xj), 1e-14) {
				t.Fatalf("variance %g, want %g", r.Prior[j], want)
			}
			for i := range n {
				if got, want := r.B[i*vec.Lanes+j], k.Cov(xj, g.X(i)); !gptest.Agree(got, want, 1e-14) {
					t.Fatalf("pair %d, %d: %g, want %g", i, j, got, want)
				}
			}
		}
	})
}

func TestKernelsArePositiveDefinite(t *testing.T) {
	gptest.ForEachKernel(t, func(t *testing.T, k kernels.Kernel, rng *rand.Rand) {
		const n = 40
		x := make([][]float64, n)
		m := mat.NewSymDense(n, nil)
		for i := range n {
			x[i] = gptest.Point(rng, 3)
			for j := range i + 1 {
				m.SetSym(i, j, k.Cov(x[i], x[j]))
				if k.Cov(x[i], x[j]) != k.Cov(x[j], x[i]) {
					t.Fatal("not symmetric")
				}
			}
		}
		var e mat.EigenSym
		if !e.Factorize(m, false) {
			t.Fatal("no eigenvalues")
		}
		v := e.Values(nil)
		if slices.Min(v) < -1e-13*slices.Max(v) {
			t.Fatalf("smallest eigenvalue %g of largest %g", slices.Min(v), slices.Max(v))
		}
	})
}

func TestParamsRoundTrip(t *testing.T) {
	gptest.ForEachKernel(t, func(t *testing.T, k kernels.Kernel, rng *rand.Rand) {
		logs := k.Params(nil)
		if len(logs) != k.NumParams() || len(k.Kinds(nil)) != k.NumParams() {
			t.Fatal("counts disagree")
		}
		x, y := gptest.Point(rng, 3), gptest.Point(rng, 3)
		if got := k.WithParams(logs).Cov(x, y); !gptest.Agree(got, k.Cov(x, y), 1e-14) {
			t.Fatalf("round trip gives %g, want %g", got, k.Cov(x, y))
		}
		if !slices.Equal(k.Params([]float64{7}), append([]float64{7}, logs...)) {
			t.Fatal("Params does not append")
		}
	})
}

// Derivatives against central differences with step 1e-5: their error is near 1e-10
// of the third derivatives (up to 1e3 here) plus 1e-16/1e-5 of rounding.
func TestKernelGradients(t *testing.T) {
	const h, tol = 1e-5, 1e-6
	gptest.ForEachKernel(t, func(t *testing.T, k kernels.Kernel, rng *rand.Rand) {
		for range 20 {
			x, y := gptest.Point(rng, 3), gptest.Point(rng, 3)
			g := make([]float64, 3)
			k.Gradient(g, x, y)
			for i := range g {
				at := slices.Clone(x)
				at[i] = x[i] + h
				up := k.Cov(at, y)
				at[i] = x[i] - h
				if want := (up - k.Cov(at, y)) / (2 * h); !gptest.Agree(g[i], want, tol) {
					t.Fatalf("derivative by x[%d]: %g, want %g", i, g[i], want)
				}
			}
			logs := k.Params(nil)
			p := make([]float64, len(logs))
			k.ParamGradient(p, x, y)
			for i := range p {
				at := slices.Clone(logs)
				at[i] += h
				up := k.WithParams(at).Cov(x, y)
				at[i] -= 2 * h
				if want := (up - k.WithParams(at).Cov(x, y)) / (2 * h); !gptest.Agree(p[i], want, tol) {
					t.Fatalf("derivative by parameter %d: %g, want %g", i, p[i], want)
				}
			}
		}
	})
}

// The posterior's derivatives against central differences, single and batched.
func TestPredictGrad(t *testing.T) {
	const h, tol = 1e-5, 1e-5
	gptest.ForEachKernel(t, func(t *testing.T, k kernels.Kernel, rng *rand.Rand) {
		g := gpcore.New(k, 40)
		for n := range 29 {
			if n > 0 {
				if err := g.Append(gptest.Point(rng, 3), rng.NormFloat64(), 0.1); err != nil {
					t.Fatal(err)
				}
			}
			if n > 2 && n < 27 {
				continue
			}
			const m = 26
			x := make([]float64, 0, 3*m)
			for range m {
				x = append(x, gptest.Point(rng, 3)...)
			}
			mean, variance := make([]float64, m), make([]float64, m)
			dm, dv := make([]float64, 3*m), make([]float64, 3*m)
			g.Reader().PredictGrads(mean, variance, dm, dv, x)
			gm, gv := make([]float64, 3), make([]float64, 3)
			for j := range m {
				at := slices.Clone(x[3*j : 3*j+3])
				a, b := g.PredictGrad(at, gm, gv)
				if !gptest.Agree(a, mean[j], 1e-12) || !gptest.Agree(b, variance[j], 1e-12) {
					t.Fatalf("single %g, %g; batched %g, %g", a, b, mean[j], variance[j])
				}
				for i := range 3 {
					v := at[i]
					var up, down, upV, downV [1]float64
					at[i] = v + h
					g.Predict(up[:], upV[:], at)
					at[i] = v - h
					g.Predict(down[:], downV[:], at)
					at[i] = v
					wm, wv := (up[0]-down[0])/(2*h), (upV[0]-downV[0])/(2*h)
					for _, got := range [][2]float64{{gm[i], gv[i]}, {dm[3*j+i], dv[3*j+i]}} {
						if !gptest.Agree(got[0], wm, tol) || !gptest.Agree(got[1], wv, tol) {
							t.Fatalf("n=%d: derivative %v, want %g, %g", n, got, wm, wv)
						}
					}
				}
			}
		}
	})
}

func TestConstructorsRefuse(t *testing.T) {
	for i, f := range []func(){
		func() { kernels.SquaredExponential(0, []float64{1}) },
		func() { kernels.Matern52(1, nil) },
		func() { kernels.Matern32(1, []float64{-1}) },
		func() { kernels.RationalQuadratic(1, math.NaN(), []float64{1}) },
		func() { kernels.Periodic(1, []float64{1}, nil) },
		func() { kernels.Linear([]float64{math.Inf(1)}) },
		func() { kernels.Constant(1, 0) },
		func() { kernels.Sum() },
		func() { kernels.Product(kernels.Constant(1, 1), kernels.Constant(1, 2)) },
		func() { kernels.On(kernels.Constant(1, 1), 2, 2) },
		func() { kernels.On(kernels.Constant(1, 2), 2, 1, 1) },
		func() { kernels.Drift(0) },
		func() { kernels.Matern52(1, []float64{1}).WithParams([]float64{1}) },
		func() { gpcore.New(kernels.Constant(1, 1), 0) },
	} {
		func() {
			defer func() {
				if msg := fmt.Sprint(recover()); len(msg) < 7 || msg[:7] != "gpcore:" {
					t.Errorf("case %d: %q", i, msg)
				}
			}()
			f()
		}()
	}
}
