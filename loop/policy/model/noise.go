package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// NoiseField is the Gaussian process of the noise with the rows it has learnt.
type NoiseField struct {
	Hyper *noiseHyper
	GP    *gpcore.GP
	// low and high clip the bound that enters the objective's model: a thousandth of
	// the median sample variance, and the largest one (rho_max^2 of the paper).
	low, high float64

	sorted []float64 // scratch
}

// newNoiseField makes an empty field.
func newNoiseField(h *noiseHyper, capacity int) *NoiseField {
	return &NoiseField{Hyper: h, GP: gpcore.New(h.kernel, capacity)}
}

// learn replaces what the process has learnt. O(n^3/3).
func (v *NoiseField) learn(h *noiseHyper, l lessons) error {
	if h != v.Hyper {
		if err := Reset(v.GP, h.kernel); err != nil {
			return err
		}
		v.Hyper = h
	}
	y, noise := make([]float64, len(l.y)), make([]float64, len(l.y))
	for i := range y {
		y[i], noise[i] = l.y[i]-h.Mean, l.variance[i]+h.extra
	}
	return LoadWithJitter(v.GP, l.x, y, noise)
}

// levels sets dst[i] to what the process expects at row i, on the scale of its link.
func (v *NoiseField) levels(dst []float64, rows []Row) {
	x := make([]float64, 0, len(rows)*v.GP.Dim())
	for i := range rows {
		x = append(x, rows[i].X...)
	}
	v.GP.Predict(dst, nil, x)
	for i := range dst {
		dst[i] += v.Hyper.Mean
	}
}

// limit takes the clips from what rows say of the variance, in squared units of the objective,
// of which there is one at least; scale is the objective's.
func (v *NoiseField) limit(estimates []float64, scale float64) {
	v.sorted = append(v.sorted[:0], estimates...)
	slices.Sort(v.sorted)
	variances := v.sorted
	s2 := scale * scale
	v.low = max(1e-3*typical(variances)/s2, 1e-2*MinNoise)
	v.high = max(variances[len(variances)-1]/s2, v.low)
}

// ShotVariance is the variance of one shot where the process has the given
// posterior mean and standard deviation, taken beta standard deviations above the
// mean (below it for a negative beta), and its derivatives by both.
func (v *NoiseField) ShotVariance(mean, sd, beta float64) (value, byMean, bySD float64) {
	value, slope := v.Hyper.link.variance(v.Hyper.Mean + mean + float64(beta*sd))
	return value, slope, beta * slope
}

// ShotVariances sets dst to the values of [NoiseField.ShotVariance] for many points at once.
func (v *NoiseField) ShotVariances(dst, mean, sd []float64, beta float64) {
	for i, m := range mean {
		dst[i] = v.Hyper.Mean + m + float64(beta*sd[i])
	}
	v.Hyper.link.variances(dst)
}

// OfMeans sets dst[i] to the noise variance of the mean of row i: the clipped upper
// bound of one shot's, divided by the number of shots. O(n^3), where the process has learnt the rows
// one for one O(n^2).
func (v *NoiseField) OfMeans(dst []float64, rows []Row, beta float64) {
	d := v.GP.Dim()
	x := make([]float64, 0, len(rows)*d)
	for i := range rows {
		x = append(x, rows[i].X...)
	}
	mean, variance := make([]float64, len(rows)), make([]float64, len(rows))
	if v.GP.Holds(x) {
		v.learntMoments(mean, variance)
	} else {
		v.GP.Predict(mean, variance, x)
	}
	v.boundMeans(dst, mean, variance, rows, beta)
}

// boundMeans sets dst to the clipped upper bounds for the means of rows, of the process's moments there.
func (v *NoiseField) boundMeans(dst, mean, variance []float64, rows []Row, beta float64) {
	for i := range rows {
		upper, _, _ := v.ShotVariance(mean[i], math.Sqrt(variance[i]), beta)
		dst[i] = min(max(upper, v.low), v.high) / float64(rows[i].Shots)
	}
}

// learntMoments sets the posterior moments at the process's observations, in O(n^2): with noise d and weight
// a = (K^-1 y)_i the mean is y - d a, the variance d - d^2 (K^-1)_ii. Where d is far above the process's variance that
// cancels: of a shot that says next to nothing, d near 3e8, a bound was off by 2e-5 of itself.
func (v *NoiseField) learntMoments(mean, variance []float64) {
	v.GP.LeaveOneOut(mean, variance)
	v.GP.FittedMeans(mean)
	for i, loo := range variance {
		d := v.GP.NoiseVariance(i)
		variance[i] = max(d-d*d/loo, 0)
	}
}

// Reset empties g and gives it another kernel.
func Reset(g *gpcore.GP, k kernels.Kernel) error {
	if err := g.Load(nil, nil, nil); err != nil {
		return fmt.Errorf("empty the model: %w", err)
	}
	if err := g.SetKernel(k); err != nil {
		return fmt.Errorf("change the kernel: %w", err)
	}
	return nil
}

// LoadWithJitter loads observations; where the covariance is numerically singular,
// it adds noise in growing steps up to a hundredth of the kernel's variance.
func LoadWithJitter(g *gpcore.GP, x, y, noise []float64) error {
	err := g.Load(x, y, noise)
	if err == nil || len(x) == 0 {
		return err
	}
	variance := g.Kernel().Variance(x[:g.Dim()])
	raised := make([]float64, len(noise))
	for jitter := 1e-8; jitter <= 1.1e-2; jitter *= 10 {
		for i, s := range noise {
			raised[i] = s + jitter*variance
		}
		if err = g.Load(x, y, raised); err == nil {
			return nil
		}
	}
	return fmt.Errorf("model of %d observations: %w", len(y), err)
}
