package search

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// kept is what a search remembers of screening points from run to run (Problem.Keep).
type kept struct {
	parts int       // a run looks at one of so many parts of the points in turn; 0: nothing is kept
	turn  int       // whose turn it is
	last  []float64 // value of each point when it was last looked at, NaN before the first time
	due   []int     // the points that this run looks at

	ranked []float64 // scratch
}

func newKept(parts, points int) kept {
	return kept{parts: parts, last: vec.Constant(points, math.NaN()), due: make([]int, 0, points), ranked: make([]float64, 0, points)}
}

// choose decides which of the first n points this run looks at: one part of them in turn, those never looked
// at, and as many as a part of those that were best.
func (c *kept) choose(n int) {
	part := (n + c.parts - 1) / c.parts
	from := c.turn % c.parts * part
	c.turn++
	inTurn := func(k int) bool { return k >= from && k < from+part || math.IsNaN(c.last[k]) }
	c.ranked = c.ranked[:0]
	for k, v := range c.last[:n] {
		if !inTurn(k) {
			c.ranked = append(c.ranked, v)
		}
	}
	least := math.Inf(-1)
	if len(c.ranked) > part {
		least = greatest(c.ranked, part)
	}
	c.due = c.due[:0]
	for k, v := range c.last[:n] {
		if inTurn(k) || v >= least {
			c.due = append(c.due, k)
		}
	}
}

// greatest is the k-th greatest of the values, whose order it changes (Hoare's selection).
func greatest(values []float64, k int) float64 {
	for low, high := 0, len(values)-1; low < high; {
		pivot, i, j := values[(low+high)/2], low, high
		for i <= j {
			for values[i] > pivot {
				i++
			}
			for values[j] < pivot {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i++
				j--
			}
		}
		switch {
		case k-1 <= j:
			high = j
		case k-1 >= i:
			low = i
		default:
			return values[k-1]
		}
	}
	return values[k-1]
}

// lookAt is how many points this run looks at: the first in use, or those of them that are due.
func (q *state) lookAt() int {
	if !q.keeps() {
		return q.inUse
	}
	q.kept.choose(q.inUse)
	return len(q.kept.due)
}

// keeps reports whether values are kept: what is watched is up to date.
func (q *state) keeps() bool { return q.kept.parts > 0 && q.watched == nil }

// screenDue screens points from..to-1 of those that are due.
func (q *state) screenDue(w *searchWorker, f *fork, from, to int) {
	due := q.kept.due[from:to]
	w.points = w.points[:0]
	for _, k := range due {
		q.compute(&q.domain, k, k+1)
		w.points = append(w.points, q.points[k*q.d:(k+1)*q.d]...)
	}
	w.value = vec.Grown(w.value, len(due))
	if q.surrogate != NoSurrogate {
		f.surrogate.SurrogateValues(w.value, w.points)
	} else {
		f.objective.Values(w.value, w.points)
	}
	for i, k := range due {
		q.values[k], q.kept.last[k] = w.value[i], w.value[i]
		if math.IsNaN(w.value[i]) {
			q.kept.last[k] = math.Inf(-1)
		}
	}
}
