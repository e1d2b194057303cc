package policy

import (
	"math"

	"github.com/labtuner/tuner/loop/policy/acquisition"
	"github.com/labtuner/tuner/loop/policy/internal/num"
)

const maxIncumbents = 4

// incumbents lists the observed points of the greatest posterior mean of the mean-variance objective: searches start there.
func (e *engine) incumbents() [][]float64 { return e.ranked(maxIncumbents) }

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

// remeasured is, near the end of a run, the setting of which one more reading adds most to what is recommended, among that
// which would be now and the best measured ones, and how much it adds, in the objective's unit; setting x, which the
// acquisition wants, and NaN where a reading there adds as much. The most probable process judges.
func remeasured(e *engine, d *decision, x []float64) (at []float64, gain float64, err error) {
	dom, rows, c := d.Domains[0], e.model.Data.Rows, e.model.Posterior().MostProbable()
	if !e.spec.repeats(d.Step-e.compared) || e.model.Deciding() || c.GP.Len() != len(rows) {
		return x, math.NaN(), nil
	}
	r, err := recommend(e)
	if err != nil {
		return nil, 0, err
	}
	now := make([]float64, len(x))
	for i, v := range r.X {
		now[i] = e.axes[i].Unit(v)
	}
	worth := worths(e)
	best := num.Argmax(worth)
	rivals := acquisition.Rivals{Component: c, Domain: dom}
	rivals.Add(x, best)
	rivals.Add(now, best)
	rivals.AddBest(rows, worth, e.excluded[dom.Set].Unreliable)
	at, gain, err = rivals.ToMeasure(worthsAt(e, rivals.Points()), e.spec.Beta)
	if err != nil || at == nil {
		return x, math.NaN(), err
	}
	return at, e.model.Active.Scale * gain, nil
}

// worths is the posterior mean of the mean-variance objective at each observed point, until the policy's next call.
func worths(e *engine) []float64 {
	m := e.model
	rows := m.Data.Rows
	x := e.memory.Floats(len(rows) * m.Width())[:0]
	for i := range rows {
		x = m.AppendPoint(x, rows[i].X[:m.Dims], e.lastObserved+1)
	}
	return worthsAt(e, x)
}

// worthsAt is the posterior mean of the mean-variance objective at points x of all coordinates, until the policy's next call.
func worthsAt(e *engine, x []float64) []float64 {
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
	x, out := e.memory.Floats(len(points) * e.model.Width())[:0], e.memory.points.Take(&e.memory.Memory, maxIncumbents)[:0]
	for _, p := range points {
		x = e.model.AppendPoint(x, p[:e.model.Dims], d.Step)
	}
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
