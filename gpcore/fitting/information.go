package fitting

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// informationStep is the step of differences of covariances, in logarithms. What it leaves of second derivatives is
// nothing beside what the average information leaves out, for periods too, which are large ones.
const informationStep = 1e-5

// information is the curvature of minus the log posterior by the free parameters where it was last evaluated, by the
// average of what the data say of it and what they are expected to say,
//
//	A_ij = 1/2 u_i^T P u_j + (1/SD_i^2 where i = j),  u_i = dK/dt_i P y,
//
// P the inverse of K with the mean's prior (Gilmour, Thompson and Cullis, Biometrics 51, 1995): no traces, so it
// takes O(n^2) for each parameter where the curvature itself takes O(n^3). It is positive definite everywhere. dK/dt_i
// times a vector is a difference of products. What else the curvature has is zero on average over data of the process.
func (e *evidence) information() *mat.SymDense {
	k, n, f := len(e.priors), e.n, e.m.Factor
	e.m.Product(e.here, e.p.Kernel.WithParams(e.logs), e.alpha)
	row := func(i int) []float64 { return e.whitened[i*vec.Up24(n) : (i+1)*vec.Up24(n)] }
	for i := range k {
		e.derivativeProduct(e.along, i)
		for r := 0; r < n; r += vec.Rows {
			vec.Dots8(row(i)[r:r+8], f.W[r*f.Stride:], f.Stride, e.along[:r+8])
		}
	}
	mean := make([]float64, k)
	if e.precision > 0 {
		for i := range mean {
			mean[i] = vec.Dot(row(i)[:n], e.ones[:n]) / math.Sqrt(e.precision)
		}
	}
	a := mat.NewSymDense(k, nil)
	for i, p := range e.priors {
		for j := range i + 1 {
			a.SetSym(i, j, 0.5*(vec.Dot(row(i)[:n], row(j)[:n])-float64(mean[i]*mean[j])))
		}
		a.SetSym(i, i, max(a.At(i, i), 0)+1/(p.SD*p.SD))
	}
	return a
}

// derivativeProduct sets u to dK/dt_i alpha.
func (e *evidence) derivativeProduct(u []float64, i int) {
	if i == len(e.free) { // the noise
		for j := range e.n {
			u[j] = e.result.NoiseVariance * e.alpha[j]
		}
		return
	}
	q := e.free[i]
	before := e.logs[q]
	e.logs[q] += informationStep
	e.m.Product(u[:e.n], e.p.Kernel.WithParams(e.logs), e.alpha)
	e.logs[q] = before
	for j, v := range e.here {
		u[j] = (u[j] - v) / informationStep
	}
}
