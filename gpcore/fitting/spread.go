package fitting

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// spreadStep is the step of the differences of the gradient, in logarithms: it leaves four digits of the curvature,
// since third derivatives are of its order, and rounding ten.
const spreadStep = 1e-4

// Spread tells how well the data determine the hyperparameters of p.Kernel, taken as the most
// probable ones: of each, in the order of Kernel.Params, the standard deviation of its logarithm by
// the Laplace approximation, which takes the posterior of all logarithms for normal with the curvature
// it has there (Rasmussen & Williams 2006, section 3.4). NaN for those that are held, and for all where
// the curvature is none of a maximum. p.Noise, Starts and Seed are not used: the noise is given. Cost: as
// many evaluations of O(n^3) as there are hyperparameters, and one.
//
// Errors: those of a problem that [Workspace.Fit] refuses.
func Spread(p Problem) ([]float64, error) {
	p.Noise = nil
	e, err := newEvidence(p, new(Workspace))
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(e.logs))
	for i := range out {
		out[i] = math.NaN()
	}
	if c, ok := e.covariance(e.start()); ok {
		for k, i := range e.free {
			out[i] = math.Sqrt(c.At(k, k))
		}
	}
	return out, nil
}

// covariance is that of the posterior of the free parameters at a maximum, by the approximation of Laplace;
// ok is false where it is none.
func (e *evidence) covariance(at []float64) (c *mat.SymDense, ok bool) {
	n := len(at)
	here, up, minus := make([]float64, n), make([]float64, n), mat.NewSymDense(n, nil)
	e.gradient(here, at)
	for j := range n {
		middle := at[j]
		at[j] = middle + spreadStep
		e.gradient(up, at)
		at[j] = middle
		for i := range n {
			curve := (here[i] - up[i]) / spreadStep
			if i != j {
				curve /= 2 // the other half comes with the other triangle
			}
			minus.SetSym(i, j, minus.At(i, j)+curve)
		}
	}
	var f mat.Cholesky
	c = new(mat.SymDense)
	return c, f.Factorize(minus) && f.InverseTo(c) == nil
}
