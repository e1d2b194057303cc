package search

import "math"

// listClimbs is how many settings of a list are looked at with the objective itself
// where its surrogate is no bound.
const listClimbs = 16

// boundOfNext is the bound of what comes next with the objective itself, minus infinity
// where nothing is worth it: its bound is not above the best found here.
func (q *state) boundOfNext() float64 {
	bound := math.Inf(-1)
	switch {
	case q.final:
	case q.listed:
		bound = q.listBound()
	case q.next < min(q.count, q.maxClimbs()) && q.climbers[q.next].bound > q.best.value:
		return q.climbers[q.next].bound
	case q.surrogate == UpperBound && q.extraRounds < extraRounds:
		q.next = q.count
		if k := q.uncovered(); k >= 0 {
			bound = q.values[k]
		}
	}
	if bound <= q.best.value {
		return math.Inf(-1)
	}
	return bound
}

// A plateau of the bound may hide several maxima of the objective. So where screened
// points with bounds above the best are left that no climb on the objective started or
// ended near, at most extraRounds times extraLooks of them are looked at with the
// objective itself, and the best extraClimbs of these are climbed.
const (
	extraRounds = 3
	extraLooks  = 8
	extraClimbs = 2
)

// uncovered is the screened point with the largest value that is not near a climb on the
// objective so far, -1 where none is above the best found. Those passed over are crossed
// out.
func (q *state) uncovered() int {
	for {
		k := q.highest()
		if k < 0 || q.values[k] <= q.best.value {
			return -1
		}
		if !q.near(q.points[k*q.d:(k+1)*q.d], q.covered, q.separation) {
			return k
		}
		q.values[k] = math.Inf(-1)
	}
}

// climbUncovered looks at uncovered points and climbs the best of them.
func (q *state) climbUncovered(w *searchWorker, f *fork) {
	q.extraRounds++
	from := len(q.covered)
	for len(q.covered)-from < extraLooks*q.d {
		k := q.uncovered()
		if k < 0 {
			break
		}
		q.covered = append(q.covered, q.points[k*q.d:(k+1)*q.d]...)
	}
	x := q.covered[from:]
	q.evaluate(w, f, x)
	n := min(extraClimbs, len(w.value), len(q.climbers)) // a search that was cut takes on less
	for i := range n {
		at := 0
		for k, v := range w.value {
			if v > w.value[at] {
				at = k
			}
		}
		q.climbers[i].startAt(x[at*q.d:(at+1)*q.d], &q.box)
		w.value[at] = math.Inf(-1)
	}
	q.climb(w, f, q.climbers[:n])
}

// climb climbs with the objective itself and remembers where.
func (q *state) climb(w *searchWorker, f *fork, batch []*climber) {
	for _, c := range batch {
		q.covered = append(q.covered, c.x...)
		c.floor = q.best.value
		c.restart()
	}
	q.setOut(batch)
	q.goOn(w, f)
}

// goOn goes on with such a climb.
func (q *state) goOn(w *searchWorker, f *fork) {
	if !q.ascend(w, f, false) {
		return
	}
	for _, c := range q.under {
		q.covered = append(q.covered, c.x...)
	}
	q.offerClimbed()
}

// offerClimbed offers what a climb with the objective itself has come to.
func (q *state) offerClimbed() {
	for _, c := range q.under {
		if c.started {
			q.offer(c.x, c.value)
		}
	}
}

// maxClimbs is how many starts are climbed with the objective itself.
func (q *state) maxClimbs() int {
	if q.surrogate == UpperBound {
		return q.count
	}
	return 3
}

// listBound is the bound of the best setting of a list that was not looked at yet: a
// list is looked through until no bound is above the best, or, where there are no
// bounds, for some settings.
func (q *state) listBound() float64 {
	top := q.highest()
	switch {
	case top < 0:
		return math.Inf(-1)
	case q.surrogate == UpperBound:
		return q.values[top]
	case q.evaluated < listClimbs:
		return math.Inf(1)
	}
	return math.Inf(-1)
}

// evaluateListed looks at the next settings of a list with the objective itself.
func (q *state) evaluateListed(w *searchWorker, f *fork) {
	w.neighbour = w.neighbour[:0]
	for range q.batch {
		k := q.highest()
		if k < 0 {
			break
		}
		w.neighbour = append(w.neighbour, q.points[k*q.d:(k+1)*q.d]...)
		q.values[k] = math.Inf(-1)
		q.evaluated++
	}
	q.evaluate(w, f, w.neighbour)
}
