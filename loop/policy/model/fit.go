package model

import (
	"context"
	"fmt"
	"math"

	"github.com/labtuner/tuner/gpcore/fitting"
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
}

// run finds the most probable hyperparameters (MAP): first those of the noise
// process, then, with the noise that it gives, those of the objective. Outputs are
// standardised on the rows; a constant mean with prior N(0, 1) is eliminated.
func (t *FitTask) run(ctx context.Context) (*Hyper, error) {
	rows := thinned(t.rows, fitLimit)
	h := t.guess(rows)
	starts := 2
	if t.start != nil {
		starts = 0
		h.kernel = t.start.kernel
	}
	x, z := t.standardised(rows, h)
	noise := make([]float64, len(rows))
	var fitted *fitting.LogNormal
	switch _, freedom := pooledVariance(rows); {
	case h.noise != nil:
		if err := t.fitNoise(ctx, h, rows, starts); err != nil {
			return nil, err
		}
		field := newNoiseField(h.noise, len(rows))
		if err := field.load(h.noise, rows, h.Scale); err != nil {
			return nil, err
		}
		field.OfMeans(noise, rows, t.Beta)
	case freedom >= pooledFreedom || h.known != nil:
		h.noiseOfMeans(noise, rows)
	default:
		fitted = &fitting.LogNormal{Mean: math.Log(noiseMedian), SD: noiseLogSD}
		for i := range noise {
			noise[i] = MinNoise
		}
	}
	r, err := fitting.Fit(ctx, fitting.Problem{
		Kernel: h.kernel, X: x, Y: z, NoiseVariance: noise, Noise: fitted,
		Variance:    fitting.LogNormal{SD: outputLogSD},
		Lengthscale: fitting.LogNormal{Mean: math.Log(lengthscaleMedian), SD: lengthscaleLogSD},
		MeanSD:      1, Starts: starts, Seed: t.streamSeed(0),
	})
	if err != nil {
		return nil, fmt.Errorf("fit of the objective's model at step %d: %w", t.step, err)
	}
	h.kernel = r.Kernel
	h.Center += h.Scale * r.Mean
	if fitted != nil {
		h.ShotVariance = (r.NoiseVariance + MinNoise) * meanShots(rows)
	}
	return h, nil
}

// fitNoise fits the noise process in place.
func (t *FitTask) fitNoise(ctx context.Context, h *Hyper, rows []Row, starts int) error {
	q := h.noise
	if t.start != nil && t.start.noise != nil {
		q.kernel = t.start.noise.kernel
	}
	p := fitting.Problem{
		Kernel:      q.kernel,
		Variance:    fitting.LogNormal{SD: noiseOutputLogSD},
		Lengthscale: fitting.LogNormal{Mean: math.Log(lengthscaleMedian), SD: lengthscaleLogSD},
		MeanSD:      1, Starts: starts, Seed: t.streamSeed(1),
	}
	if t.Raw { // about half of the spread of s^2 is sampling noise, give or take a factor 4.5
		p.Noise = &fitting.LogNormal{Mean: math.Log(0.5), SD: noiseLogSD}
	}
	for i := range rows {
		if r := &rows[i]; r.hasVariance() {
			y, variance := q.link.target(r.Variance/(h.Scale*h.Scale), r.Shots)
			p.X, p.Y = append(p.X, r.X...), append(p.Y, y-q.Mean)
			p.NoiseVariance = append(p.NoiseVariance, variance)
		}
	}
	r, err := fitting.Fit(ctx, p)
	if err != nil {
		return fmt.Errorf("fit of the noise model at step %d: %w", t.step, err)
	}
	q.kernel, q.extra = r.Kernel, r.NoiseVariance
	q.Mean += r.Mean
	return nil
}

// standardised lists the rows' points and standardised means.
func (t *FitTask) standardised(rows []Row, h *Hyper) (x, z []float64) {
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
