package fitting

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/labtuner/tuner/gpcore/kernels"
)

// Occam is what the freedom to choose hyperparameters t costs the most probable ones, r, of p: by the
// approximation of Laplace the evidence of the kernel's family is that of r times the exponential of
//
//	log p(t) + k/2 log(2 pi) + 1/2 log |C|,
//
// with k the number of hyperparameters and C the covariance of the posterior of their logarithms (MacKay 2003,
// chapter 28; Rasmussen & Williams 2006, section 3.4). Those that are held do not count. Where a noise is fitted,
// it counts as its ratio to the output variance, of which the kernel then has one, and that does not count: it
// is left to who integrates it otherwise. -Inf where the curvature is none of a maximum. Cost: as [Spread].
//
// Errors: those of a problem that [Workspace.Fit] refuses.
func Occam(p Problem, r Result) (freedom float64, err error) {
	p.Kernel = r.Kernel
	e, err := newEvidence(p, new(Workspace))
	if err != nil {
		return 0, err
	}
	at, variance := e.start(), -1
	if p.Noise != nil {
		at[len(at)-1] = math.Log(r.NoiseVariance)
		variance = slices.Index(e.free, slices.Index(p.Kernel.Kinds(nil), kernels.OutputVariance))
	}
	full, ok := e.covariance(at)
	if !ok {
		return math.Inf(-1), nil
	}
	ratios, last := mat.DenseCopyOf(full), len(at)-1
	var counted []int
	for i := range at {
		if i != variance {
			counted = append(counted, i)
		}
	}
	if variance >= 0 { // the ratio in place of the noise
		at[last] -= at[variance]
		for i := range at {
			ratios.Set(last, i, ratios.At(last, i)-ratios.At(variance, i))
		}
		for i := range at {
			ratios.Set(i, last, ratios.At(i, last)-ratios.At(i, variance))
		}
	}
	block, sum := mat.NewDense(len(counted), len(counted), nil), 0.0
	for k, i := range counted {
		d, _ := e.priors[i].logDensity(at[i])
		sum += d - math.Log(e.priors[i].SD) // the factors 2 pi of densities and integral cancel
		for l, j := range counted {
			block.Set(k, l, ratios.At(i, j))
		}
	}
	det, sign := mat.LogDet(block)
	if !(sign > 0) {
		return math.Inf(-1), nil
	}
	return sum + det/2, nil
}
