package fitting

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// The average information against the formula with dense matrices of another library, pair by pair: the mean's prior is
// a part of the covariance there. Differences of covariances leave 1e-5 of second derivatives, those by a period's
// logarithm a hundred times as great as others.
func TestInformation(t *testing.T) {
	gptest.ForEachKernel(t, func(t *testing.T, k kernels.Kernel, _ *rand.Rand) {
		for _, meanSD := range []float64{0, 1} {
			p := fitProblem(k, 37, 3)
			p.MeanSD = meanSD
			e, err := newEvidence(p, new(Workspace))
			if err != nil {
				t.Fatal(err)
			}
			v := e.start()
			e.value(v)
			got := e.information()
			want := densely(t, e, v[len(v)-1])
			for i := range len(v) {
				for j := range i + 1 {
					if scale := math.Sqrt(want.At(i, i) * want.At(j, j)); math.Abs(got.At(i, j)-want.At(i, j)) > 2e-3*scale {
						t.Errorf("mean's prior %g, parameters %d, %d: %g, want %g", meanSD, i, j, got.At(i, j), want.At(i, j))
					}
				}
			}
		}
	})
}

// densely is the average information of an evidence whose noise variance is exp(noise) more than that given.
func densely(t *testing.T, e *evidence, noise float64) *mat.Dense {
	n, d, k, p := e.n, e.d, e.p.Kernel, e.p
	cov, slopes := mat.NewSymDense(n, nil), make([]*mat.SymDense, k.NumParams())
	for q := range slopes {
		slopes[q] = mat.NewSymDense(n, nil)
	}
	slope := make([]float64, k.NumParams())
	for i := range n {
		for j := range i + 1 {
			x, y := p.X[i*d:(i+1)*d], p.X[j*d:(j+1)*d]
			cov.SetSym(i, j, k.Cov(x, y)+p.MeanSD*p.MeanSD)
			k.ParamGradient(slope, x, y)
			for q, s := range slope {
				slopes[q].SetSym(i, j, s)
			}
		}
		cov.SetSym(i, i, cov.At(i, i)+p.NoiseVariance[i]+math.Exp(noise))
	}
	var c mat.Cholesky
	if !c.Factorize(cov) {
		t.Fatal("not positive definite")
	}
	var weights mat.VecDense
	if err := c.SolveVecTo(&weights, mat.NewVecDense(n, p.Y)); err != nil {
		t.Fatal(err)
	}
	u := mat.NewDense(n, len(e.priors), nil)
	var column mat.VecDense
	for i := range e.priors {
		if i < len(e.free) {
			column.MulVec(slopes[e.free[i]], &weights)
		} else {
			column.ScaleVec(math.Exp(noise), &weights)
		}
		u.SetCol(i, column.RawVector().Data)
	}
	var solved, out mat.Dense
	if err := c.SolveTo(&solved, u); err != nil {
		t.Fatal(err)
	}
	out.Mul(u.T(), &solved)
	out.Scale(0.5, &out)
	for i, prior := range e.priors {
		out.Set(i, i, out.At(i, i)+1/(prior.SD*prior.SD))
	}
	return &out
}
