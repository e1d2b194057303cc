package search

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
}

// forgetWatched has the fixed points computed afresh in the next run.
func (q *state) forgetWatched() {
	if q.watched != nil {
		q.watched.Forget()
	}
}

// prepareUnit prepares problem i and evaluates its starting points, or its center.
func (s *Search) prepareUnit(w *searchWorker, i int) {
	q := s.problems[i]
	if q.group != nil {
		q.group.PrepareOwn()
	}
	q.readScales()
	x := q.starts
	if len(x) == 0 {
		w.neighbour = append(w.neighbour[:0], q.points[:q.d]...)
		if !q.listed {
			for j := range q.d {
				w.neighbour[j] = (q.box.low[j] + q.box.high[j]) / 2
			}
			q.snapSteps(w.neighbour)
		}
		x = w.neighbour
	}
	q.evaluate(w, &w.forks[i], x)
}

// screenUnit screens one chunk.
func (s *Search) screenUnit(w *searchWorker, i int) {
	c := s.chunks[i]
	q, f := s.problems[c.problem], &w.forks[c.problem]
	if c.to = min(c.to, q.inUse); c.from >= c.to {
		return
	}
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

// climbUnit climbs problem i's best screened points on the surrogate, where it has one,
// else on the objective itself, which settles it.
func (s *Search) climbUnit(w *searchWorker, i int) {
	q, f := s.problems[i], &w.forks[i]
	q.final = q.surrogate == NoSurrogate
	if q.final {
		q.offerScreened()
	}
	if q.listed {
		return
	}
	q.choose()
	q.addStarts()
	rounds, tol := climbRounds, climbTolerance
	if q.final {
		rounds, tol = refineRounds, refineTolerance
	}
	q.ascend(w, f.surrogateGradients, q.climbers[:q.count], rounds, tol)
	if q.final {
		for _, c := range q.climbers[:q.count] {
			q.offer(c.x, c.value)
		}
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

// discreteUnit rounds a problem's best point where coordinates are climbed that have many
// discrete values, and moves it to the best neighbour until there is none better.
func (s *Search) discreteUnit(w *searchWorker, i int) {
	q, f := s.problems[i], &w.forks[i]
	if len(q.grids) == 0 {
		return
	}
	q.improveDiscrete(w, f)
}

// conclude writes a problem's result. A search that was cut before the objective was
// climbed still looks at the best point known.
func (s *Search) conclude(i int, q *state) {
	f, w := &s.workers[0].forks[i], s.workers[0]
	if s.cut && q.ready {
		switch {
		case q.surrogate == NoSurrogate:
			q.offerScreened()
		case q.listed:
			q.evaluateListed(w, f)
		case q.next == 0 && q.count > 0:
			q.evaluate(w, f, q.climbers[0].x)
		case q.next == 0:
			q.evaluateListed(w, f)
		}
		if len(q.grids) > 0 {
			q.roundBest(w, f)
		}
	}
	s.out[i] = Maximum{X: q.best.x, Value: q.best.value, Complete: !s.cut && !q.abandoned}
}
