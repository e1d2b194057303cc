package search

import (
	"math"
	"slices"
)

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
		if c.bound = math.Inf(1); q.surrogate == UpperBound {
			c.bound = c.value + climbTolerance*(1+math.Abs(c.value))
		}
	}
}
