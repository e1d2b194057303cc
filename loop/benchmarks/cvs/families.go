package cvs

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/labtuner/tuner/drivers/sim"
	"github.com/labtuner/tuner/loop/benchmarks/experiment"
	"github.com/labtuner/tuner/loop/benchmarks/landscape"
)

// Hartmann is Hartmann's function in three dimensions on [0, 1]^3, to be
// maximised:
//
//	f(x) = sum over j of c_j exp(-sum over i of A_ji (x_i - P_ji)^2)
//
// Its maximum is 3.86278 at (0.114614, 0.555649, 0.852547) (Dixon and Szego 1978; Tay
// et al. take it from botorch).
func Hartmann() Family {
	return Family{Name: "hartmann", about: "Hartmann's function in 3 dimensions",
		Variables: experiment.Variables([]string{"x1", "x2", "x3"}, [][2]float64{{0, 1}, {0, 1}, {0, 1}}),
		sets:      subsets, lengthscale: 0.1, budget: 50, screen: 4000, polish: 16,
		truth: func(uint64) (truth, error) { return Hartmann3(), nil }}
}

func Hartmann3() *landscape.Gaussians {
	a := []float64{3, 10, 30, 0.1, 10, 35}
	return &landscape.Gaussians{Dims: 3, Weight: []float64{1, 1.2, 3, 3.2},
		Precision: slices.Concat(a, a),
		Centre: []float64{
			0.3689, 0.1170, 0.2673,
			0.4699, 0.4387, 0.7470,
			0.1091, 0.8732, 0.5547,
			0.0381, 0.5743, 0.8828,
		}}
}

// Plant is leaf area over five nutrients: the posterior mean of a Gaussian
// process on measurements of a plant factory that Tay et al. published with their
// code, in its own units (Ca, B, NH3 and K in log(micromol/L), pH) and standardised.
// The model of 464 inducing points collapses to 79 distinct ones without loss. drivers/sim
// has the data, with licence. The greatest value found is 2.194.
func Plant() Family {
	mean, err := sim.GrowthMean()
	f := Family{Name: "plant", about: "leaf area over 5 nutrients (posterior mean of a published model)",
		sets:        [][]int{{0, 1}, {2, 3}, {3, 4}, {0, 1, 2}, {1, 2, 3}, {2, 3, 4}, {0, 1, 2, 3, 4}},
		lengthscale: 0.2, budget: 200, screen: 8000, polish: 24}
	if err != nil { // the embedded table is damaged: told when the problem is drawn
		f.truth = func(uint64) (truth, error) { return nil, err }
		return f
	}
	bounds := make([][2]float64, len(mean.Names))
	g := &landscape.Gaussians{Dims: len(mean.Names), Weight: mean.Weights}
	for i := range bounds {
		bounds[i] = [2]float64{mean.Low[i], mean.High[i]}
	}
	for _, point := range mean.Points {
		for i, u := range point {
			g.Centre = append(g.Centre, u)
			g.Precision = append(g.Precision, 1/(2*mean.Scales[i]*mean.Scales[i]))
		}
	}
	f.Variables = experiment.Variables(mean.Names, bounds)
	f.truth = func(uint64) (truth, error) { return g, nil }
	return f
}

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
