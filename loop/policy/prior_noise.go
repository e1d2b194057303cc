package policy

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore"
)

// noiseContest is the process of the learnt noise with priors that compete: of the
// built-in ones the most probable is the noise field of the step. Its observations are
// the rows with a sample variance; their targets move with the standardisation, the
// noise of the targets does not, so a row costs O(n^2) for each prior.
type noiseContest struct {
	*modelling
	members []noiseMember
	set     *gpcore.PriorSet
	spread  []bool // of each row held: it is one of the observations
	means   []float64
	field   *noiseField // nil before two rows tell something about the noise
}

type noiseMember struct {
	kernel gpcore.Kernel
	weight float64
}

// noiseMembers discretises the priors of the fits: 3 lengthscales, the same for all
// variables, and 2 variances of the process.
func (m *modelling) noiseMembers() []noiseMember {
	var out []noiseMember
	for _, l := range levels(lengthscaleMedian, lengthscaleLogSD, -1, 0, 1) {
		for _, v := range levels(1, noiseOutputLogSD, -0.7, 0.7) {
			k := m.timed(newKernel(noiseKernel(m.spec.Kernel), v.value, slices.Repeat([]float64{l.value}, m.dims)), m.timescale())
			out = append(out, noiseMember{k, l.weight * v.weight})
		}
	}
	return out
}

func newNoiseContest(m *modelling) *noiseContest {
	q := &noiseContest{modelling: m, members: m.noiseMembers()}
	var priors []gpcore.Prior
	for _, b := range q.members {
		priors = append(priors, gpcore.Prior{Kernel: b.kernel, Weight: b.weight})
	}
	q.set = gpcore.NewPriorSet(priors, m.spec.Capacity)
	q.means = make([]float64, len(priors))
	return q
}

// link describes the scale of the process from the rows.
func (q *noiseContest) link(rows []row, scale float64) *noiseHyper {
	if h := q.guessNoise(rows, scale, slices.Repeat([]float64{lengthscaleMedian}, q.dims)); h != nil {
		return h
	}
	return &noiseHyper{link: logLink{floor: 1e-12}} // targets of a single row: they are set anew with the second
}

// observe learns the last of the rows, as contest.observe, and returns the bound of the
// noise variance of each row's mean, in squared units of the objective.
func (q *noiseContest) observe(rows []row, left int, scale float64) ([]float64, error) {
	gone := -1 // position among the observations
	if left >= 0 {
		if q.spread[left] {
			gone = count(q.spread[:left])
		}
		q.spread = slices.Delete(q.spread, left, left+1)
	}
	r := &rows[len(rows)-1]
	q.spread = append(q.spread, r.spread())
	h := q.link(rows, scale)
	each := make([]gpcore.Reading, len(q.members))
	if r.spread() {
		_, variance := h.link.target(r.variance/(scale*scale), r.shots)
		for i := range each {
			each[i].NoiseVariance = variance + h.extra
		}
	}
	var err error
	switch {
	case gone >= 0 && r.spread():
		err = q.set.ReplaceEach(gone, r.x, each)
	case gone >= 0:
		err = q.set.Remove(gone)
	case r.spread():
		err = q.set.AppendEach(r.x, each)
	}
	if err != nil {
		return nil, err
	}
	return q.revise(rows, h, scale)
}

// revise brings targets, means, weights and the field up to date.
func (q *noiseContest) revise(rows []row, h *noiseHyper, scale float64) ([]float64, error) {
	if q.set.Len() < 2 {
		q.field = nil
		return guessedBounds(rows, scale), nil
	}
	var targets []float64
	for k := range rows {
		if r := &rows[k]; r.spread() {
			y, _ := h.link.target(r.variance/(scale*scale), r.shots)
			targets = append(targets, y-h.mean)
		}
	}
	for i := range q.members {
		e := conjugate{unit: 1, openMean: true}
		evidence, err := e.settle(q.set.Member(i), targets)
		if err != nil {
			return nil, err
		}
		q.means[i] = e.mean
		q.set.SetLogEvidence(i, evidence)
	}
	best := q.set.Best()
	h.kernel, h.mean = q.members[best].kernel, h.mean+q.means[best]
	q.field = &noiseField{hyper: h, gp: q.set.Member(best)}
	q.field.limit(rows, scale)
	return q.bounds(rows, scale), nil
}

// repair loads every process anew.
func (q *noiseContest) repair(rows []row, scale float64) ([]float64, error) {
	h := q.link(rows, scale)
	q.spread = q.spread[:0]
	var x, noise []float64
	for k := range rows {
		r := &rows[k]
		q.spread = append(q.spread, r.spread())
		if r.spread() {
			_, variance := h.link.target(r.variance/(scale*scale), r.shots)
			x, noise = append(x, r.x...), append(noise, variance+h.extra)
		}
	}
	for i := range q.members {
		if err := loadRobustly(q.set.Member(i), x, make([]float64, len(noise)), noise); err != nil {
			return nil, err
		}
	}
	return q.revise(rows, h, scale)
}

// bounds are those of noiseField.ofMeans in squared units of the objective, in O(n^2):
// at an observation with noise d and weight a = (K^-1 y)_i the posterior mean is
// y - d a, its variance d - d^2 (K^-1)_ii.
func (q *noiseContest) bounds(rows []row, scale float64) []float64 {
	f := q.field
	n := f.gp.Len()
	mean, variance := make([]float64, n), make([]float64, n)
	f.gp.LeaveOneOut(mean, variance)
	f.gp.FittedMeans(mean)
	out := make([]float64, len(rows))
	at := 0
	for k := range rows {
		var m, v [1]float64
		if q.spread[k] {
			d := f.gp.NoiseVariance(at)
			m[0], v[0] = mean[at], max(d-d*d/variance[at], 0)
			at++
		} else { // a step of one shot among steps of several
			f.gp.Predict(m[:], v[:], rows[k].x)
		}
		upper, _, _ := f.shotVariance(m[0], math.Sqrt(v[0]), q.beta)
		out[k] = min(max(upper, f.low), f.high) * scale * scale / float64(rows[k].shots)
	}
	return out
}

// at is the bound of one shot's noise variance at a point, in squared units of the
// objective; the median of its prior before the noise is known.
func (q *noiseContest) at(x []float64, scale float64) float64 {
	if q.field == nil {
		return noiseMedian * scale * scale
	}
	var m, v [1]float64
	q.field.gp.Predict(m[:], v[:], x)
	upper, _, _ := q.field.shotVariance(m[0], math.Sqrt(v[0]), q.beta)
	return min(max(upper, q.field.low), q.field.high) * scale * scale
}

// guessedBounds stand in before the noise is known: the mean sample variance, or the
// median of its prior.
func guessedBounds(rows []row, scale float64) []float64 {
	v, freedom := pooledVariance(rows)
	if freedom == 0 || v == 0 {
		v = noiseMedian * scale * scale
	}
	out := make([]float64, len(rows))
	for k := range rows {
		out[k] = v / float64(rows[k].shots)
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
