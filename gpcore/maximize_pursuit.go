package gpcore

import (
	"math"
	"slices"
)

// pursuit is one problem of a search and what is known of it.
type pursuit struct {
	p         Problem
	d         int
	own       *Expected // the objective, where it is one
	surrogate SurrogateKind
	box       box
	span      []float64 // of the range
	steps     []int     // discrete coordinates with few values
	grids     []int     // discrete coordinates with many values
	listed    bool
	watch     *watcher // of fixed screening points

	points   []float64 // screened: rows of d, fixed for the search's life
	screened []float64 // their values, minus infinity where not looked at
	starts   []float64 // what the caller wants to be looked at first

	inUse    int        // how many of them are screened
	climbers []*climber // the best starts, then the local maxima, best first
	limit    int        // of them to be used
	count    int        // of them in use
	next     int        // the first that has not been climbed with the objective itself
	best     *climber   // keeps the best point and its value
	ready    bool       // prepared in this run
	final    bool       // climbed with the objective itself
	givenUp  bool
	batch    int // how many are climbed at once
	promise  float64
	taken    []float64 // where climbs with the objective itself started and ended
	apart    float64   // how far from each other, relative to the ranges
	extra    int       // rounds of further climbs
	examined int       // settings of a list looked at with the objective itself
	top      int       // the best of the others, -1: there is none
}

// newPursuit prepares a problem: its box, its screening points, its memory.
func newPursuit(p Problem, seed uint64) *pursuit {
	d := p.Objective.Dim()
	q := &pursuit{p: p, d: d, listed: p.List != nil, best: newClimber(d), batch: 1}
	q.own, _ = p.Objective.(*Expected)
	v := make([]float64, 4*d)
	q.box = box{low: v[:d], high: v[d : 2*d], scale: v[2*d : 3*d], fixed: make([]bool, d)}
	q.span = v[3*d:]
	limit := 0
	if q.listed {
		q.points, limit = p.List, 1
		for i := range d {
			q.box.low[i], q.box.high[i] = p.List[i], p.List[i]
		}
		for k, v := range p.List {
			q.box.low[k%d], q.box.high[k%d] = min(q.box.low[k%d], v), max(q.box.high[k%d], v)
		}
	} else {
		q.takeAxes()
		q.scatter(seed)
		if limit = p.Climbs; limit == 0 {
			limit = maxFactor * byDimension(climbSizes[:], d)
		}
	}
	for i := range d {
		q.span[i] = q.box.high[i] - q.box.low[i]
	}
	q.screened = constant(len(q.points)/d, math.Inf(-1))
	for range limit {
		q.climbers = append(q.climbers, newClimber(d))
	}
	if p.Track && q.own != nil && q.own.watchable() {
		q.watch = q.own.watcher(q.points)
	}
	return q
}

// listClimbs is how many settings of a list are looked at with the objective itself
// where its surrogate is no bound.
const listClimbs = 16

// begin forgets the last run.
func (q *pursuit) begin() {
	q.count, q.next, q.ready, q.final, q.givenUp = 0, 0, false, false, false
	q.taken, q.extra = q.taken[:0], 0
	q.best.value = math.Inf(-1)
	for i := range q.screened {
		q.screened[i] = math.Inf(-1)
	}
	copy(q.best.x, q.points) // something to return, whatever happens
	q.round(q.best.x)
}

// take learns the kind of the surrogate and the distances, after Prepare.
func (q *pursuit) take() {
	q.surrogate, q.batch = NoSurrogate, 1
	q.examined = 0
	if s, ok := q.p.Objective.(Surrogated); ok {
		q.surrogate = s.Surrogate()
	}
	if q.own != nil {
		q.batch = max(1, min(4, lanes/q.own.NodeCount()))
	}
	s, ok := q.p.Objective.(Scaled)
	known := ok && s.Scales(q.box.scale)
	for i, v := range q.span {
		v *= 0.3
		if known {
			v = min(v, q.box.scale[i])
		}
		if !(v > 0) {
			v = 1
		}
		q.box.scale[i] = v
	}
	q.size()
	q.ready = true
}

// size decides how much to screen and to climb: more where the function varies over
// less than 0.3 of the range, because it has more maxima then.
func (q *pursuit) size() {
	q.inUse, q.limit = len(q.screened), len(q.climbers)
	if q.listed {
		return
	}
	factor := 1.0
	for i, v := range q.span {
		if v > 0 {
			factor = min(factor*max(0.3*v/q.box.scale[i], 1), maxFactor)
		}
	}
	if q.p.Screen == 0 {
		q.inUse = min(up24(int(factor*float64(byDimension(screenSizes[:], q.d)))), q.inUse)
	}
	if q.p.Climbs == 0 {
		q.limit = min(int(factor*float64(byDimension(climbSizes[:], q.d))), q.limit)
	}
	if q.surrogate == NoSurrogate && q.p.Screen == 0 { // no bound will tell what was missed
		q.inUse = min(2*q.inUse, len(q.screened))
	}
}

// offer takes a point as the best so far if it is.
func (q *pursuit) offer(x []float64, v float64) {
	if v > q.best.value {
		copy(q.best.x, x)
		q.best.value = v
	}
}

// choose fills the climbers with the best screened points, each some distance from the
// better ones.
func (q *pursuit) choose() {
	q.apart = min(0.12, 0.4*q.shortest())
	if q.d == 1 {
		q.apart /= 2 // there are few points to pass over
	}
	for q.count = 0; q.count < q.limit; q.count++ {
		at, best := -1, math.Inf(-1)
		for k, v := range q.screened[:q.inUse] {
			if v > best && !q.near(q.points[k*q.d:(k+1)*q.d], q.count, q.apart) {
				at, best = k, v
			}
		}
		if at < 0 {
			return
		}
		c := q.climbers[q.count]
		c.place(q.points[at*q.d:(at+1)*q.d], &q.box)
		c.value = best
	}
}

// shortest is the smallest typical distance relative to the range.
func (q *pursuit) shortest() float64 {
	s := 1.0
	for i, v := range q.box.scale {
		if q.span[i] > 0 {
			s = min(s, v/q.span[i])
		}
	}
	return s
}

// close says that x is within a distance, relative to the ranges, of one of the rows.
func (q *pursuit) close(x, rows []float64, distance float64) bool {
	for k := 0; k < len(rows); k += q.d {
		if q.within(x, rows[k:k+q.d], distance) {
			return true
		}
	}
	return false
}

// near is close for the first n climbers.
func (q *pursuit) near(x []float64, n int, distance float64) bool {
	for _, c := range q.climbers[:n] {
		if q.within(x, c.x, distance) {
			return true
		}
	}
	return false
}

func (q *pursuit) within(x, y []float64, distance float64) bool {
	s := 0.0
	for i, v := range x {
		if q.span[i] > 0 {
			t := (v - y[i]) / q.span[i]
			s += t * t
		}
	}
	return s < distance*distance
}

// rank sorts the local maxima of the surrogate, best first, and drops those that ended
// at the same place as a better one.
func (q *pursuit) rank() {
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
		if !q.climbers[i].merged && !q.near(q.climbers[i].x, kept, 0.01) {
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

// promising is the bound of what comes next with the objective itself, minus infinity
// where nothing is worth it: its bound is not above the best found here.
func (q *pursuit) promising() float64 {
	bound := math.Inf(-1)
	switch {
	case q.final:
	case q.listed:
		bound = q.listBound()
	case q.next < min(q.count, q.most()) && q.climbers[q.next].bound > q.best.value:
		return q.climbers[q.next].bound
	case q.surrogate == UpperBound && q.extra < extraRounds:
		q.next = q.count
		if k := q.uncovered(); k >= 0 {
			bound = q.screened[k]
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
func (q *pursuit) uncovered() int {
	for {
		k := q.highest()
		if k < 0 || q.screened[k] <= q.best.value {
			return -1
		}
		if !q.close(q.points[k*q.d:(k+1)*q.d], q.taken, q.apart) {
			return k
		}
		q.screened[k] = math.Inf(-1)
	}
}

// more looks at uncovered points and climbs the best of them.
func (q *pursuit) more(w *searchWorker, f *fork) {
	q.extra++
	from := len(q.taken)
	for len(q.taken)-from < extraLooks*q.d {
		k := q.uncovered()
		if k < 0 {
			break
		}
		q.taken = append(q.taken, q.points[k*q.d:(k+1)*q.d]...)
	}
	x := q.taken[from:]
	q.evaluate(w, f, x)
	n := min(extraClimbs, len(w.value))
	for i := range n {
		at := 0
		for k, v := range w.value {
			if v > w.value[at] {
				at = k
			}
		}
		q.climbers[i].place(x[at*q.d:(at+1)*q.d], &q.box)
		w.value[at] = math.Inf(-1)
	}
	q.climb(w, f, q.climbers[:n])
}

// climb climbs with the objective itself and remembers where.
func (q *pursuit) climb(w *searchWorker, f *fork, batch []*climber) {
	for _, c := range batch {
		q.taken = append(q.taken, c.x...)
		c.floor = q.best.value
		c.again()
	}
	q.ascend(w, f.gradients, batch, refineRounds, refineTolerance)
	for _, c := range batch {
		q.taken = append(q.taken, c.x...)
		q.offer(c.x, c.value)
	}
}

// most is how many starts are climbed with the objective itself.
func (q *pursuit) most() int {
	if q.surrogate == UpperBound {
		return q.count
	}
	return 3
}

// listBound is the bound of the best setting of a list that was not looked at yet: a
// list is looked through until no bound is above the best, or, where there are no
// bounds, for some settings.
func (q *pursuit) listBound() float64 {
	q.top = q.highest()
	switch {
	case q.top < 0:
		return math.Inf(-1)
	case q.surrogate == UpperBound:
		return q.screened[q.top]
	case q.examined < listClimbs:
		return math.Inf(1)
	}
	return math.Inf(-1)
}

// highest is the screened point with the largest value, -1 where there is none.
func (q *pursuit) highest() int {
	at, best := -1, math.Inf(-1)
	for k, v := range q.screened {
		if v > best {
			at, best = k, v
		}
	}
	return at
}
