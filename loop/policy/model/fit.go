package model

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/fitting"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/loop/policy/internal/num"
)

// fitLimit bounds the observations behind one fit, whose cost grows with their
// cube; 256 of them tell the hyperparameters well.
const fitLimit = 256

// FitTask is one fit: a function of these fields alone.
type FitTask struct {
	*Rules
	rows  []Row
	start *Hyper // warm start; nil at the first fit, which tries more starts
	step  int
	noise []float64 // of the rows, for the member of a set: as boundsOfRows
	// memory is that of the fits before; nil: there is none.
	memory *fitMemory
}

// fitMemory is the memory of fits that come one after the other. Its zero value has none.
type fitMemory struct {
	evidence fitting.Workspace
	noise    *NoiseField
}

// noiseField is one for so many rows, whose contents the next lesson replaces.
func (m *fitMemory) noiseField(h *noiseHyper, rows int) *NoiseField {
	if m.noise == nil || m.noise.GP.Cap() < rows {
		m.noise = newNoiseField(h, rows)
	}
	return m.noise
}

// insignificant is by how much less than the most probable the hyperparameters in force may be, in the logarithm of the
// posterior, and stay: less than a standard deviation of one of them. A search keeps what it has computed then, and
// processes are not loaded anew.
const insignificant = 0.5

// run finds the most probable hyperparameters (MAP): first those of the noise
// process, then, with the noise that it gives, those of the objective. Outputs are
// standardised on the rows; a constant mean with prior N(0, 1) is eliminated. Single shots
// teach the noise by their errors, so before it comes a fit with one noise for all settings:
// errors under hyperparameters that smooth too much would be taken for noise for ever. With
// more than surelyFitted rows, those in force are returned where no others are
// significantly more probable.
func (t *FitTask) run(ctx context.Context) (*Hyper, error) {
	if t.memory == nil {
		t.memory = new(fitMemory)
	}
	if t.competing() {
		return t.runMember(ctx)
	}
	rows := thinned(t.rows, fitLimit)
	h, starts := t.begin(rows)
	singles := h.noise != nil && t.hasSingles(rows)
	if singles {
		r, err := t.fitObjective(ctx, h, rows, starts, nil)
		if err != nil {
			return nil, err
		}
		h.kernel, h.noise.Mean = r.Kernel, math.Log((r.NoiseVariance+MinNoise)*meanShots(rows))
	}
	noise, gain, err := t.noiseOfRows(ctx, h, rows, starts)
	if err != nil {
		return nil, err
	}
	r, err := t.fitObjective(ctx, h, rows, starts, noise)
	if err != nil {
		return nil, err
	}
	h.kernel = r.Kernel
	h.Center += h.Scale * r.Mean
	if noise == nil {
		h.ShotVariance = (r.NoiseVariance + MinNoise) * meanShots(rows)
	}
	if !singles && gain+r.Gain < insignificant && t.near() && sameNoise(h, t.start) {
		return t.start, nil
	}
	return h, nil
}

// begin is what a fit of rows begins with, and with how many starts beside it.
func (t *FitTask) begin(rows []Row) (h *Hyper, starts int) {
	h = t.guess(rows)
	if t.start == nil {
		return h, 2
	}
	h.kernel = t.start.kernel
	if t.near() {
		h.kernel = scaled(h.kernel, t.start.Scale/h.Scale)
	}
	return h, 0
}

// near reports whether the hyperparameters in force were fitted to nearly the same rows.
func (t *FitTask) near() bool { return t.start != nil && len(t.rows) > surelyFitted }

// scaled is a kernel of outputs in other units: those of before times factor; the same where factor is no positive
// number, since a scale may have overflowed.
func scaled(k kernels.Kernel, factor float64) kernels.Kernel {
	if !(factor > 0 && factor <= math.MaxFloat64) {
		return k
	}
	logs := k.Params(nil)
	for i, kind := range k.Kinds(nil) {
		if kind == kernels.OutputVariance {
			logs[i] += 2 * math.Log(factor)
		}
	}
	return k.WithParams(logs)
}

// sameNoise reports whether two fits agree, as far as the model follows its noise, on one noise for all settings, or
// both learn it.
func sameNoise(h, before *Hyper) bool {
	if h.noise != nil || before.noise != nil {
		return h.noise != nil && before.noise != nil
	}
	now, then := h.ShotVariance*h.Scale*h.Scale, before.ShotVariance*before.Scale*before.Scale
	return math.Abs(now-then) <= fieldNoiseRule().Tau*then
}

// noiseOfRows is the noise variance of each row's mean; nil where it is to be fitted with the
// objective's hyperparameters. gain is that of a fit of the noise process.
func (t *FitTask) noiseOfRows(ctx context.Context, h *Hyper, rows []Row, starts int) (noise []float64, gain float64, err error) {
	if h.noise != nil {
		return t.noiseBounds(ctx, h, rows, starts)
	}
	if _, freedom := pooledVariance(rows); freedom < pooledFreedom && h.known == nil {
		return nil, 0, nil
	}
	noise = make([]float64, len(rows))
	h.noiseOfMeans(noise, rows)
	return noise, 0, nil
}

// fitObjective fits the objective's process, and, where noise is nil, one noise for all rows.
func (t *FitTask) fitObjective(ctx context.Context, h *Hyper, rows []Row, starts int, noise []float64) (r fitting.Result, err error) {
	var fitted *fitting.LogNormal
	if noise == nil {
		prior := t.prior(noiseMedian, noiseLogSD)
		fitted = &prior
		noise = slices.Repeat([]float64{MinNoise}, len(rows))
	}
	x, z := standardised(rows, h)
	p := fitting.Problem{
		Kernel: h.kernel, X: x, Y: z, NoiseVariance: noise, Noise: fitted,
		Variance:    t.prior(1, outputLogSD),
		Lengthscale: t.flattened(t.lengthscalePrior()),
		MeanSD:      t.meanSD(), Starts: starts, Seed: t.streamSeed(0),
	}
	if t.near() {
		p.Earlier = t.earlier(h, rows)
	}
	r, err = t.memory.evidence.Fit(ctx, p)
	if err != nil {
		return r, fmt.Errorf("fit of the objective's model at step %d: %w", t.step, err)
	}
	return r, nil
}

// earlier is what the fit in force has found for the objective, in the units of h.
func (t *FitTask) earlier(h *Hyper, rows []Row) *fitting.Earlier {
	unit, mean := t.start.Scale/h.Scale, (t.start.Center-h.Center)/h.Scale
	return &fitting.Earlier{NoiseVariance: max(t.start.ShotVariance*unit*unit/meanShots(rows)-MinNoise, 0), Mean: &mean}
}

// noiseBounds fits the noise process in place, and gives the bound of the noise variance of
// each row's mean, and the fit's gain.
func (t *FitTask) noiseBounds(ctx context.Context, h *Hyper, rows []Row, starts int) (noise []float64, gain float64, err error) {
	if t.start != nil && t.start.noise != nil {
		h.noise.kernel = t.start.noise.kernel
	}
	field := t.memory.noiseField(h.noise, max(len(rows), min(t.Spec.Capacity, fitLimit)))
	var g *gpcore.GP // of the objective, by which single shots teach
	var l lessons
	if !t.hasSingles(rows) {
		l = t.lessons(h.noise, rows, h.Scale, nil, nil)
	} else {
		g = gpcore.New(h.kernel, len(rows))
		if l, err = t.learnFromSingles(g, field, h, rows, false); err != nil {
			return nil, 0, err
		}
	}
	if gain, err = t.fitNoise(ctx, h, l, starts); err != nil {
		return nil, 0, err
	}
	_, noise, err = t.learnNoise(g, field, h, rows, false)
	return noise, gain, err
}

// fitNoise fits the noise process in place.
func (t *FitTask) fitNoise(ctx context.Context, h *Hyper, l lessons, starts int) (gain float64, err error) {
	q := h.noise
	p := fitting.Problem{
		Kernel:      q.kernel,
		Variance:    t.prior(1, noiseOutputLogSD),
		Lengthscale: t.flattened(t.lengthscalePrior()),
		MeanSD:      t.meanSD(), Starts: starts, Seed: t.streamSeed(1),
	}
	if t.Raw { // about half of the spread of s^2 is sampling noise, give or take a factor 4.5
		prior := t.prior(0.5, noiseLogSD)
		p.Noise = &prior
	}
	if t.near() && t.start.noise != nil {
		p.Earlier = &fitting.Earlier{NoiseVariance: t.start.noise.extra}
		if !t.Raw { // its targets are logarithms of variances in units of the scale
			mean := t.start.noise.Mean + 2*math.Log(t.start.Scale/h.Scale) - q.Mean
			p.Earlier.Mean = &mean
		}
	}
	p.X, p.NoiseVariance = l.x, l.variance
	for _, y := range l.y {
		p.Y = append(p.Y, y-q.Mean)
	}
	r, err := t.memory.evidence.Fit(ctx, p)
	if err != nil {
		return 0, fmt.Errorf("fit of the noise model at step %d: %w", t.step, err)
	}
	q.kernel, q.extra = r.Kernel, r.NoiseVariance
	q.Mean += r.Mean
	return r.Gain, nil
}

// prior is a hyperparameter's with this median and standard deviation of the logarithm, flattened.
func (m *Rules) prior(median, logSD float64) fitting.LogNormal {
	return m.flattened(fitting.LogNormal{Mean: math.Log(median), SD: logSD})
}

// flattened is a prior, so wide where likelihood alone is to count that it moves nothing.
func (m *Rules) flattened(p fitting.LogNormal) fitting.LogNormal {
	if m.Spec.MaximumLikelihood {
		p.SD = 10
	}
	return p
}

// meanSD is the prior standard deviation of a constant mean, 0 where it is zero.
func (m *Rules) meanSD() float64 {
	if m.Spec.MaximumLikelihood {
		return 0
	}
	return 1
}

// standardised lists the rows' points and standardised means.
func standardised(rows []Row, h *Hyper) (x, z []float64) {
	for i := range rows {
		x = append(x, rows[i].X...)
		z = append(z, (rows[i].Mean-h.Center)/h.Scale)
	}
	return x, z
}

// meanShots is the mean number of shots: what was fitted is the noise of a mean.
func meanShots(rows []Row) float64 {
	n := 0
	for i := range rows {
		n += rows[i].Shots
	}
	return float64(n) / float64(len(rows))
}

// streamSeed is the seed of the random starts of one of the task's fits.
func (t *FitTask) streamSeed(which int) uint64 {
	return num.Stream(t.Seed, num.ForFit, 2*t.step+which).Uint64()
}
