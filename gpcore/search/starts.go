package search

import (
	"cmp"
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// looking is what is known of the caller's starting points, and of what counts by them.
type looking struct {
	looked, left int       // how many of them were evaluated, and are to be at most
	ranked       bool      // by the surrogate, where it may say that some do not count
	order        []int     // the first, then best first by that
	said         []float64 // what it says of each
	doubt        float64   // by how much an approximation was off at those evaluated, at most
	counts       counting
}

// begin forgets the last run.
func (l *looking) begin() {
	l.looked, l.left, l.doubt, l.ranked = 0, 0, 0, false
	l.counts.floor = math.Inf(-1)
}

// likelyStarts is how many starting points beside the first are evaluated where an approximation says which are best.
const likelyStarts = 2

// lookAtFirst evaluates the first starting point, and has the surrogate say in which order the others are looked at.
func (q *state) lookAtFirst(w *searchWorker, f *fork) {
	q.evaluate(w, f, q.starts[:q.d])
	q.said = vec.Grown(q.said, q.left)
	f.surrogate.SurrogateValues(q.said, q.starts)
	q.learnDoubt(0, q.best.value)
	q.order = q.order[:0]
	for k := range q.left {
		q.order = append(q.order, k)
	}
	slices.SortStableFunc(q.order[1:], func(a, b int) int { return cmp.Compare(q.said[b], q.said[a]) })
	q.looked, q.left, q.ranked = 1, q.left-1, true
	if q.surrogate == Approximation {
		q.left = min(q.left, likelyStarts)
	}
}

// look evaluates as many of the starting points that are left as a unit of work does; where they are ranked, while the
// next may count.
func (q *state) look(w *searchWorker, f *fork) {
	some := parts(q.left, q.costs.Value)
	if !q.ranked {
		q.evaluate(w, f, q.starts[q.looked*q.d:(q.looked+some)*q.d])
		q.looked, q.left = q.looked+some, q.left-some
	}
	for ; q.ranked && some > 0 && q.left > 0; some-- {
		k := q.order[q.looked]
		if !q.worthALook(q.said[k]) {
			q.left = 0
			break
		}
		q.evaluate(w, f, q.starts[k*q.d:(k+1)*q.d])
		q.learnDoubt(k, w.value[0])
		q.looked, q.left = q.looked+1, q.left-1
	}
	q.underWay = q.left > 0
}

// worthALook reports whether a starting point of which the surrogate says that value may count.
func (q *state) worthALook(said float64) bool {
	if q.surrogate == UpperBound {
		return said > max(q.best.value, q.counts.floor)
	}
	return q.mayCount(said)
}

// choose fills the climbers with the best screened points, each some distance from the
// better ones.
func (q *state) choose() {
	q.separation = min(0.12, 0.4*q.shortest())
	if q.d == 1 {
		q.separation /= 2 // there are few points to pass over
	}
	for q.count = 0; q.count < q.limit; q.count++ {
		at, best := -1, math.Inf(-1)
		for k, v := range q.values[:q.inUse] {
			if v > best && !q.nearClimber(q.points[k*q.d:(k+1)*q.d], q.count, q.separation) {
				at, best = k, v
			}
		}
		if at < 0 {
			return
		}
		c := q.climbers[q.count]
		c.startAt(q.points[at*q.d:(at+1)*q.d], &q.box)
		c.value = best
	}
}

// addStarts replaces the least of the climbers by the caller's starting points, at most
// half of them.
func (q *state) addStarts() {
	n := min(len(q.starts)/q.d, (q.limit+1)/2)
	for k := range n {
		x := q.starts[k*q.d : (k+1)*q.d]
		if q.nearClimber(x, q.count, 0.01) {
			continue
		}
		if q.count < q.limit {
			q.count++
		}
		q.climbers[q.count-1-k%q.count].startAt(x, &q.box)
	}
}

// nearClimber is close for the first n climbers.
func (q *state) nearClimber(x []float64, n int, distance float64) bool {
	for _, c := range q.climbers[:n] {
		if q.within(x, c.x, distance) {
			return true
		}
	}
	return false
}

// rank sorts the local maxima of the surrogate, best first, and drops those that ended
// at the same place as a better one.
func (q *state) rank() {
	slices.SortStableFunc(q.climbers[:q.count], func(a, b *climber) int {
		switch {
		case a.value > b.value:
			return -1
		case a.value < b.value:
			return 1
		}
		return 0
	})
	kept := 0
	for i := range q.count {
		if !q.climbers[i].merged && !q.nearClimber(q.climbers[i].x, kept, 0.01) {
			q.climbers[kept], q.climbers[i] = q.climbers[i], q.climbers[kept]
			kept++
		}
	}
	q.count = kept
	for _, c := range q.climbers[:kept] {
		if c.bound = math.Inf(1); q.surrogate == UpperBound || !q.mayCount(c.value) {
			c.bound = c.value + climbTolerance*(1+math.Abs(c.value))
		}
	}
}
