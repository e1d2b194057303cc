package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/labtuner/tuner/gpcore/internal/splitmix"
)

// Search maximises several functions side by side, again and again, with memory
// that it keeps: the acquisition of every control set of a decision, say. It works in
// units that are numbered in a fixed order:
//
//  1. each problem: prepare it, and evaluate its starting points; of several problems that have surrogates only the first
//     of each;
//  2. these: evaluate the others that may count beside what is known of all problems now;
//  3. screen: every 240 of a problem's points by the surrogate;
//  4. climb: a problem's best screened points, on the surrogate, all side by side; two of them where none comes within
//     Options.Slack of what is known of other problems;
//  5. refine: climb the local maxima of the surrogate with the objective itself, the
//     largest first. A surrogate that is an upper bound ends this where what is left
//     lies below the best found, and, by Options.Slack, below the best of other
//     problems;
//  6. each problem with discrete coordinates: move them from value to value.
//
// Where a value costs much, a unit is less: fewer points, some rounds of a climb (see Costed).
// What a unit does depends on the units before its phase alone, never on the clock or
// on the number of workers. So a number of units says exactly what was done.
type Search struct {
	o        Options
	problems []*state
	workers  []*searchWorker
	out      []Maximum
	round    []int // problems of this round of a phase
	chunks   []chunk

	ctx      context.Context
	share    float64 // of its screening points and starts that a run takes
	limit    int     // units, 0: no limit
	done     int
	cut      bool
	prepare  func(w *searchWorker, i int)
	look     func(w *searchWorker, i int)
	screen   func(w *searchWorker, i int)
	climb    func(w *searchWorker, i int)
	refine   func(w *searchWorker, i int)
	discrete func(w *searchWorker, i int)
}

// chunk is one unit of screening.
type chunk struct{ problem, from, to int }

// New prepares a search: it makes the screening points and takes the memory. It
// returns an error for problems that do not fit their objectives.
func New(problems []Problem, o Options) (*Search, error) {
	if len(problems) == 0 {
		return nil, errors.New("gpcore: a search needs at least one problem")
	}
	if math.IsNaN(o.Slack) || o.Slack < 0 {
		return nil, fmt.Errorf("gpcore: slack %g must not be negative", o.Slack)
	}
	s := &Search{o: o, out: make([]Maximum, len(problems)), share: 1}
	for i := range problems {
		if err := problems[i].check(); err != nil {
			return nil, fmt.Errorf("problem %d: %w", i, err)
		}
		q := newState(problems[i], splitmix.Mix(o.Seed+uint64(i)))
		s.problems = append(s.problems, q)
	}
	for range o.workers() {
		s.workers = append(s.workers, s.newWorker())
	}
	s.round = make([]int, 0, len(problems))
	s.prepare, s.look, s.screen, s.climb, s.refine, s.discrete = s.prepareUnit, s.lookUnit, s.screenUnit, s.climbUnit, s.refineUnit, s.discreteUnit
	return s, nil
}

// SetStarts gives points (rows of Dim) that the next runs look at first and climb from:
// the best observations so far, say. Coordinates are moved into the domain.
func (s *Search) SetStarts(problem int, x []float64) {
	q := s.problems[problem]
	if len(x)%q.d != 0 {
		panic("gpcore: SetStarts needs Dim coordinates for each point")
	}
	q.starts = append(q.starts[:0], x...)
	for k := 0; k < len(x); k += q.d {
		row := q.starts[k : k+q.d]
		if q.listed {
			copy(row, q.nearest(row, q.points))
			continue
		}
		for i := range row {
			row[i] = min(max(row[i], q.box.low[i]), q.box.high[i])
		}
		q.snapSteps(row)
	}
}

// SetObjectives gives the problems, in their order, other objectives over the same domains. What is
// known of screening points stays (see [Problem.Keep]), and so does what is watched of processes that are those of before.
func (s *Search) SetObjectives(all []Objective) {
	for i, q := range s.problems {
		q.setObjective(all[i])
	}
	for _, w := range s.workers {
		w.takeForks(s.problems)
	}
}

// SetShare has the next runs take on that share of their screening points and climbs, in (0, 1]: who sees that runs are cut
// gets more of those that are complete.
func (s *Search) SetShare(share float64) { s.share = share }

// SetJump says how a problem's objective rises at the edge of what it forbids.
func (s *Search) SetJump(problem int, j Jump) { s.problems[problem].counts.jump = j }

// SetSlack changes Options.Slack.
func (s *Search) SetSlack(slack float64) { s.o.Slack = slack }

// Run searches: all units, or at most units of them where units is positive. It returns
// earlier where ctx ends, which is looked at before each unit; at least one is done.
// done is how many were: the same number gives the same result again. The result has
// one element per problem and is valid until the next run. Nothing is allocated after
// the first run with one worker.
func (s *Search) Run(ctx context.Context, units int) (result []Maximum, done int) {
	s.ctx, s.limit, s.done, s.cut = ctx, units, 0, false
	for _, q := range s.problems {
		q.begin()
		q.share = s.share
		q.prepareShared()
	}
	s.all()
	s.rounds(s.prepare)
	s.setFloors()
	s.only(func(q *state) bool { return q.left > 0 })
	s.rounds(s.look)
	s.divide()
	s.phase(len(s.chunks), s.screen)
	s.setFloors()
	s.all()
	s.rounds(s.climb)
	for !s.cut {
		if s.nextRound(); len(s.round) == 0 {
			break
		}
		s.rounds(s.refine)
	}
	s.only(func(q *state) bool { return len(q.grids) > 0 })
	s.rounds(s.discrete)
	if s.cut {
		s.concludeCut()
	}
	for i, q := range s.problems {
		s.out[i] = Maximum{X: q.best.x, Value: q.best.value, Complete: !s.cut && !q.abandoned}
	}
	s.ctx = nil
	return s.out, s.done
}

// Cut reports whether the last run ended before all of its units were done.
func (s *Search) Cut() bool { return s.cut }

// divide divides the points of all problems into units.
func (s *Search) divide() {
	s.chunks = s.chunks[:0]
	for i, q := range s.problems {
		size, n := q.costs.screened(q.watched != nil), q.lookAt()
		for from := 0; from < n; from += size {
			s.chunks = append(s.chunks, chunk{i, from, min(from+size, n)})
		}
	}
}

// all makes all problems those of the round.
func (s *Search) all() {
	s.round = s.round[:0]
	for i := range s.problems {
		s.round = append(s.round, i)
	}
}

// only makes those problems the round's that a phase is for.
func (s *Search) only(is func(q *state) bool) {
	s.all()
	s.round = slices.DeleteFunc(s.round, func(i int) bool { return !is(s.problems[i]) })
}

// rounds does units of a phase for the problems of the round until none is under way.
func (s *Search) rounds(job func(w *searchWorker, i int)) {
	for len(s.round) > 0 && !s.cut {
		s.phase(len(s.round), job)
		if !s.cut {
			s.round = slices.DeleteFunc(s.round, func(i int) bool { return !s.problems[i].underWay })
		}
	}
}

// phase does units 0 to n-1 of a phase, in order, until the search is cut.
func (s *Search) phase(n int, job func(w *searchWorker, i int)) {
	if s.cut {
		return
	}
	if s.limit > 0 && s.done+n > s.limit {
		n, s.cut = max(s.limit-s.done, 0), true
	}
	at := 0
	if s.done == 0 && n > 0 { // the one unit that is always done
		job(s.workers[0], 0)
		at = 1
	}
	if len(s.workers) == 1 || n-at < 2 {
		for ; at < n && s.ctx.Err() == nil; at++ {
			job(s.workers[0], at)
		}
	} else {
		at = s.parallel(at, n, job)
	}
	s.cut = s.cut || at < n
	s.done += at
}

// parallel does units at to n-1 on all workers and returns how far it came. Units are
// taken in order, so those that were done are always the first.
func (s *Search) parallel(at, n int, job func(w *searchWorker, i int)) int {
	var next atomic.Int64
	var wait sync.WaitGroup
	next.Store(int64(at))
	for _, w := range s.workers[:min(len(s.workers), n-at)] {
		wait.Go(func() {
			for s.ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				job(w, i)
			}
		})
	}
	wait.Wait()
	return min(int(next.Load()), n)
}

// nextRound lists the problems whose next climb is worth it. Where slack lets problems prune
// each other, the two with the largest bounds go first, whatever the number of workers.
func (s *Search) nextRound() {
	s.round = s.round[:0]
	best := math.Inf(-1)
	for _, q := range s.problems {
		best = max(best, q.best.value)
	}
	for i, q := range s.problems {
		q.nextBound = q.boundOfNext()
		if math.IsInf(q.nextBound, -1) {
			continue
		}
		if q.nextBound < best-s.o.Slack {
			q.abandoned = true
			continue
		}
		s.round = append(s.round, i)
	}
	if math.IsInf(s.o.Slack, 1) {
		return
	}
	for k := range min(2, len(s.round)) {
		for j := k + 1; j < len(s.round); j++ {
			if s.problems[s.round[j]].nextBound > s.problems[s.round[k]].nextBound {
				s.round[k], s.round[j] = s.round[j], s.round[k]
			}
		}
	}
	s.round = s.round[:min(2, len(s.round))]
}

// Maximize searches one problem. The result is as good as the work done when ctx ends,
// which is looked at between units of work; one unit is always done. The same problem
// and seed give the same result on any number of cores. For repeated searches keep a
// [Search], which keeps its memory.
func Maximize(ctx context.Context, p Problem, o Options) (Maximum, error) {
	s, err := New([]Problem{p}, o)
	if err != nil {
		return Maximum{}, err
	}
	m, _ := s.Run(ctx, 0)
	return m[0], nil
}

// box is where climbers move: bounds, typical distances, and coordinates that are
// still.
type box struct {
	low, high, scale []float64
	fixed            []bool
}
