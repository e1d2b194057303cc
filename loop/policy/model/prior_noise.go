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
	// now is what was last expected of the noise variance at each observation, in squared units
	// of the objective: single shots are judged by it.
	now []float64
}

type noiseMember struct {
	kernel kernels.Kernel
	weight float64
}

// noiseMembers discretises the priors of the fits: 3 lengthscales, the same for all
// variables, and 2 variances of the process.
func (m *Rules) noiseMembers() []noiseMember {
	var out []noiseMember
	for _, l := range m.lengthscaleLevels(-1, 0, 1) {
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
	if h := q.guessNoise(rows, scale, slices.Repeat([]float64{q.usualLengthscale()}, q.Dims)); h != nil {
		return h
	}
	return &noiseHyper{link: logLink{floor: 1e-12}} // targets of a single row: they are set anew with the second
}

// observe learns the last of the rows, as priorSet.observe, and returns the bound of the
// noise variance of each row's mean, in squared units of the objective. errors has one for each
// row, in the same unit; it is read where single shots tell of the noise.
func (q *noisePriors) observe(rows []Row, left int, scale float64, errors []shotError) ([]float64, error) {
	gone := -1 // position among the observations
	if left >= 0 {
		if q.spread[left] {
			gone = count(q.spread[:left])
			q.now = slices.Delete(q.now, gone, gone+1)
		}
		q.spread = slices.Delete(q.spread, left, left+1)
	}
	r := &rows[len(rows)-1]
	tells := q.informative(r)
	q.spread = append(q.spread, tells)
	h := q.link(rows, scale)
	if tells {
		q.now = append(q.now, q.expected(h, r, scale))
	}
	l := q.taught(h, rows, scale, errors)
	each := make([]gpcore.Reading, len(q.members))
	if tells {
		for i := range each {
			each[i].NoiseVariance = l.variance[len(l.variance)-1] + h.extra
		}
	}
	var err error
	switch {
	case gone >= 0 && tells:
		err = q.set.ReplaceEach(gone, r.X, each)
	case gone >= 0:
		err = q.set.Remove(gone)
	case tells:
		err = q.set.AppendEach(r.X, each)
	}
	if err != nil {
		return nil, err
	}
	return q.revise(rows, h, scale, l)
}

// expected is the variance of one shot that is expected at a row, in squared units of the
// objective.
func (q *noisePriors) expected(h *noiseHyper, r *Row, scale float64) float64 {
	if !q.Singles {
		return math.NaN() // not read
	}
	level := [1]float64{h.Mean}
	if q.field != nil {
		q.field.levels(level[:], []Row{*r})
	}
	return math.Exp(level[0]) * scale * scale
}

// taught are the lessons of the rows.
func (q *noisePriors) taught(h *noiseHyper, rows []Row, scale float64, errors []shotError) lessons {
	if !q.hasSingles(rows) {
		return q.lessons(h, rows, scale, nil, nil)
	}
	own, now := make([]shotError, len(rows)), make([]float64, len(rows))
	at := 0
	for k, e := range errors {
		own[k] = shotError{e.square / (scale * scale), e.doubt / (scale * scale)}
		if now[k] = h.Mean; q.spread[k] {
			if q.field != nil {
				now[k] = math.Log(q.now[at] / (scale * scale))
			}
			at++
		}
	}
	return q.lessons(h, rows, scale, own, now)
}

// revise brings noises, targets, means, weights and the field up to date.
func (q *noisePriors) revise(rows []Row, h *noiseHyper, scale float64, l lessons) ([]float64, error) {
	if q.set.Len() < 2 {
		q.field = nil
		return guessedBounds(rows, scale), nil
	}
	targets := make([]float64, len(l.y))
	for k, y := range l.y {
		targets[k] = y - h.Mean
	}
	for i := range q.members {
		g := q.set.Member(i)
		if q.Singles {
			if _, err := g.TrackNoises(l.variance, memberNoiseRule()); err != nil {
				return nil, err
			}
		}
		e := conjugate{unit: 1, openMean: true}
		evidence, err := e.estimate(nil, g, targets)
		if err != nil {
			return nil, err
		}
		q.means[i] = e.mean
		q.set.SetLogEvidence(i, evidence)
	}
	best := q.set.Best()
	h.kernel, h.Mean = q.members[best].kernel, h.Mean+q.means[best]
	q.field = &NoiseField{Hyper: h, GP: q.set.Member(best)}
	q.field.limit(l.estimates, scale)
	if q.Singles {
		fitted := make([]float64, q.set.Len())
		q.field.GP.FittedMeans(fitted)
		for k, v := range fitted {
			q.now[k] = math.Exp(h.Mean+v) * scale * scale
		}
	}
	return q.Bounds(rows, scale), nil
}

// reset forgets what was learnt; the rows are those that repair will learn from.
func (q *noisePriors) reset(rows []Row, scale float64) {
	q.spread, q.now, q.field = q.spread[:0], q.now[:0], nil
	h := q.link(rows, scale)
	for k := range rows {
		r := &rows[k]
		q.spread = append(q.spread, q.informative(r))
		if q.spread[k] {
			q.now = append(q.now, q.expected(h, r, scale))
		}
	}
}

// repair loads every process anew; errors as in observe.
func (q *noisePriors) repair(rows []Row, scale float64, errors []shotError) ([]float64, error) {
	h := q.link(rows, scale)
	l := q.taught(h, rows, scale, errors)
	noise := make([]float64, len(l.y))
	for i, v := range l.variance {
		noise[i] = v + h.extra
	}
	for i := range q.members {
		if err := LoadWithJitter(q.set.Member(i), l.x, make([]float64, len(noise)), noise); err != nil {
			return nil, err
		}
	}
	return q.revise(rows, h, scale, l)
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
