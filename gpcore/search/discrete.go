package search

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// setOut begins a climb of climbers.
func (q *state) setOut(climbers []*climber) {
	q.under, q.underWay, q.climbed, q.moved = climbers, true, 0, 0
}

// ascend climbs on the surrogate or the objective, as far as a unit of work goes, and between climbs moves
// coordinates with few values. It reports whether that was the end.
func (q *state) ascend(w *searchWorker, f *fork, onSurrogate bool) bool {
	of, most, tol := f.slopes, refineRounds, refineTolerance
	if onSurrogate {
		of, most, tol = f.surrogateSlopes, climbRounds, climbTolerance
	}
	for left := q.costs.rounds(len(q.under), q.d, onSurrogate); ; {
		done, over := w.ascent.run(of, q.under, &q.box, min(left, most-q.climbed), tol, !onSurrogate)
		q.climbed += done
		left -= done
		if !over && q.climbed < most {
			return false
		}
		if len(q.steps) == 0 || q.moved == stepwise || !q.moveDiscrete(w, of.gradients, q.under) {
			q.underWay = false
			return true
		}
		q.climbed = 0
		q.moved++
		if left--; left <= 0 {
			return false
		}
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
	if !q.underWay {
		q.beginDiscrete(w, f)
	}
	for range q.costs.improvements(q.d) {
		if q.moved++; q.moved > stepwise {
			q.underWay = false
			break
		}
		before := q.best.value
		c := q.climbers[0]
		c.startAt(q.best.x, &q.box)
		if len(q.grids)+len(q.steps) < q.d {
			w.ascent.run(f.slopes, q.climbers[:1], &q.box, refineRounds, refineTolerance, false)
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
			q.underWay = false
			break
		}
	}
	if !q.underWay {
		q.hold(q.grids, false)
	}
}

// beginDiscrete rounds the best points and takes the best of them.
func (q *state) beginDiscrete(w *searchWorker, f *fork) {
	q.hold(q.grids, true)
	q.roundBest(w, f)
	for _, c := range q.climbers[:min(q.count, 3)] {
		w.neighbour = append(w.neighbour[:0], c.x...)
		q.snapGrids(w.neighbour)
		q.evaluate(w, f, w.neighbour)
	}
	q.best.bound = math.Inf(1)
	q.underWay, q.rounded, q.moved = true, true, 0
}
