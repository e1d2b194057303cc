package gpcore

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore/internal/model"
	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// Reader is a read-only view of a process with its own scratch. Several
// readers of one process may run concurrently between its changes; a change must
// not overlap a read.
type Reader struct{ v *model.View }

// Reader makes a view. It takes some 400 bytes for each observation of capacity (a
// sum or product of kernels 200 more for each part), and at the first gradient 400
// more.
func (g *GP) Reader() *Reader { return &Reader{model.NewView(g.m)} }

// Predict sets mean[j] and variance[j] to the posterior mean and variance of f at
// point j: k^T K^-1 y and k(x,x) - k^T K^-1 k, without observation noise, the
// variance clamped at zero. x is m x d row-major; mean has m elements, variance
// too or is nil (then only O(n) a point). O(n^2) a point; 24 at a time cost several
// times less each, and may differ in the last bits from one alone. Rasmussen &
// Williams (2006), eqs. 2.23 and 2.24.
func (g *GP) Predict(mean, variance, x []float64) { predict(g.m.OwnView(), mean, variance, x) }

// Means sets mean[j] to the posterior mean at point j, row j of x: [GP.Predict] of the mean alone, or, where the points are the
// observations' in their order, [GP.FittedMeans], O(1) a point and the same but for rounding.
func (g *GP) Means(mean, x []float64) {
	if g.Holds(x) {
		g.FittedMeans(mean)
		return
	}
	g.Predict(mean, nil, x)
}

// Holds reports whether the observations are at exactly the rows of x, in this order. O(n d).
func (g *GP) Holds(x []float64) bool {
	d := g.Dim()
	if g.Len()*d != len(x) {
		return false
	}
	for i := range g.Len() {
		if !slices.Equal(g.X(i), x[i*d:(i+1)*d]) {
			return false
		}
	}
	return true
}

// Predict is [GP.Predict] with the reader's scratch.
func (r *Reader) Predict(mean, variance, x []float64) { predict(r.v, mean, variance, x) }

func predict(v *model.View, mean, variance, x []float64) {
	if len(x) != len(mean)*v.Model.Points.D || (variance != nil && len(variance) != len(mean)) {
		panic("gpcore: Predict needs d coordinates for each mean and variance")
	}
	v.Predict(mean, variance, x)
}

// PredictSum returns the posterior mean and variance of the sum over i of weights[i] f(x_i), with x
// m x d row-major: of an expectation over nodes, say, or of a difference. O(n^2 + m n + m^2).
func (r *Reader) PredictSum(weights, x []float64) (mean, variance float64) {
	v, f, d := r.v, r.v.Model.Factor, r.v.Model.Points.D
	if len(x) != len(weights)*d {
		panic("gpcore: PredictSum needs d coordinates for each weight")
	}
	v.Sync()
	k, kernel := make([]float64, len(v.K)), v.Model.Kernel
	for i, w := range weights {
		at := x[i*d : (i+1)*d]
		v.Single(at, false)
		vec.Axpy(k, w, v.K)
		variance += w * w * v.Prior[0]
		for j, u := range weights[:i] {
			variance += 2 * w * u * kernel.Cov(at, x[j*d:(j+1)*d])
		}
	}
	mean = vec.Dot(k[:f.N], f.Alpha)
	for i := 0; i < f.N; i += vec.Rows {
		vec.Dots8(v.L[i:i+8], f.W[i*f.Stride:], f.Stride, k[:i+8])
	}
	return mean, max(variance-vec.Dot(v.L[:f.N], v.L[:f.N]), 0)
}

// PredictGrad returns the posterior mean and variance of f at one point and sets
// dMean and dVariance (d elements each) to their derivatives by its coordinates.
// The variance is clamped at zero, its derivative is that of the unclamped one.
// O(n^2).
func (g *GP) PredictGrad(x, dMean, dVariance []float64) (mean, variance float64) {
	v := g.m.OwnView()
	if d := v.Model.Points.D; len(x) != d || len(dMean) != d || len(dVariance) != d {
		panic("gpcore: PredictGrad needs d coordinates and two gradients of d")
	}
	return v.PredictGrad(x, dMean, dVariance)
}

// PredictGrads is PredictGrad at m points: mean and variance have m elements,
// dMean and dVariance m x d, x is m x d row-major. O(n^2) a point, 24 at a time:
// several times cheaper than m single calls.
func (r *Reader) PredictGrads(mean, variance, dMean, dVariance, x []float64) {
	if d := r.v.Model.Points.D; len(x) != len(mean)*d || len(variance) != len(mean) || len(dMean) != len(x) || len(dVariance) != len(x) {
		panic("gpcore: PredictGrads needs d coordinates, two gradients, mean and variance for each point")
	}
	r.v.PredictGrads(mean, variance, dMean, dVariance, x)
}

// InformationGain is the mutual information between the function and the
// observations, in nats,
//
//	(log det K - sum over i of log noise_i)/2 = log det(I + S^-1 K_0)/2,
//
// with K = K_0 + S, S the diagonal of the noise variances (Srinivas et al., IEEE Trans.
// Inf. Theory 58 (2012) 3250, eq. 7). Infinite where a noise variance is zero. O(n).
func (g *GP) InformationGain() float64 {
	gain := 0.0
	for k := range g.m.Factor.N { // log det K = -2 sum log W_kk
		gain -= math.Log(g.m.Factor.W[k*g.m.Factor.Stride+k])
	}
	for i := range g.Len() {
		gain -= 0.5 * math.Log(g.NoiseVariance(i))
	}
	return max(gain, 0)
}
