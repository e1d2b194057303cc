package fitting

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/labtuner/tuner/gpcore/kernels"
)

// LogNormal is a prior of a positive quantity: its natural logarithm is normal
// with this mean and standard deviation.
type LogNormal struct{ Mean, SD float64 }

// logDensity is the density of the logarithm at v, logarithmic and without the
// constant, and its derivative.
func (p LogNormal) logDensity(v float64) (density, slope float64) {
	z := (v - p.Mean) / p.SD
	return -0.5 * z * z, -z / p.SD
}

// Problem asks for the hyperparameters of a kernel that are most probable
// given data (maximum a posteriori).
type Problem struct {
	// Kernel is the family and the first start. Hyperparameters of kind
	// OutputVariance and Lengthscale get the priors below; Timescale is held; the
	// others get a prior around the given value with SD 1 of the logarithm.
	Kernel kernels.Kernel
	// X is n x d row-major, Y and NoiseVariance (the known part, per observation)
	// have n elements.
	X, Y, NoiseVariance []float64
	Variance            LogNormal // of every output variance
	Lengthscale         LogNormal // of every lengthscale
	// Noise, where not nil, is the prior of one extra noise variance that is added
	// to all of NoiseVariance and fitted as well.
	Noise *LogNormal
	// MeanSD > 0 fits a constant mean with prior N(0, MeanSD^2) as well; 0 is a
	// process with zero mean.
	MeanSD float64
	Starts int    // extra starts, drawn from the priors, beside Kernel's own values
	Seed   uint64 // of the extra starts
	// Earlier, where not nil, says that Kernel was fitted to nearly the same data: the
	// first start is near the maximum.
	Earlier *Earlier
}

// Result is the best point that a fit has seen.
type Result struct {
	Kernel        kernels.Kernel
	Mean          float64 // constant mean to subtract from y; 0 unless MeanSD > 0
	NoiseVariance float64 // extra noise variance to add; 0 unless Noise was given
	// LogPosterior is the log marginal likelihood plus the log prior density of the
	// logarithms (its normalising constants left out) at this point.
	LogPosterior float64
	// Gain is how much LogPosterior is above that of Kernel's own values, with Earlier's noise
	// and mean where it has them; +Inf where those could not be evaluated.
	Gain        float64
	Evaluations int // factorisations done
}

// ErrNoFit says that no start of a fit could be evaluated.
var ErrNoFit = errors.New("gpcore: no hyperparameters could be evaluated; check that noise variances are not too small, or give more time")

// Fit maximises the log marginal likelihood plus the log prior over the
// logarithms of the hyperparameters, with analytic gradients (Rasmussen & Williams 2006, section 5.4.1), by BFGS
// whose first metric is the average information, from each start in turn. The constant mean is
// eliminated: for given hyperparameters its maximum is
// 1^T K^-1 y / (1^T K^-1 1 + 1/MeanSD^2). When ctx ends, the best point seen so far
// is returned; an error only if there is none. Each evaluation is O(n^3). The result
// depends on the problem alone unless ctx ends early.
func (w *Workspace) Fit(ctx context.Context, p Problem) (Result, error) {
	e, err := newEvidence(p, w)
	if err != nil {
		return Result{}, err
	}
	rng := rand.New(rand.NewPCG(p.Seed, 0x6770636f7265)) // the stream is the package's own
	start := e.start()
	for s := 0; s <= p.Starts && ctx.Err() == nil; s++ {
		if s > 0 {
			e.draw(start, rng)
		}
		e.climb(ctx, start)
	}
	if e.best.Kernel == nil {
		if err := ctx.Err(); err != nil {
			return Result{}, fmt.Errorf("%w (%w)", ErrNoFit, err)
		}
		return Result{}, ErrNoFit
	}
	e.best.Gain, e.best.Evaluations = e.best.LogPosterior-e.first, e.evaluations
	return e.best, nil
}
