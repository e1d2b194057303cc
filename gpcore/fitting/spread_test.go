package fitting

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/labtuner/tuner/gpcore/kernels"
)

// TestSpreadAgainstTheDensity compares with second differences of the log posterior itself, which is computed from the
// covariance matrix by another library; the step 1e-3 leaves 1e-6 of the fourth derivative and 1e-10/1e-6 of rounding.
func TestSpreadAgainstTheDensity(t *testing.T) {
	p := fitProblem(kernels.SquaredExponential(1, []float64{0.3, 0.5}), 30, 7)
	for i := range p.NoiseVariance {
		p.NoiseVariance[i] += 0.01
	}
	p.Noise, p.MeanSD = nil, 0
	r, err := new(Workspace).Fit(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	p.Kernel = r.Kernel
	got, err := Spread(p)
	if err != nil {
		t.Fatal(err)
	}
	at := r.Kernel.Params(nil)
	density := func(i, j int, hi, hj float64) float64 {
		v := append([]float64{}, at...)
		v[i] += hi
		v[j] += hj
		return densityOf(t, p, v)
	}
	const h = 1e-3
	minus := mat.NewSymDense(3, nil)
	for i := range 3 {
		for j := range 3 {
			minus.SetSym(i, j, -(density(i, j, h, h)-density(i, j, h, -h)-density(i, j, -h, h)+density(i, j, -h, -h))/(4*h*h))
		}
	}
	var c mat.Cholesky
	var inverse mat.SymDense
	if !c.Factorize(minus) || c.InverseTo(&inverse) != nil {
		t.Fatal("no maximum")
	}
	for i := range 3 {
		if want := math.Sqrt(inverse.At(i, i)); math.Abs(got[i]-want) > 1e-3*want {
			t.Errorf("logarithm %d: %g, not %g", i, got[i], want)
		}
	}
}

// densityOf is the log posterior but for a constant, of a squared exponential of two coordinates.
func densityOf(t *testing.T, p Problem, v []float64) float64 {
	n := len(p.Y)
	k := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			q := 0.0
			for c := range 2 {
				d := (p.X[2*i+c] - p.X[2*j+c]) / math.Exp(v[1+c])
				q += d * d
			}
			k.SetSym(i, j, math.Exp(v[0]-q/2))
		}
		k.SetSym(i, i, k.At(i, i)+p.NoiseVariance[i])
	}
	var c mat.Cholesky
	if !c.Factorize(k) {
		t.Fatal("not positive definite")
	}
	y, solved := mat.NewVecDense(n, p.Y), mat.NewVecDense(n, nil)
	if err := c.SolveVecTo(solved, y); err != nil {
		t.Fatal(err)
	}
	out := -mat.Dot(y, solved)/2 - c.LogDet()/2
	for i, q := range []LogNormal{p.Variance, p.Lengthscale, p.Lengthscale} {
		out -= (v[i] - q.Mean) * (v[i] - q.Mean) / (2 * q.SD * q.SD)
	}
	return out
}

// TestSpreadOfNoMaximum: where the curvature is none of a maximum it says so.
func TestSpreadOfNoMaximum(t *testing.T) {
	p := fitProblem(kernels.SquaredExponential(1e-6, []float64{40, 40}), 30, 7)
	p.Variance.SD, p.Lengthscale.SD = 1e3, 1e3
	got, err := Spread(p)
	if err != nil || !math.IsNaN(got[0]) {
		t.Errorf("%v, %v", got, err)
	}
}
