package policy

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore/sampling"
	"github.com/labtuner/tuner/loop/policy/acquisition"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/space"
)

// incumbents lists up to four observed points with the greatest posterior mean of
// the mean-variance objective: searches start there.
func (e *engine) incumbents() [][]float64 { return e.ranked(maxIncumbents) }

const maxIncumbents = 4

// ranked lists up to count of them, the best first.
func (e *engine) ranked(count int) [][]float64 {
	rows, mean := e.model.Data.Rows, worths(e)
	out := e.memory.points.Take(&e.memory.Memory, min(count, len(rows)))[:0]
	for range min(count, len(rows)) {
		k := num.Argmax(mean)
		mean[k] = math.Inf(-1)
		out = append(out, rows[k].X)
	}
	return out
}

// contenders is how many measured settings one more reading near the end of a run may be for.
const contenders = 7

// remeasured is, near the end of a run, the setting of which one more reading adds most to what is recommended, among that
// which would be now and the best measured ones, and how much it adds, in the objective's unit (acquisition.Known); setting
// x, which the acquisition wants, and NaN where a reading there adds as much. The most probable process judges.
func remeasured(e *engine, d *decision, x []float64) (at []float64, gain float64, err error) {
	c, rows := e.model.Posterior().MostProbable(), e.model.Data.Rows
	if !e.spec.repeats(d.Step) || e.model.Deciding() || c.GP.Len() != len(rows) {
		return x, math.NaN(), nil
	}
	r, err := recommend(e)
	if err != nil {
		return nil, 0, err
	}
	points := make([]float64, len(x), (contenders+2)*len(x))
	for i, v := range r.X {
		points[i] = e.axes[i].Unit(v)
	}
	points, noise := e.contenders(d.Domains[0], points)
	m := len(noise) + 1
	k := acquisition.Known{Mean: e.worthsAt(append(points, x...)), Covariance: make([]float64, m*m), Noise: append(noise, slices.Max(noise))}
	joint, err := sampling.NewJoint(c.GP, append(points, x...))
	if err != nil {
		return nil, 0, err
	}
	joint.Covariance(k.Covariance)
	for i := range k.Covariance {
		k.Covariance[i] *= c.Scale * c.Scale
	}
	gains := make([]float64, m)
	k.Gains(gains, e.spec.Beta)
	best := num.Argmax(gains)
	if !(gains[best] > gains[m-1]) {
		return x, math.NaN(), nil
	}
	return points[best*len(x) : (best+1)*len(x)], e.model.Active.Scale * gains[best], nil
}

// contenders adds to a first setting the measured ones of a domain with the greatest posterior mean of the mean-variance
// objective, each once, and has the variance of one more reading of each, by the most probable process.
func (e *engine) contenders(dom *space.Domain, first []float64) (points, noise []float64) {
	c, rows, worth := e.model.Posterior().MostProbable(), e.model.Data.Rows, worths(e)
	size, points := dom.Size(), first
	seen := func(p []float64) bool {
		for i := 0; i < len(points); i += size {
			if slices.Equal(points[i:i+size], p) {
				return true
			}
		}
		return false
	}
	for range rows {
		row, p := num.Argmax(worth), make([]float64, size)
		worth[row] = math.Inf(-1)
		dom.Project(p, rows[row].X)
		dom.Round(p)
		variance := c.Scale * c.Scale * c.GP.NoiseVariance(row)
		if len(noise) == 0 { // of the first setting, which is near the best measured one
			noise = append(noise, variance)
		}
		if seen(p) || e.excluded[dom.Set].Unreliable(p) {
			continue
		}
		points, noise = append(points, p...), append(noise, variance)
		if len(noise) > contenders {
			break
		}
	}
	return points, noise
}

// worths is the posterior mean of the mean-variance objective at each observed point, until the policy's next call.
func worths(e *engine) []float64 {
	m := e.model
	rows := m.Data.Rows
	x := e.memory.Floats(len(rows) * m.Width())[:0]
	for i := range rows {
		x = append(x, m.Point(rows[i].X[:m.Dims], e.lastObserved+1)...)
	}
	return e.worthsAt(x)
}

// worthsAt is the posterior mean of the mean-variance objective at points x of all coordinates, until the policy's next call.
func (e *engine) worthsAt(x []float64) []float64 {
	mean := e.memory.Floats(len(x) / e.model.Width())
	e.model.Posterior().Means(&e.memory.Memory, mean, x)
	if alpha := e.criterion.Alpha(); alpha > 0 {
		for i, v := range e.model.ExpectedNoise(x) {
			mean[i] -= alpha * v
		}
	}
	return mean
}

// feasibleIncumbents are the incumbents of a decision; with constraints the best that
// probably keep them, where the best 64 have some.
func (e *engine) feasibleIncumbents(d *decision) [][]float64 {
	if d.Limiter == nil {
		return e.incumbents()
	}
	const looks = 64
	points := e.ranked(looks)
	var x []float64
	for _, p := range points {
		x = append(x, e.model.Point(p[:e.model.Dims], d.Step)...)
	}
	var out [][]float64
	for k, keeps := range e.constraints.ProbablyFeasible(x, len(points)) {
		if keeps && len(out) < maxIncumbents {
			out = append(out, points[k])
		}
	}
	if len(out) == 0 {
		out = points[:min(maxIncumbents, len(points))]
	}
	return out
}
