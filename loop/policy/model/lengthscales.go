package model

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore/fitting"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// Lengthscales gives, for each coordinate of the objective's process, the natural logarithm of its
// lengthscale as a share of the range, and that logarithm's standard deviation: 0 where lengthscales are
// given; where priors compete, by their present probabilities; where they are fitted, by the data of the
// fit with the noise taken for known ([fitting.Spread]), and before the first fit that of the prior. NaN
// where the spread is not known. Both are nil where the kernel has no lengthscales, or no data are there.
// The model must be up to date ([Model.Refresh]).
func (m *Model) Lengthscales() (log, sd []float64, err error) {
	switch {
	case len(m.Data.Rows) == 0:
		return nil, nil, nil
	case m.Priors != nil:
		log, sd = m.Priors.lengthscales()
		return log, sd, nil
	}
	at := lengthscalesIn(m.Active.kernel)
	if len(at) == 0 {
		return nil, nil, nil
	}
	sd = make([]float64, len(at))
	switch {
	case m.fixed():
	case m.Fitted == nil:
		for i := range sd {
			sd[i] = m.flattened(m.lengthscalePrior()).SD
		}
	default:
		all, err := m.spread()
		if err != nil {
			return nil, nil, err
		}
		sd = pick(all, at)
	}
	return pick(m.Active.kernel.Params(nil), at), sd, nil
}

// spread is the standard deviation of each logarithm of the fitted kernel.
func (m *Model) spread() ([]float64, error) {
	rows := thinned(m.Data.Rows, fitLimit)
	x, z := standardised(rows, m.Active)
	noise := m.ExpectedNoise(x)
	for i := range noise {
		noise[i] = max(noise[i]/float64(rows[i].Shots), MinNoise)
	}
	return fitting.Spread(fitting.Problem{Kernel: m.Active.kernel, X: x, Y: z, NoiseVariance: noise, MeanSD: m.meanSD(),
		Variance: m.prior(1, outputLogSD), Lengthscale: m.flattened(m.lengthscalePrior())})
}

// lengthscales are those of the members by their probabilities: mean and standard deviation of
// the logarithms. nil where a member has none.
func (c *priorSet) lengthscales() (log, sd []float64) {
	weight := make([]float64, len(c.members))
	c.set.Probabilities(weight)
	var each [][]float64
	for i := range c.members {
		at := lengthscalesIn(c.members[i].kernel)
		if len(at) == 0 || i > 0 && len(at) != len(each[0]) {
			return nil, nil
		}
		each = append(each, pick(c.members[i].kernel.Params(nil), at))
	}
	log, sd = make([]float64, len(each[0])), make([]float64, len(each[0]))
	for k := range log {
		for i, w := range weight {
			log[k] += w * each[i][k]
		}
		for i, w := range weight {
			sd[k] += w * (each[i][k] - log[k]) * (each[i][k] - log[k])
		}
		sd[k] = math.Sqrt(sd[k])
	}
	return log, sd
}

// lengthscalesIn says which of a kernel's hyperparameters are lengthscales; none where it has not
// one for each coordinate, such as a sum of kernels.
func lengthscalesIn(k kernels.Kernel) (at []int) {
	kinds := k.Kinds(nil)
	for i, kind := range kinds {
		if kind == kernels.Lengthscale {
			at = append(at, i)
		}
	}
	d := k.Dim()
	if slices.Contains(kinds, kernels.Timescale) { // the last coordinate is time
		d--
	}
	if len(at) != d {
		return nil
	}
	return at
}

func pick(v []float64, at []int) []float64 {
	out := make([]float64, len(at))
	for k, i := range at {
		out[k] = v[i]
	}
	return out
}
