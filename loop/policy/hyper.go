package policy

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore"
)

// hyper is everything that the model takes as given beside the observations. The
// model works on the standardised objective z: y = center + scale*z.
type hyper struct {
	center, scale float64
	kernel        gpcore.Kernel // of z
	// shotVariance is the variance of one shot of z where the noise is constant.
	shotVariance float64
	// known is that variance at a point where it is known, in squared units of the
	// objective; nil: it is constant or learnt.
	known *noiseFunction
	// noise describes the process of the noise; nil: the noise is constant.
	noise *noiseHyper
}

// noiseHyper describes the Gaussian process of the noise on the scale of its link.
type noiseHyper struct {
	link   link
	mean   float64 // prior mean
	kernel gpcore.Kernel
	extra  float64 // sampling variance of a target, where the link does not know it
}

// modelling says how hyperparameters come about.
type modelling struct {
	spec Model
	seed uint64
	dims int // variables
	// user brings unit coordinates of all variables into their units.
	user func(x []float64) []float64
	// timescales of the drift, in steps; none: there is no drift.
	timescales []float64
	// beta multiplies the standard deviation in the bound of the noise that enters
	// the objective's model.
	beta float64
	// learnt: the noise depends on the setting and is learnt from sample variances.
	learnt bool
	// known is the noise where the specification gives it; nil: it does not.
	known *noiseFunction
	// raw: the noise process lives on s^2 instead of log s^2.
	raw bool
}

// Medians and priors of the hyperparameters, natural logarithms, for inputs in the
// unit cube and a standardised objective. They halved RAHBO's cumulative regret on
// Branin against maximum likelihood on the initial points.
const (
	lengthscaleMedian = 0.3
	lengthscaleLogSD  = 0.7
	outputLogSD       = 2.0
	noiseOutputLogSD  = 1.5
	// One shot's noise SD is about a tenth of the objective's spread, give or take a
	// factor 2.1 (one standard deviation).
	noiseMedian = 0.01
	noiseLogSD  = 1.5
	// leastNoise keeps the factor of coinciding settings away from singularity; an SD
	// of 0.001 of the objective's spread.
	leastNoise = 1e-6
	// pooledFreedom is how many degrees of freedom make the mean sample variance a
	// better estimate of constant noise than a fit (relative SD of 45%).
	pooledFreedom = 10
)

// beside is how the quantity of constraint number j is modelled: by the objective's rules,
// with constant noise and hyperparameters of its own. Where those of the objective are
// given they say nothing of it, so its are fitted.
func (m *modelling) beside(j int) *modelling {
	out := *m
	out.seed = mix(m.seed + uint64(j) + 1)
	out.learnt, out.known = false, nil
	out.spec.Priors, out.spec.PriorRule = nil, priorsAveraged
	if out.fixed() {
		out.spec.Hyperparameters = hyperFit
	}
	return &out
}

// kernelOf makes the family that the specification names.
func (m *modelling) kernelOf(variance float64, lengthscales []float64) gpcore.Kernel {
	return m.timed(newKernel(m.spec.Kernel, variance, lengthscales), m.timescale())
}

// fixed says that hyperparameters are given.
func (m *modelling) fixed() bool { return m.spec.Hyperparameters == hyperFixed }

// fits says that hyperparameters are fitted to the data.
func (m *modelling) fits() bool { return m.spec.Hyperparameters == hyperFit }

// competing says that priors compete.
func (m *modelling) competing() bool { return m.spec.Hyperparameters == hyperPriors }

// guess gives hyperparameters without a fit: those of the specification where they
// are fixed, else the priors' medians. What the specification does not name (the
// noise process, the standardisation of a fit) comes from the rows. O(n).
func (m *modelling) guess(rows []row) *hyper {
	lengthscales := slices.Repeat([]float64{lengthscaleMedian}, m.dims)
	h := &hyper{shotVariance: noiseMedian, known: m.known}
	if m.fixed() {
		lengthscales = m.spec.Lengthscale
		h.center, h.scale = m.spec.Mean, math.Sqrt(m.spec.Outputscale)
		h.shotVariance = max(m.spec.NoiseSD*m.spec.NoiseSD/m.spec.Outputscale, leastNoise)
	} else {
		h.center, h.scale = moments(rows)
		if v, freedom := pooledVariance(rows); freedom >= pooledFreedom {
			h.shotVariance = max(v/(h.scale*h.scale), leastNoise)
		}
	}
	h.kernel = m.kernelOf(1, lengthscales)
	h.noise = m.guessNoise(rows, h.scale, lengthscales)
	return h
}

// guessNoise describes the noise process before a fit; nil where the noise is not
// learnt or fewer than two rows tell something about it.
func (m *modelling) guessNoise(rows []row, scale float64, lengthscales []float64) *noiseHyper {
	variances := sampleVariances(rows)
	if !m.learnt || len(variances) < 2 {
		return nil
	}
	for i := range variances {
		variances[i] /= scale * scale
	}
	h := &noiseHyper{kernel: m.timed(newKernel(noiseKernel(m.spec.Kernel), 1, lengthscales), m.timescale())}
	if m.raw {
		h.link, h.extra = newRawLink(variances), 0.5
		return h
	}
	h.link = logLink{floor: max(1e-6*typical(variances), 1e-12)}
	n := 0.0
	for i := range rows {
		if r := &rows[i]; r.spread() {
			y, _ := h.link.target(r.variance/(scale*scale), r.shots)
			n++
			h.mean += (y - h.mean) / n
		}
	}
	return h
}

// newRawLink standardises sample variances.
func newRawLink(variances []float64) rawLink {
	mean, squares := 0.0, 0.0
	for _, v := range variances {
		mean += v / float64(len(variances))
	}
	for _, v := range variances {
		squares += (v - mean) * (v - mean)
	}
	l := rawLink{center: mean, scale: math.Sqrt(squares / float64(len(variances)-1))}
	if l.scale <= 1e-12*mean || l.scale == 0 { // all alike
		l.scale = max(mean, leastNoise)
	}
	return l
}

// typical is the median of sorted values, or their mean where that is zero.
func typical(sorted []float64) float64 {
	if m := sorted[len(sorted)/2]; m > 0 {
		return m
	}
	sum := 0.0
	for _, v := range sorted {
		sum += v
	}
	return sum / float64(len(sorted))
}
