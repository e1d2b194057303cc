package policy

import (
	"math"

	"github.com/labtuner/tuner/loop/policy/internal/num"
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

// worths is the posterior mean of the mean-variance objective at each observed point, until the policy's next call.
func worths(e *engine) []float64 {
	m := e.model
	rows := m.Data.Rows
	x := e.memory.Floats(len(rows) * m.Width())[:0]
	for i := range rows {
		x = append(x, m.Point(rows[i].X[:m.Dims], e.lastObserved+1)...)
	}
	mean := e.memory.Floats(len(rows))
	m.Posterior().Means(&e.memory.Memory, mean, x)
	if alpha := e.criterion.Alpha(); alpha > 0 {
		for i, v := range m.ExpectedNoise(x) {
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
