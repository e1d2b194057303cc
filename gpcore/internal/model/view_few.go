package model

import "github.com/labtuner/tuner/gpcore/internal/vec"

// BatchMin is the number of points from which a panel of 24 costs less than as many
// single predictions.
const BatchMin = 8

// few is the scratch of fewer than BatchMin points that are predicted together: each has the operations of a single
// one, but eight rows of W at a time serve all of them, so that W passes through the caches once. From some
// 250 observations on it is larger than they are.
type few struct {
	stride  int       // of the vectors
	k, l, u []float64 // of each point: covariances with the data, W times them, and K^-1 times them
	q       [BatchMin]float64
}

// fewPoints takes the memory at the first use.
func (r *View) fewPoints() *few {
	if r.some == nil {
		n := vec.Up24(r.room)
		v := make([]float64, 3*(BatchMin-1)*n)
		size := len(v) / 3
		r.some = &few{stride: n, k: v[:size], l: v[size : 2*size], u: v[2*size:]}
	}
	return r.some
}

// fewCovariances sets f.k of m points.
func (r *View) fewCovariances(f *few, x []float64, m int) {
	d := r.Model.Points.D
	for l := range m {
		r.Single(x[l*d:(l+1)*d], false)
		copy(f.k[l*f.stride:(l+1)*f.stride], r.K)
	}
}

// SolveFew solves for fewer than BatchMin points, rows of x: what [View.Few] gives from then on, and
// [View.FewGradient].
func (r *View) SolveFew(x []float64, m int) {
	r.Sync()
	r.gradients()
	f := r.fewPoints()
	r.fewCovariances(f, x, m)
	r.Model.Factor.SolveMany(f.q[:], f.k, f.l, f.u, m, f.stride)
}

// Few are the covariances k of the data with point l of the last SolveFew, u = K^-1 k, and k^T u. They alias scratch.
func (r *View) Few(l int) (k, u []float64, q float64) {
	f, n, at := r.some, r.Model.Factor.N, l*r.some.stride
	return f.k[at : at+n], f.u[at : at+n], f.q[l]
}

// FewMoments returns mean and variance at point l of the last SolveFew, which is x, for whose derivatives
// [View.FewSlopes] may be called next.
func (r *View) FewMoments(l int, x []float64) (mean, variance float64) {
	k, _, q := r.Few(l)
	r.Eval.Embed(r.Point, x)
	return vec.Dot(k, r.Model.Factor.Alpha), max(r.Eval.Prior(r.Point)-q, 0)
}

// FewSlopes sets dst to the derivatives of byMean*mean + byVariance*variance at the point of the last FewMoments, l: one pass
// over the data, where those of each alone take two.
func (r *View) FewSlopes(l int, dst []float64, byMean, byVariance float64) {
	_, u, _ := r.Few(l)
	r.deriveRow(dst, u, byMean, byVariance)
}

// predictFew sets means and variances of fewer than BatchMin points.
func (r *View) predictFew(mean, variance, x []float64) {
	f, factor, m := r.fewPoints(), r.Model.Factor, len(mean)
	r.fewCovariances(f, x, m)
	factor.SquaresMany(f.q[:], f.k, f.l, m, f.stride)
	d := r.Model.Points.D
	for l := range m {
		r.Eval.Embed(r.Point, x[l*d:(l+1)*d])
		mean[l] = vec.Dot(f.k[l*f.stride:l*f.stride+factor.N], factor.Alpha)
		variance[l] = max(r.Eval.Prior(r.Point)-f.q[l], 0)
	}
}
