package gpcore

import "math"

// hop moves each climber to its best neighbour in the coordinates with few values, one
// value up or down in one of them, where that is better, and says whether any moved.
func (q *pursuit) hop(w *searchWorker, gradients func(dst, grad, x []float64), climbers []*climber) bool {
	a := &w.ascent
	moved := false
	for _, c := range climbers {
		a.x = a.x[:0]
		for _, i := range q.steps {
			a.x = q.besides(a.x, c.x, i)
		}
		m := len(a.x) / q.d
		if m == 0 {
			continue
		}
		a.value, a.grad = grown(a.value, m), grown(a.grad, m*q.d)
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
		c.again()
		c.value, moved = best, true
	}
	return moved
}

// besides appends x with discrete coordinate i one value up and one value down.
func (q *pursuit) besides(dst, x []float64, i int) []float64 {
	a := &q.p.Axes[i]
	at := a.index(x[i])
	for _, k := range [2]int{at - 1, at + 1} {
		if k >= 0 && k < a.count() {
			dst = append(dst, x...)
			dst[len(dst)-q.d+i] = a.at(k)
		}
	}
	return dst
}

// round moves the coordinates with many discrete values to the nearest.
func (q *pursuit) round(x []float64) {
	for _, i := range q.grids {
		a := &q.p.Axes[i]
		x[i] = a.at(a.index(x[i]))
	}
}

// roundBest moves the best point to the nearest values of the discrete coordinates and
// evaluates it there.
func (q *pursuit) roundBest(w *searchWorker, f *fork) {
	q.round(q.best.x)
	q.best.value = math.Inf(-1)
	w.neighbour = append(w.neighbour[:0], q.best.x...)
	q.evaluate(w, f, w.neighbour)
}

// settle rounds the best points and moves the best of them to better neighbours in the
// discrete coordinates until there is none; continuous coordinates are climbed again
// with the discrete ones held.
func (q *pursuit) settle(w *searchWorker, f *fork) {
	for _, i := range q.grids {
		q.box.fixed[i] = true
	}
	q.roundBest(w, f)
	for _, c := range q.climbers[:min(q.count, 3)] {
		w.neighbour = append(w.neighbour[:0], c.x...)
		q.round(w.neighbour)
		q.evaluate(w, f, w.neighbour)
	}
	q.best.bound = math.Inf(1)
	for range stepwise {
		before := q.best.value
		c := q.climbers[0]
		c.place(q.best.x, &q.box)
		if len(q.grids)+len(q.steps) < q.d {
			w.ascent.run(f.gradients, q.climbers[:1], &q.box, refineRounds, refineTolerance)
			q.offer(c.x, c.value)
		}
		w.neighbour = w.neighbour[:0]
		for i := range q.p.Axes {
			if q.p.Axes[i].count() > 0 {
				w.neighbour = q.besides(w.neighbour, q.best.x, i)
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

// nearestListed is the row of the list nearest to x, relative to the ranges.
func (q *pursuit) nearestListed(x []float64) []float64 {
	best, least := 0, math.Inf(1)
	for k := 0; k < len(q.points); k += q.d {
		s := 0.0
		for i, v := range x {
			if q.span[i] > 0 {
				t := (v - q.points[k+i]) / q.span[i]
				s += t * t
			}
		}
		if s < least {
			best, least = k, s
		}
	}
	return q.points[best : best+q.d]
}

// differences takes gradients by central differences, one-sided at the bounds.
type differences struct {
	o     Objective
	b     *box
	x     []float64
	value []float64
}

func (f *differences) gradients(dst, grad, x []float64) {
	d := len(f.b.low)
	f.x = f.x[:0]
	for k := range dst {
		row := x[k*d : (k+1)*d]
		f.x = append(f.x, row...)
		for i, v := range row {
			h := 1e-6 * (f.b.high[i] - f.b.low[i])
			for _, u := range [2]float64{max(v-h, f.b.low[i]), min(v+h, f.b.high[i])} {
				f.x = append(f.x, row...)
				f.x[len(f.x)-d+i] = u
			}
		}
	}
	f.value = grown(f.value, len(f.x)/d)
	f.o.Values(f.value, f.x)
	each := 2*d + 1
	for k := range dst {
		dst[k] = f.value[k*each]
		for i := range d {
			at := k*each + 1 + 2*i
			width := f.x[(at+1)*d+i] - f.x[at*d+i]
			if grad[k*d+i] = 0; width > 0 {
				grad[k*d+i] = (f.value[at+1] - f.value[at]) / width
			}
		}
	}
}
