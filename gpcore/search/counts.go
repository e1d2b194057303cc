package search

import "math"

// Jump is how an objective rises at the edge of what it forbids. With Options.Slack what is below it counts where it may come to
// the edge and would count above.
type Jump struct {
	// Edge is the least value just below it, minus infinity where that is not known, Height by how much values rise there, 0
	// where nothing is forbidden.
	Edge, Height float64
}

// counting says which values of a problem count.
type counting struct {
	floor float64 // what is known of other problems is above anything less
	jump  Jump
}

// least is the least value of interest on the side of the jump that a value is on: above, what counts; below, what may be
// on the way over the edge to it.
func (c counting) least(value float64) float64 {
	if c.jump.Height == 0 || value >= c.jump.Edge+c.jump.Height/2 {
		return c.floor
	}
	return max(c.floor-c.jump.Height, c.jump.Edge)
}

// unlikelyClimbs is how many screened points are climbed where none of them counts, so that one would have to rise to what does.
const unlikelyClimbs = 2

// doubtFactor is how much farther an approximation may be off elsewhere than at the starting points.
const doubtFactor = 3

// mayCount reports whether a point may count, or a climb's end, by the surrogate's value there.
func (q *state) mayCount(value float64) bool {
	return !(value+doubtFactor*q.doubt < q.counts.least(value))
}

// learnDoubt takes in how far the surrogate is off at a start of a value.
func (q *state) learnDoubt(start int, value float64) {
	if off := math.Abs(q.said[start] - value); q.surrogate == Approximation && !math.IsNaN(off) {
		q.doubt = max(q.doubt, off)
	}
}

// setFloors tells each problem which values count, by what is known of the others.
func (s *Search) setFloors() {
	for i, q := range s.problems {
		q.counts.floor = math.Inf(-1)
		for k, o := range s.problems {
			if k != i {
				q.counts.floor = max(q.counts.floor, o.best.value-s.o.Slack)
			}
		}
	}
}
