package quadrature

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// gauss is the Gauss rule with n nodes for the distribution m: exact for polynomials
// of degree 2n-1. The three-term recurrence of the orthogonal polynomials is found by
// Stieltjes' procedure on a fine Gauss-Legendre discretisation; nodes are the
// eigenvalues of its Jacobi matrix, weights the squared first components of the
// eigenvectors. Golub & Welsch (1969); Gautschi (2004), section 2.2.
func (m Marginal) gauss(n int) (node, weight []float64) {
	if m.kind == pointMass {
		return []float64{m.mean}, []float64{1}
	}
	const fine = 256
	x, w := make([]float64, fine), make([]float64, fine)
	low, high := m.support()
	quad.Legendre{}.FixedLocations(x, w, low, high)
	sum := 0.0
	for i := range x {
		w[i] *= m.density(x[i])
		sum += w[i]
	}
	// The polynomials are taken in (x-center)/half, so that they stay of order one.
	center, half := (low+high)/2, (high-low)/2
	for i := range x {
		w[i] /= sum
		x[i] = (x[i] - center) / half
	}
	jacobi := mat.NewSymDense(n, nil)
	was, is := make([]float64, fine), vec.Constant(fine, 1)
	normWas, beta := 0.0, 0.0
	for k := range n {
		norm, moment := 0.0, 0.0
		for i, p := range is {
			norm += w[i] * p * p
			moment += w[i] * p * p * x[i]
		}
		if k > 0 {
			beta = norm / normWas
			jacobi.SetSym(k, k-1, math.Sqrt(beta))
		}
		alpha := moment / norm
		jacobi.SetSym(k, k, alpha)
		for i := range is {
			was[i], is[i] = is[i], (x[i]-alpha)*is[i]-beta*was[i]
		}
		normWas = norm
	}
	var e mat.EigenSym
	if !e.Factorize(jacobi, true) {
		// It converges for every symmetric matrix of finite numbers; the equal-weight
		// rule at the quantiles is what is left.
		return m.midpoints(n)
	}
	var v mat.Dense
	e.VectorsTo(&v)
	node, weight = e.Values(nil), make([]float64, n)
	for i := range node {
		node[i] = center + half*node[i]
		weight[i] = v.At(0, i) * v.At(0, i)
	}
	return node, weight
}

// midpoints are the quantiles of equal probabilities.
func (m Marginal) midpoints(n int) (node, weight []float64) {
	node, weight = make([]float64, n), vec.Constant(n, 1/float64(n))
	for i := range node {
		node[i] = m.quantile((float64(i) + 0.5) / float64(n))
	}
	return node, weight
}
