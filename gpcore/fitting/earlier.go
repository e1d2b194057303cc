package fitting

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
)

// Earlier is what a fit of nearly the same data has found beside its kernel.
type Earlier struct {
	// NoiseVariance is the extra noise variance, where Noise is fitted; 0: not known.
	NoiseVariance float64
	// Covariance is that of the posterior of the logarithms, in the order of [Occam]; nil:
	// not known. It is read only. One that is too small ends a search too early.
	Covariance mat.Symmetric
	// Mean, where not nil, is the constant mean that it has found, as one of Y; it counts in
	// Result.Gain alone.
	Mean *float64
}

// short is how much a posterior falls short of the one with the most probable mean by a mean that was found earlier: it
// is quadratic in the mean, with this precision.
func (q *Earlier) short(mean, precision float64) float64 {
	if q == nil || q.Mean == nil {
		return 0
	}
	off := *q.Mean - mean
	return 0.5 * off * off * precision
}

// farFromPrior is how many prior standard deviations from its median the logarithm of a noise variance may be where a
// search begins: further off, the likelihood may be flat.
const farFromPrior = 5

// noise is the logarithm of the noise variance where a search begins.
func (q *Earlier) noise(prior LogNormal) float64 {
	if q == nil || !(q.NoiseVariance > 0) {
		return prior.Mean
	}
	off := (math.Log(q.NoiseVariance) - prior.Mean) / prior.SD
	return prior.Mean + prior.SD*min(max(off, -farFromPrior), farFromPrior)
}

// climbOn runs one BFGS search that begins where an earlier one ended, with steps in units of the posterior's
// spread: in coordinates z with the logarithms at start + L z, L L^T the covariance. A quadratic maximum would be
// reached at once; with data that have grown by an eighth, it takes a third of the evaluations of climb, which goes on
// from the same start where the search cannot.
func (e *evidence) climbOn(ctx context.Context, start []float64, earlier *Earlier) {
	l, k := e.spread(earlier.Covariance), len(start)
	values := func(v, z []float64) {
		for i := range v {
			v[i] = start[i]
			for j := range i + 1 {
				v[i] += l.At(i, j) * z[j]
			}
		}
	}
	slopes := func(slope, g []float64) {
		for j := range slope {
			slope[j] = 0
			for i := j; i < k; i++ {
				slope[j] += l.At(i, j) * g[i]
			}
		}
	}
	// In these coordinates a slope of 0.03 is 0.03 standard deviations from the maximum: about a thousandth in the
	// logarithm of the posterior, more than that where the spread is a guess that is too small.
	settings := optimize.Settings{
		GradientThreshold: 0.03,
		MajorIterations:   100,
		FuncEvaluations:   300,
		Converger:         &optimize.FunctionConverge{Absolute: 1e-4, Iterations: 1},
	}
	method := &optimize.BFGS{Linesearcher: &optimize.MoreThuente{}, GradStopThreshold: math.NaN()} // settings say when it ends
	if err := e.minimise(ctx, make([]float64, k), values, slopes, &settings, method); err != nil {
		e.climb(ctx, start)
	}
}

// spread is a lower triangular root of the posterior's covariance. Where none is known, each logarithm has that of
// its prior beside n data of which it is the scale: the information about the logarithm of a variance from n normal
// values is n/2, and of other hyperparameters mostly less.
func (e *evidence) spread(known mat.Symmetric) *mat.TriDense {
	k := len(e.priors)
	l := mat.NewTriDense(k, mat.Lower, nil)
	if known != nil && known.SymmetricDim() == k {
		var root mat.Cholesky
		if root.Factorize(known) {
			root.LTo(l)
			return l
		}
	}
	for i, p := range e.priors {
		l.SetTri(i, i, 1/math.Sqrt(1/(p.SD*p.SD)+float64(e.n)/2))
	}
	return l
}
