package model

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// noisePriors is the process of the learnt noise with priors that compete: of the
// built-in ones the most probable is the noise field of the step. Its observations are
// the rows with a sample variance; their targets move with the standardisation, the
// noise of the targets does not, so a row costs O(n^2) for each prior.
type noisePriors struct {
	*Rules
	members []noiseMember
	set     *gpcore.PriorSet
	spread  []bool // of each row held: it is one of the observations
	means   []float64
	field   *NoiseField // nil before two rows have information about the noise
}

type noiseMember struct {
	kernel kernels.Kernel
	weight float64
}

// noiseMembers discretises the priors of the fits: 3 lengthscales, the same for all
// variables, and 2 variances of the process.
func (m *Rules) noiseMembers() []noiseMember {
	var out []noiseMember
	for _, l := range levels(lengthscaleMedian, lengthscaleLogSD, -1, 0, 1) {
		for _, v := range levels(1, noiseOutputLogSD, -0.7, 0.7) {
			k := m.timed(newKernel(noiseKernel(m.Spec.Kernel), v.value, slices.Repeat([]float64{l.value}, m.Dims)), m.timescale())
			out = append(out, noiseMember{k, l.weight * v.weight})
		}
	}
	return out
}

func newNoisePriors(m *Rules) *noisePriors {
	q := &noisePriors{Rules: m, members: m.noiseMembers()}
	var priors []gpcore.Prior
	for _, b := range q.members {
		priors = append(priors, gpcore.Prior{Kernel: b.kernel, Weight: b.weight})
	}
	q.set = gpcore.NewPriorSet(priors, m.Spec.Capacity)
	q.means = make([]float64, len(priors))
	return q
}

// link describes the scale of the process from the rows.
func (q *noisePriors) link(rows []Row, scale float64) *noiseHyper {
	if h := q.guessNoise(rows, scale, slices.Repeat([]float64{lengthscaleMedian}, q.Dims)); h != nil {
		return h
	}
	return &noiseHyper{link: logLink{floor: 1e-12}} // targets of a single row: they are set anew with the second
}

// observe learns the last of the rows, as priorSet.observe, and returns the bound of the
// noise variance of each row's mean, in squared units of the objective.
func (q *noisePriors) observe(rows []Row, left int, scale float64) ([]float64, error) {
	gone := -1 // position among the observations
	if left >= 0 {
		if q.spread[left] {
			gone = count(q.spread[:left])
		}
		q.spread = slices.Delete(q.spread, left, left+1)
	}
	r := &rows[len(rows)-1]
	q.spread = append(q.spread, r.hasVariance())
	h := q.link(rows, scale)
	each := make([]gpcore.Reading, len(q.members))
	if r.hasVariance() {
		_, variance := h.link.target(r.Variance/(scale*scale), r.Shots)
		for i := range each {
			each[i].NoiseVariance = variance + h.extra
		}
	}
	var err error
	switch {
	case gone >= 0 && r.hasVariance():
		err = q.set.ReplaceEach(gone, r.X, each)
	case gone >= 0:
		err = q.set.Remove(gone)
	case r.hasVariance():
		err = q.set.AppendEach(r.X, each)
	}
	if err != nil {
		return nil, err
	}
	return q.revise(rows, h, scale)
}

// revise brings targets, means, weights and the field up to date.
func (q *noisePriors) revise(rows []Row, h *noiseHyper, scale float64) ([]float64, error) {
	if q.set.Len() < 2 {
		q.field = nil
		return guessedBounds(rows, scale), nil
	}
	var targets []float64
	for k := range rows {
		if r := &rows[k]; r.hasVariance() {
			y, _ := h.link.target(r.Variance/(scale*scale), r.Shots)
			targets = append(targets, y-h.Mean)
		}
	}
	for i := range q.members {
		e := conjugate{unit: 1, openMean: true}
		evidence, err := e.estimate(q.set.Member(i), targets)
		if err != nil {
			return nil, err
		}
		q.means[i] = e.mean
		q.set.SetLogEvidence(i, evidence)
	}
	best := q.set.Best()
	h.kernel, h.Mean = q.members[best].kernel, h.Mean+q.means[best]
	q.field = &NoiseField{Hyper: h, GP: q.set.Member(best)}
	q.field.limit(rows, scale)
	return q.Bounds(rows, scale), nil
}

// repair loads every process anew.
func (q *noisePriors) repair(rows []Row, scale float64) ([]float64, error) {
	h := q.link(rows, scale)
	q.spread = q.spread[:0]
	var x, noise []float64
	for k := range rows {
		r := &rows[k]
		q.spread = append(q.spread, r.hasVariance())
		if r.hasVariance() {
			_, variance := h.link.target(r.Variance/(scale*scale), r.Shots)
			x, noise = append(x, r.X...), append(noise, variance+h.extra)
		}
	}
	for i := range q.members {
		if err := LoadWithJitter(q.set.Member(i), x, make([]float64, len(noise)), noise); err != nil {
			return nil, err
		}
	}
	return q.revise(rows, h, scale)
}

// Bounds are those of NoiseField.OfMeans in squared units of the objective, in O(n^2):
// at an observation with noise d and weight a = (K^-1 y)_i the posterior mean is
// y - d a, its variance d - d^2 (K^-1)_ii.
func (q *noisePriors) Bounds(rows []Row, scale float64) []float64 {
	f := q.field
	n := f.GP.Len()
	mean, variance := make([]float64, n), make([]float64, n)
	f.GP.LeaveOneOut(mean, variance)
	f.GP.FittedMeans(mean)
	out := make([]float64, len(rows))
	at := 0
	for k := range rows {
		var m, v [1]float64
		if q.spread[k] {
			d := f.GP.NoiseVariance(at)
			m[0], v[0] = mean[at], max(d-d*d/variance[at], 0)
			at++
		} else { // a step of one shot among steps of several
			f.GP.Predict(m[:], v[:], rows[k].X)
		}
		upper, _, _ := f.ShotVariance(m[0], math.Sqrt(v[0]), q.Beta)
		out[k] = min(max(upper, f.low), f.high) * scale * scale / float64(rows[k].Shots)
	}
	return out
}

// at is the bound of one shot's noise variance at a point, in squared units of the
// objective; the median of its prior before the noise is known.
func (q *noisePriors) at(x []float64, scale float64) float64 {
	if q.field == nil {
		return noiseMedian * scale * scale
	}
	var m, v [1]float64
	q.field.GP.Predict(m[:], v[:], x)
	upper, _, _ := q.field.ShotVariance(m[0], math.Sqrt(v[0]), q.Beta)
	return min(max(upper, q.field.low), q.field.high) * scale * scale
}

// guessedBounds stand in before the noise is known: the mean sample variance, or the
// median of its prior.
func guessedBounds(rows []Row, scale float64) []float64 {
	v, freedom := pooledVariance(rows)
	if freedom == 0 || v == 0 {
		v = noiseMedian * scale * scale
	}
	out := make([]float64, len(rows))
	for k := range rows {
		out[k] = v / float64(rows[k].Shots)
	}
	return out
}

func count(list []bool) int {
	n := 0
	for _, v := range list {
		if v {
			n++
		}
	}
	return n
}
