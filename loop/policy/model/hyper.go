package model

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/loop/policy/internal/num"
)

// Hyper is everything that the model takes as given beside the observations. The
// model works on the standardised objective z: y = center + scale*z.
type Hyper struct {
	Center, Scale float64
	kernel        kernels.Kernel // of z
	// ShotVariance is the variance of one shot of z where the noise is constant.
	ShotVariance float64
	// known is that variance at a point where it is known, in squared units of the
	// objective; nil: it is constant or learnt.
	known *NoiseFunction
	// noise describes the process of the noise; nil: the noise is constant.
	noise *noiseHyper
	// doubt, of a fitted member: see member.
	doubt float64
}

// noiseHyper describes the Gaussian process of the noise on the scale of its link.
type noiseHyper struct {
	link   link
	Mean   float64 // prior mean
	kernel kernels.Kernel
	extra  float64 // sampling variance of a target, where the link does not know it
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
	// pooledFreedom is how many degrees of freedom make the mean sample variance a
	// better estimate of constant noise than a fit (relative SD of 45%).
	pooledFreedom = 10
)

// ForConstraint is how the quantity of constraint number j is modelled: by the objective's rules,
// with constant noise and its own hyperparameters. Where those of the objective are
// given they say nothing of it, so its are fitted.
func (m *Rules) ForConstraint(j int) *Rules {
	out := *m
	out.Seed = num.Mix(m.Seed + uint64(j) + 1)
	out.Learnt, out.Known = false, nil
	out.Spec.Priors, out.Spec.PriorRule = nil, PriorsAveraged
	if out.fixed() {
		out.Spec.Hyperparameters = HyperFit
	}
	return &out
}

// kernelOf makes the family that the specification names.
func (m *Rules) kernelOf(variance float64, lengthscales []float64) kernels.Kernel {
	return m.timed(newKernel(m.Spec.Kernel, variance, lengthscales), m.timescale())
}

// fixed reports whether hyperparameters are given.
func (m *Rules) fixed() bool { return m.Spec.Hyperparameters == HyperFixed }

// fits reports whether hyperparameters are fitted to the data.
func (m *Rules) fits() bool { return m.Spec.Hyperparameters == HyperFit }

// competing reports whether priors compete.
func (m *Rules) competing() bool { return m.Spec.Hyperparameters == HyperPriors }

// guess gives hyperparameters without a fit: those of the specification where they
// are fixed, else the priors' medians. What the specification does not name (the
// noise process, the standardisation of a fit) comes from the rows. O(n).
func (m *Rules) guess(rows []Row) *Hyper {
	lengthscales := slices.Repeat([]float64{m.usualLengthscale()}, m.Dims)
	h := &Hyper{ShotVariance: noiseMedian, known: m.Known}
	if m.fixed() {
		lengthscales = m.Spec.Lengthscale
		h.Center, h.Scale = m.Spec.Mean, math.Sqrt(m.Spec.Outputscale)
		h.ShotVariance = m.guessedLevel()
	} else {
		if h.Center, h.Scale = moments(rows); m.Spec.MaximumLikelihood {
			h.Center, h.Scale = 0, math.Hypot(h.Center, h.Scale)
		}
		if v, freedom := pooledVariance(rows); freedom >= pooledFreedom {
			h.ShotVariance = max(v/(h.Scale*h.Scale), MinNoise)
		}
	}
	h.kernel = m.kernelOf(1, lengthscales)
	h.noise = m.guessNoise(rows, h.Scale, lengthscales)
	return h
}

// guessNoise describes the noise process before a fit; nil where the noise is not
// learnt or fewer than two rows tell something about it. The level that rows with sample
// variances do not show is a guess.
func (m *Rules) guessNoise(rows []Row, scale float64, lengthscales []float64) *noiseHyper {
	variances := sampleVariances(rows)
	if !m.Learnt || !m.Singles && len(variances) < 2 || m.informatives(rows) < 2 {
		return nil
	}
	for i := range variances {
		variances[i] /= scale * scale
	}
	h := &noiseHyper{kernel: m.timed(newKernel(noiseKernel(m.Spec.Kernel), 1, lengthscales), m.timescale())}
	if m.Raw {
		h.link, h.extra = newRawLink(variances, m.Spec.MaximumLikelihood), 0.5
		return h
	}
	if len(variances) == 0 {
		h.link, h.Mean = logLink{floor: 1e-12}, math.Log(m.guessedLevel())
		return h
	}
	h.link = logLink{floor: max(1e-6*typical(variances), 1e-12)}
	n := 0.0
	for i := range rows {
		if r := &rows[i]; r.hasVariance() {
			y, _ := h.link.target(r.Variance/(scale*scale), r.Shots)
			n++
			h.Mean += (y - h.Mean) / n
		}
	}
	return h
}

// guessedLevel is the variance of one shot of z that is expected beforehand.
func (m *Rules) guessedLevel() float64 {
	if m.fixed() {
		return max(m.Spec.NoiseSD*m.Spec.NoiseSD/m.Spec.Outputscale, MinNoise)
	}
	return noiseMedian
}

// newRawLink standardises sample variances; free: about zero, and without a cut there.
func newRawLink(variances []float64, free bool) rawLink {
	mean, squares := 0.0, 0.0
	if !free {
		for _, v := range variances {
			mean += v / float64(len(variances))
		}
	}
	for _, v := range variances {
		squares += (v - mean) * (v - mean)
	}
	l := rawLink{free: free, center: mean, scale: math.Sqrt(squares / float64(len(variances)-1))}
	if l.scale <= 1e-12*mean || l.scale == 0 { // all alike
		l.scale = max(mean, MinNoise)
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

// shotNoise is the variance of one shot of z at a point where the noise is known or the
// same everywhere.
func (h *Hyper) shotNoise(x []float64) float64 {
	if h.known != nil {
		return h.known.At(x) / (h.Scale * h.Scale)
	}
	return h.ShotVariance
}

// noiseOfMeans sets dst[i] to the noise variance of the mean of row i where the noise is
// known or the same everywhere.
func (h *Hyper) noiseOfMeans(dst []float64, rows []Row) {
	for i := range rows {
		dst[i] = max(h.shotNoise(rows[i].X)/float64(rows[i].Shots), MinNoise)
	}
}

// Describe reports fitted hyperparameters in the users' units.
func (h *Hyper) Describe() Fit {
	variance, lengthscales := DescribeKernel(h.kernel)
	out := Fit{Mean: h.Center, NoiseSD: math.NaN(), Outputscale: variance * h.Scale * h.Scale, Lengthscale: lengthscales}
	if h.noise == nil && h.known == nil {
		out.NoiseSD = h.Scale * math.Sqrt(h.ShotVariance)
	}
	return out
}
