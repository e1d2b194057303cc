package cvs

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/labtuner/tuner/loop/benchmarks/experiment"
	"github.com/labtuner/tuner/loop/benchmarks/landscape"
)

// GPSample is a function drawn from a Gaussian process, another for each seed:
// 1000 uniform anchors P in [0, 1]^3, values f ~ N(0, K + 1e-6 I) there with the
// squared exponential of variance 1 and lengthscale 0.1, and between them the
// interpolant
//
//	f(x) = k(x, P) (K + 1e-6 I)^-1 f(P)
//
// so that the truth itself has no noise (Tay et al., section 5; constants from their
// code). The optimum is another for each seed and found numerically.
func GPSample() Family {
	return Family{Name: "gpsample", about: "a sample of a Gaussian process in 3 dimensions",
		Variables: experiment.Variables([]string{"x1", "x2", "x3"}, [][2]float64{{0, 1}, {0, 1}, {0, 1}}),
		sets:      subsets, lengthscale: 0.1, budget: 50, screen: 2000, polish: 16,
		truth: func(seed uint64) (truth, error) { return newGPSample(seed) }}
}

// Constants of the GP sample.
const (
	gpSampleAnchors     = 1000
	gpSampleLengthscale = 0.1
	gpSampleJitter      = 1e-6
)

// newGPSample draws the anchors and solves for the interpolant's weights. O(n^3/3).
func newGPSample(seed uint64) (*landscape.Gaussians, error) {
	const n, d = gpSampleAnchors, 3
	rng := experiment.Stream(seed, experiment.ForTruth, 0)
	g := &landscape.Gaussians{Dims: d, Weight: make([]float64, n), Centre: make([]float64, n*d), Precision: make([]float64, n*d)}
	for i := range g.Centre {
		g.Centre[i] = rng.Float64()
		g.Precision[i] = 1 / (2 * gpSampleLengthscale * gpSampleLengthscale)
	}
	k := mat.NewSymDense(n, nil)
	for i := range n {
		u := g.Centre[i*d : (i+1)*d]
		for j := range i {
			k.SetSym(i, j, math.Exp(-g.Exponent(j, u, nil)))
		}
		k.SetSym(i, i, 1+gpSampleJitter)
	}
	var chol mat.Cholesky
	if !chol.Factorize(k) {
		return nil, fmt.Errorf("gp sample of seed %d: the covariance of its anchors is not positive definite", seed)
	}
	// f = L z has the covariance L L^T, and K^-1 f = L^-T z: one solve, and never f.
	z := mat.NewVecDense(n, nil)
	for i := range n {
		z.SetVec(i, rng.NormFloat64())
	}
	var l mat.TriDense
	chol.LTo(&l)
	if err := mat.NewVecDense(n, g.Weight).SolveVec(l.T(), z); err != nil {
		return nil, fmt.Errorf("gp sample of seed %d: %w", seed, err)
	}
	return g, nil
}
