package search

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// state is one problem of a search and what is known of it.
type state struct {
	domain
	screen
	looking
	kept      kept
	p         Problem
	group     Grouped // the objective, where it is one
	costs     Costs
	surrogate SurrogateKind
	starts    []float64 // what the caller wants to be looked at first

	climbers []*climber // the best starts, then the local maxima, best first
	room     int        // how many there may be
	limit    int        // of them to be used
	share    float64    // of all that would be screened and climbed
	count    int        // of them in use
	next     int        // the first that has not been climbed with the objective itself
	batch    int        // how many are climbed at once
	best     *climber   // keeps the best point and its value

	under     []*climber // those of the climb that is under way
	climbed   int        // its rounds since coordinates with few values were moved
	moved     int        // how often those were moved; in the last phase, the best point
	underWay  bool       // the next unit of the phase goes on with the last one's work
	rounded   bool       // the best point has discrete values
	ready     bool       // prepared in this run
	final     bool       // climbed with the objective itself
	abandoned bool

	nextBound   float64   // the bound of what comes next
	covered     []float64 // where climbs with the objective itself started and ended
	separation  float64   // how far from each other, relative to the ranges
	extraRounds int       // rounds of further climbs
	evaluated   int       // settings of a list looked at with the objective itself
}

// newState prepares a problem: its domain, its screening points, its memory.
func newState(p Problem, seed uint64) *state {
	d := p.Objective.Dim()
	q := &state{p: p, domain: newDomain(&p, d), best: newClimbers(1, d)[0], batch: 1}
	limit := 1
	if q.listed {
		n := len(p.List) / d
		q.screen = screen{points: p.List, values: vec.Constant(n, math.Inf(-1))}
	} else {
		n := p.Screen
		if n == 0 {
			n = maxFactor * byDimension(screenSizes[:], d)
		}
		q.screen = newScreen(&q.domain, n, seed)
		if limit = p.Climbs; limit == 0 {
			limit = maxFactor * byDimension(climbSizes[:], d)
		}
	}
	q.room = limit
	if p.Keep > 0 && !q.listed {
		q.kept = newKept(p.Keep, len(q.values))
	}
	q.setObjective(p.Objective)
	return q
}

// setObjective is the search of another function over the domain.
func (q *state) setObjective(o Objective) {
	before := q.watched
	q.p.Objective, q.watched = o, nil
	q.group, _ = o.(Grouped)
	if v, ok := o.(Watchable); ok && q.p.Track > 0 {
		q.watched = v.Watch(Watching{X: q.points, Dim: q.d, Before: before, Processes: q.p.Track})
	}
}

// begin forgets the last run.
func (q *state) begin() {
	q.count, q.next, q.ready, q.final, q.abandoned = 0, 0, false, false, false
	q.covered, q.extraRounds = q.covered[:0], 0
	q.looking.begin()
	q.under, q.underWay, q.rounded = nil, false, false
	q.hold(q.grids, false)
	q.best.value = math.Inf(-1)
	for i := range q.values {
		q.values[i] = math.Inf(-1)
	}
	copy(q.best.x, q.points) // something to return, whatever happens
	q.snapGrids(q.best.x)
}

// readScales learns the kind of the surrogate and the distances, after Prepare.
func (q *state) readScales() {
	q.surrogate, q.batch = NoSurrogate, 1
	q.evaluated = 0
	if s, ok := q.p.Objective.(Surrogated); ok {
		q.surrogate = s.Surrogate()
	}
	if q.group != nil {
		q.batch = max(1, min(4, vec.Lanes/q.group.NodeCount()))
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
func (q *state) size() {
	q.inUse, q.limit = len(q.values), q.room
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
		q.inUse = min(vec.Up24(int(factor*float64(byDimension(screenSizes[:], q.d)))), q.inUse)
	}
	if q.p.Climbs == 0 {
		q.limit = min(int(factor*float64(byDimension(climbSizes[:], q.d))), q.limit)
	}
	if q.surrogate == NoSurrogate && q.p.Screen == 0 { // no bound shows what was missed
		q.inUse = min(2*q.inUse, len(q.values))
	}
	if q.share < 1 { // as much as fits into a unit costs no more than less
		q.inUse = min(max(vec.Up24(int(q.share*float64(q.inUse))), q.costs.screened(q.watched != nil)), q.inUse)
	}
	q.limit = max(int(q.share*float64(q.limit)), 1)
	if more := q.limit - len(q.climbers); more > 0 {
		q.climbers = append(q.climbers, newClimbers(more, q.d)...)
	}
}

// offer takes a point as the best so far if it is.
func (q *state) offer(x []float64, v float64) {
	if v > q.best.value {
		copy(q.best.x, x)
		q.best.value = v
	}
}

// evaluate offers points with the objective's values.
func (q *state) evaluate(w *searchWorker, f *fork, x []float64) {
	w.value = vec.Grown(w.value, len(x)/q.d)
	f.objective.Values(w.value, x)
	for k, v := range w.value {
		q.offer(x[k*q.d:(k+1)*q.d], v)
	}
}
