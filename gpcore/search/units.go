package search

import (
	"cmp"
	"math"
	"slices"
)

// prepareShared does what must not overlap with another problem's preparation.
func (q *state) prepareShared() {
	if q.group != nil {
		q.group.PrepareGroup()
	} else if p, ok := q.p.Objective.(Preparer); ok {
		p.Prepare()
	}
	if q.watched != nil {
		q.watched.Sync()
	}
	q.costs = costsOf(q.p.Objective)
}

// prepareUnit prepares a problem of this round and evaluates its starting points, or its center; where there is a surrogate
// and there are other problems only the first.
func (s *Search) prepareUnit(w *searchWorker, i int) {
	k := s.round[i]
	q, f := s.problems[k], &w.forks[k]
	if !q.underWay {
		if q.group != nil {
			q.group.PrepareOwn()
		}
		q.readScales()
		if len(q.starts) == 0 {
			q.evaluate(w, f, q.center(w))
			q.doubt = math.Inf(1) // no start says how far an approximation is off
			return
		}
		if q.left = len(q.starts) / q.d; q.surrogate != NoSurrogate && len(s.problems) > 1 {
			q.lookAtFirst(w, f) // what counts is known when all are prepared
			return
		}
	}
	q.look(w, f)
}

// lookUnit goes on with a problem's starting points.
func (s *Search) lookUnit(w *searchWorker, i int) {
	k := s.round[i]
	s.problems[k].look(w, &w.forks[k])
}

// center is that of the domain, or the first setting of a list.
func (q *state) center(w *searchWorker) []float64 {
	w.neighbour = append(w.neighbour[:0], q.points[:q.d]...)
	if !q.listed {
		for j := range q.d {
			w.neighbour[j] = (q.box.low[j] + q.box.high[j]) / 2
		}
		q.snapSteps(w.neighbour)
	}
	return w.neighbour
}

// screenUnit screens one chunk.
func (s *Search) screenUnit(w *searchWorker, i int) {
	c := s.chunks[i]
	q, f := s.problems[c.problem], &w.forks[c.problem]
	if q.keeps() {
		q.screenDue(w, f, c.from, c.to)
		return
	}
	q.compute(&q.domain, c.from, c.to)
	dst, x := q.values[c.from:c.to], q.points[c.from*q.d:c.to*q.d]
	switch {
	case q.watched != nil:
		q.watched.Values(dst, f.objective, c.from, c.to)
	case q.surrogate != NoSurrogate:
		f.surrogate.SurrogateValues(dst, x)
	default:
		f.objective.Values(dst, x)
	}
}

// climbUnit climbs the best screened points of a problem of this round on the surrogate, where it has one,
// else on the objective itself, which settles it.
func (s *Search) climbUnit(w *searchWorker, i int) {
	k := s.round[i]
	q, f := s.problems[k], &w.forks[k]
	if !q.underWay {
		q.final = q.surrogate == NoSurrogate
		if q.final {
			q.offerScreened()
		}
		if q.listed {
			return
		}
		if k := q.highest(); k >= 0 && !q.mayCount(q.values[k]) { // nothing screened does
			q.limit, q.abandoned = min(q.limit, unlikelyClimbs), true
		}
		q.choose()
		q.addStarts()
		q.setOut(q.climbers[:q.count])
	}
	if !q.ascend(w, f, !q.final) {
		return
	}
	if q.final {
		q.offerClimbed()
	}
	q.rank()
}

// offerScreened offers the best screened point where screening was with the objective.
func (q *state) offerScreened() {
	if k := q.highest(); k >= 0 {
		q.offer(q.points[k*q.d:(k+1)*q.d], q.values[k])
	}
}

// refineUnit climbs the next local maxima of a problem of this round with the objective
// itself.
func (s *Search) refineUnit(w *searchWorker, i int) {
	k := s.round[i]
	q, f := s.problems[k], &w.forks[k]
	if q.underWay {
		q.goOn(w, f)
		return
	}
	if q.listed {
		q.evaluateListed(w, f)
		return
	}
	if q.next >= q.count {
		q.climbUncovered(w, f)
		return
	}
	n := min(q.batch, q.count-q.next)
	batch := q.climbers[q.next : q.next+n]
	q.next += n
	q.climb(w, f, batch)
}

// discreteUnit rounds the best point of a problem of this round where coordinates are climbed that have many
// discrete values, and moves it to the best neighbour until there is none better.
func (s *Search) discreteUnit(w *searchWorker, i int) {
	k := s.round[i]
	s.problems[k].improveDiscrete(w, &w.forks[k])
}

// concludeCut has a search that was cut before the objective was climbed look at the best points known, the
// most promising first, of as many problems as a unit of work can.
func (s *Search) concludeCut() {
	cost := 0.0
	for _, q := range s.problems {
		cost = max(cost, q.costs.Value)
	}
	s.all()
	slices.SortStableFunc(s.round, func(i, k int) int { return cmp.Compare(s.problems[k].promise(), s.problems[i].promise()) })
	looks := parts(len(s.round), cost)
	for rank, i := range s.round {
		if q := s.problems[i]; q.ready && !q.rounded {
			q.concludeCut(s.workers[0], &s.workers[0].forks[i], rank < looks)
		}
	}
}

// promise is the greatest value known of a problem, of its surrogate where it was not climbed yet.
func (q *state) promise() float64 {
	value := q.best.value
	switch k := q.highest(); {
	case q.next > 0:
	case q.count > 0:
		value = max(value, q.climbers[0].value)
	case k >= 0:
		value = max(value, q.values[k])
	}
	return value
}

// concludeCut takes what is known of a problem, with a look at the best point where it may.
func (q *state) concludeCut(w *searchWorker, f *fork, may bool) {
	if q.underWay && (q.final || q.next > 0 || q.extraRounds > 0) { // a climb with the objective itself
		q.offerClimbed()
	}
	switch {
	case q.surrogate == NoSurrogate:
		q.offerScreened()
	case !may:
	case q.listed:
		q.evaluateListed(w, f)
	case q.next == 0 && q.count > 0:
		q.evaluate(w, f, q.climbers[0].x)
	case q.next == 0:
		q.evaluateListed(w, f)
	}
	switch {
	case len(q.grids) == 0:
	case may:
		q.roundBest(w, f)
	default: // there is no value at discrete ones
		q.snapGrids(q.best.x)
		q.best.value = math.Inf(-1)
	}
}
