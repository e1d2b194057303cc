package gpcore

import "math"

// Rounds and tolerances of the climbs. A climb on the surrogate only has to come near
// enough for its end to be a bound; refineTolerance is what may be left to gain,
// relative to 1+|value|.
const (
	climbRounds     = 16
	climbTolerance  = 1e-5
	refineRounds    = 40
	refineTolerance = 1e-8
)

// fork is one worker's copy of an objective.
type fork struct {
	objective Objective
	surrogate Surrogated // nil where it has none
	gradients func(dst, grad, x []float64)
	stand     func(dst, grad, x []float64) // of the surrogate
}

func (s *Search) newWorker() *searchWorker {
	w := &searchWorker{}
	var scratch []*Expected // one per group of control sets, to share scratch
	for _, q := range s.problems {
		w.forks = append(w.forks, q.fork(&scratch))
	}
	return w
}

func (q *pursuit) fork(scratch *[]*Expected) fork {
	f := fork{}
	if q.own == nil {
		f.objective = q.p.Objective.Fork()
	} else {
		for _, e := range *scratch {
			if e.share[0] == q.own.share[0] {
				f.objective = q.own.fork(e.s)
			}
		}
		if f.objective == nil {
			f.objective = q.own.Fork()
			*scratch = append(*scratch, f.objective.(*Expected))
		}
	}
	f.surrogate, _ = f.objective.(Surrogated)
	if g, ok := f.objective.(Differentiable); ok {
		f.gradients = g.Gradients
	} else {
		f.gradients = (&differences{o: f.objective, b: &q.box}).gradients
	}
	f.stand = f.gradients
	if f.surrogate != nil {
		f.stand = f.surrogate.SurrogateGradients
	}
	return f
}

// prepareShared does what must not overlap with another problem's preparation.
func (q *pursuit) prepareShared() {
	if q.own != nil {
		q.own.prepareShared()
		if q.watch != nil {
			q.watch.sync()
		}
		return
	}
	if p, ok := q.p.Objective.(Preparer); ok {
		p.Prepare()
	}
}

// forgetWatched has the fixed points computed afresh in the next run.
func (q *pursuit) forgetWatched() {
	if q.watch == nil {
		return
	}
	for _, w := range q.watch.watches {
		w.ready = false
	}
}

// prepareUnit prepares problem i and evaluates its starting points, or its center.
func (s *Search) prepareUnit(w *searchWorker, i int) {
	q := s.problems[i]
	if q.own != nil {
		q.own.prepareOwn()
	}
	q.take()
	x := q.starts
	if len(x) == 0 {
		w.neighbour = append(w.neighbour[:0], q.points[:q.d]...)
		if !q.listed {
			for j := range q.d {
				w.neighbour[j] = (q.box.low[j] + q.box.high[j]) / 2
			}
			q.settleSteps(w.neighbour)
		}
		x = w.neighbour
	}
	q.evaluate(w, &w.forks[i], x)
}

// evaluate offers points with the objective's values.
func (q *pursuit) evaluate(w *searchWorker, f *fork, x []float64) {
	w.value = grown(w.value, len(x)/q.d)
	f.objective.Values(w.value, x)
	for k, v := range w.value {
		q.offer(x[k*q.d:(k+1)*q.d], v)
	}
}

// screenUnit screens one chunk.
func (s *Search) screenUnit(w *searchWorker, i int) {
	c := s.chunks[i]
	q, f := s.problems[c.problem], &w.forks[c.problem]
	if c.to = min(c.to, q.inUse); c.from >= c.to {
		return
	}
	dst, x := q.screened[c.from:c.to], q.points[c.from*q.d:c.to*q.d]
	switch {
	case q.watch != nil:
		q.watch.update(f.objective.(*Expected).s, c.from, c.to)
		q.watch.values(dst, c.from, c.to)
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
	q.ascend(w, f.stand, q.climbers[:q.count], rounds, tol)
	if q.final {
		for _, c := range q.climbers[:q.count] {
			q.offer(c.x, c.value)
		}
	}
	q.rank()
}

// offerScreened offers the best screened point where screening was with the objective.
func (q *pursuit) offerScreened() {
	if k := q.highest(); k >= 0 {
		q.offer(q.points[k*q.d:(k+1)*q.d], q.screened[k])
	}
}

// addStarts replaces the least of the climbers by the caller's starting points, at most
// half of them.
func (q *pursuit) addStarts() {
	n := min(len(q.starts)/q.d, (q.limit+1)/2)
	for k := range n {
		x := q.starts[k*q.d : (k+1)*q.d]
		if q.near(x, q.count, 0.01) {
			continue
		}
		if q.count < q.limit {
			q.count++
		}
		q.climbers[q.count-1-k%q.count].place(x, &q.box)
	}
}

// refineUnit climbs the next local maxima of a problem of the wave with the objective
// itself.
func (s *Search) refineUnit(w *searchWorker, i int) {
	k := s.queue[i]
	q, f := s.problems[k], &w.forks[k]
	if q.listed {
		q.examine(w, f)
		return
	}
	if q.next >= q.count {
		q.more(w, f)
		return
	}
	n := min(q.batch, q.count-q.next)
	batch := q.climbers[q.next : q.next+n]
	q.next += n
	q.climb(w, f, batch)
}

// examine looks at the next settings of a list with the objective itself.
func (q *pursuit) examine(w *searchWorker, f *fork) {
	w.neighbour = w.neighbour[:0]
	for range q.batch {
		k := q.highest()
		if k < 0 {
			break
		}
		w.neighbour = append(w.neighbour, q.points[k*q.d:(k+1)*q.d]...)
		q.screened[k] = math.Inf(-1)
		q.examined++
	}
	q.evaluate(w, f, w.neighbour)
}

// ascend climbs, and between climbs moves coordinates with few values.
func (q *pursuit) ascend(w *searchWorker, gradients func(dst, grad, x []float64), climbers []*climber, rounds int, tol float64) {
	w.ascent.run(gradients, climbers, &q.box, rounds, tol)
	for range stepwise {
		if len(q.steps) == 0 || !q.hop(w, gradients, climbers) {
			return
		}
		w.ascent.run(gradients, climbers, &q.box, rounds, tol)
	}
}

// discernUnit rounds a problem's best point where coordinates are climbed that have many
// discrete values, and moves it to the best neighbour until there is none better.
func (s *Search) discernUnit(w *searchWorker, i int) {
	q, f := s.problems[i], &w.forks[i]
	if len(q.grids) == 0 {
		return
	}
	q.settle(w, f)
}

// conclude writes a problem's result. A search that was cut before the objective was
// climbed still looks at the best point known.
func (s *Search) conclude(i int, q *pursuit) {
	f, w := &s.workers[0].forks[i], s.workers[0]
	if s.cut && q.ready {
		switch {
		case q.surrogate == NoSurrogate:
			q.offerScreened()
		case q.listed:
			q.examine(w, f)
		case q.next == 0 && q.count > 0:
			q.evaluate(w, f, q.climbers[0].x)
		case q.next == 0:
			q.examine(w, f)
		}
		if len(q.grids) > 0 {
			q.roundBest(w, f)
		}
	}
	s.out[i] = Maximum{X: q.best.x, Value: q.best.value, Complete: !s.cut && !q.givenUp}
}
