package search

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// ascend climbs, and between climbs moves coordinates with few values.
func (q *state) ascend(w *searchWorker, gradients func(dst, grad, x []float64), climbers []*climber, rounds int, tol float64) {
	w.ascent.run(gradients, climbers, &q.box, rounds, tol)
	for range stepwise {
		if len(q.steps) == 0 || !q.moveDiscrete(w, gradients, climbers) {
			return
		}
		w.ascent.run(gradients, climbers, &q.box, rounds, tol)
	}
}

// moveDiscrete moves each climber to its best neighbour in the coordinates with few values, one
// value up or down in one of them, where that is better, and reports whether any moved.
func (q *state) moveDiscrete(w *searchWorker, gradients func(dst, grad, x []float64), climbers []*climber) bool {
	a := &w.ascent
	moved := false
	for _, c := range climbers {
		a.x = a.x[:0]
		for _, i := range q.steps {
			a.x = q.neighbours(a.x, c.x, i)
		}
		m := len(a.x) / q.d
		if m == 0 {
			continue
		}
		a.value, a.grad = vec.Grown(a.value, m), vec.Grown(a.grad, m*q.d)
		gradients(a.value, a.grad, a.x)
		at, best := -1, c.value
		for k, v := range a.value {
			if v > best {
				at, best = k, v
			}
		}
		if at < 0 {
			continue
		}
		copy(c.x, a.x[at*q.d:(at+1)*q.d])
		c.restart()
		c.value, moved = best, true
	}
	return moved
}

// roundBest moves the best point to the nearest values of the discrete coordinates and
// evaluates it there.
func (q *state) roundBest(w *searchWorker, f *fork) {
	q.snapGrids(q.best.x)
	q.best.value = math.Inf(-1)
	w.neighbour = append(w.neighbour[:0], q.best.x...)
	q.evaluate(w, f, w.neighbour)
}

// improveDiscrete rounds the best points and moves the best of them to better neighbours in the
// discrete coordinates until there is none; continuous coordinates are climbed again
// with the discrete ones held.
func (q *state) improveDiscrete(w *searchWorker, f *fork) {
	for _, i := range q.grids {
		q.box.fixed[i] = true
	}
	q.roundBest(w, f)
	for _, c := range q.climbers[:min(q.count, 3)] {
		w.neighbour = append(w.neighbour[:0], c.x...)
		q.snapGrids(w.neighbour)
		q.evaluate(w, f, w.neighbour)
	}
	q.best.bound = math.Inf(1)
	for range stepwise {
		before := q.best.value
		c := q.climbers[0]
		c.startAt(q.best.x, &q.box)
		if len(q.grids)+len(q.steps) < q.d {
			w.ascent.run(f.gradients, q.climbers[:1], &q.box, refineRounds, refineTolerance)
			q.offer(c.x, c.value)
		}
		w.neighbour = w.neighbour[:0]
		for i := range q.axes {
			if q.axes[i].count() > 0 {
				w.neighbour = q.neighbours(w.neighbour, q.best.x, i)
			}
		}
		q.evaluate(w, f, w.neighbour)
		if q.best.value <= before {
			break
		}
	}
	for _, i := range q.grids {
		q.box.fixed[i] = false
	}
}
