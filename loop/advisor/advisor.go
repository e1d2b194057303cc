package advisor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/worker"
)

// Options says how a policy is asked.
type Options struct {
	// Deadline is the longest that a decision may take: it is cut before the unit of work that would take it beyond; 0: it is
	// bounded by its work alone.
	Deadline time.Duration
	// UnitTime is what a unit of work counts for with so many readings, where the deadline is not measured
	// by the Stopwatch; nil: it is.
	UnitTime func(readings int) time.Duration
	// Rebuild makes the policy anew from the record; nil: it cannot be made anew. It runs
	// on the policy's worker.
	Rebuild func(ctx context.Context) (policy.Policy, error)
	// Clock is the run's.
	Clock drivers.Clock
	// Stopwatch times decisions, for the deadline and for the record.
	Stopwatch drivers.Clock
}

// Advisor is a policy on its worker. Its methods are called by the goroutine that owns the
// pool.
type Advisor struct {
	opt    Options
	pool   *worker.Pool
	policy policy.Policy
	// worker is the policy's, spare the next one that nobody uses.
	worker, spare int
	// ctx ends decisions.
	ctx    context.Context
	cancel context.CancelFunc

	// The tickets of what is under way; 0: nothing is.
	deciding, learning, recommending, rebuilding, drawing worker.Ticket
	// toRebuild says that the policy is to be made anew, as soon as Rebuild is called.
	toRebuild bool
	// best is what the policy recommends, nil where that is nothing; known says that it was asked.
	best  *policy.Recommendation
	known bool
	// unused is a decision that came when nobody wanted one any more.
	unused   *Decided
	failures failures
	drawn    drawn
	// tail is how long what follows the last unit of work of a decision that is cut is expected to take.
	tail time.Duration
}

// New returns an advisor on a worker of pool; workers from spare on are free.
func New(p policy.Policy, pool *worker.Pool, worker, spare int, o Options) *Advisor {
	return &Advisor{opt: o, pool: pool, policy: p, worker: worker, spare: spare}
}

// Begin lets decisions run until ctx ends or Stop is called.
func (a *Advisor) Begin(ctx context.Context) { a.ctx, a.cancel = context.WithCancel(ctx) }

// Stop ends the decision under way at its next unit of work.
func (a *Advisor) Stop() { a.cancel() }

// Decided is the answer to Ask.
type Decided struct {
	Proposal policy.Proposal
	Took     time.Duration
	Err      error
	tail     time.Duration // of it, what followed the last unit of work, where the deadline cut it
}

// Learnt is the answer to Learn: what the policy recommends now, nil where it can
// recommend nothing, and the size of its model.
type Learnt struct {
	Best *policy.Recommendation
	Size policy.Size
	Err  error
}

// Recommended is the answer to Recommend; Err is policy.ErrNoData where no step has given
// data.
type Recommended struct {
	Found policy.Recommendation
	Err   error
}

// Rebuilt is the answer to Rebuild. Where Err is nil the new policy is in force; Best is what
// it recommends, nil where that is nothing.
type Rebuilt struct {
	Best *policy.Recommendation
	Err  error
}

// Flushed is the answer to Flush.
type Flushed struct{}

// WantsStart says whether the policy wants to know the starting setting, which SetStart
// tells it.
func (a *Advisor) WantsStart() bool {
	_, ok := a.policy.(policy.Starter)
	return ok
}

// SetStart tells the policy the starting setting, before the first decision.
func (a *Advisor) SetStart(x []float64) {
	if s, ok := a.policy.(policy.Starter); ok {
		s.SetStart(x)
	}
}

// Ask has the policy decide. A decision that was asked for before and was not used is the
// answer at once: the policy has made it, and a replay derives each decision once. nil:
// the answer comes as Decided. The policy must not be Broken.
func (a *Advisor) Ask() *Decided {
	if d := a.unused; d != nil {
		a.unused = nil
		return d
	}
	if a.deciding != 0 || a.isRebuilding() {
		return nil // its answer is the one
	}
	a.deciding = a.pool.PostJob(a.worker, &decision{ctx: a.ctx, opt: &a.opt, policy: a.policy, best: a.best, known: a.known, expected: a.tail})
	return nil
}

// decision is the job of Ask, with what is known by then, and what comes of it.
type decision struct {
	Decided
	ctx    context.Context
	opt    *Options
	policy policy.Policy
	best   *policy.Recommendation
	known  bool
	// expected is the tail that this one is expected to have.
	expected time.Duration
}

// Do implements [worker.Job].
func (q *decision) Do() any {
	if !q.known { // it was taught before this process, or by another run
		q.best = recommended(q.policy)
	}
	q.Decided = q.opt.propose(q.ctx, q.policy, q.expected)
	why := &q.Proposal.Why
	why.Best, why.BestNoiseVariance = math.NaN(), math.NaN()
	if q.best != nil {
		why.Best, why.BestNoiseVariance = q.best.Mean, q.best.NoiseSD*q.best.NoiseSD
	}
	return q
}

// recommended is what a policy recommends, nil where that is nothing.
func recommended(p policy.Policy) (best *policy.Recommendation) {
	if err := isolated(func() error {
		r, err := p.Recommend()
		best = &r
		return err
	}); err != nil {
		return nil
	}
	return best
}

// propose runs on the policy's worker.
func (o *Options) propose(ctx context.Context, p policy.Policy, tail time.Duration) (d Decided) {
	begin := o.Stopwatch.Now()
	limiter, limits := p.(policy.WorkLimiter)
	switch {
	case o.Deadline == 0:
	case o.UnitTime != nil: // and no clock decides
		if limits {
			limiter.LimitWork(o.allowedUnits(p))
		}
	default:
		c := newPaced(ctx, o.Stopwatch, o.Deadline, tail)
		defer func() { d.tail = c.close() }()
		ctx = c
	}
	d.Err = isolated(func() (err error) { d.Proposal, err = p.Propose(ctx); return err })
	d.Took = o.Stopwatch.Now().Sub(begin)
	return d
}

// Adopted is the answer to Adopt.
type Adopted struct{ Err error }

// Adopts says whether the policy accepts a decision that it has not made, and is free for it.
func (a *Advisor) Adopts() bool {
	_, ok := a.policy.(policy.Skipper)
	return ok && a.deciding == 0 && !a.isRebuilding() && !a.Broken()
}

// Adopt has the policy accept a step that it has not decided. A decision of its own
// for that step, which was not used, is none any more. The answer is Adopted.
func (a *Advisor) Adopt(step int) {
	a.unused = nil
	p := a.policy
	a.deciding = a.pool.Post(a.worker, func() any {
		return Adopted{isolated(func() error { return p.(policy.Skipper).Skip(step) })}
	})
}

// Reserve keeps a decision that nobody wants now for the next Ask.
func (a *Advisor) Reserve(d *Decided) { a.unused = d }

// Learn teaches the policy a step. The answer is Learnt.
func (a *Advisor) Learn(step []policy.Observation) {
	a.learning = a.pool.PostJob(a.worker, &lesson{policy: a.policy, step: step})
}

// lesson is the job of Learn, and what comes of it.
type lesson struct {
	policy policy.Policy
	step   []policy.Observation
	best   policy.Recommendation
	learnt Learnt
}

// Do implements [worker.Job].
func (l *lesson) Do() any {
	l.learnt.Err = isolated(l.learn)
	return l
}

func (l *lesson) learn() (err error) {
	for _, o := range l.step {
		if err := l.policy.Observe(o); err != nil {
			return fmt.Errorf("learn step %d: %w", o.Step, err)
		}
	}
	if sized, ok := l.policy.(policy.Sizer); ok {
		l.learnt.Size = sized.Size()
	}
	if l.best, err = l.policy.Recommend(); err == nil {
		l.learnt.Best = &l.best
	}
	return nil
}

// Recommend asks for the best setting by the policy's lower bound. The answer is
// Recommended.
func (a *Advisor) Recommend() {
	p := a.policy
	a.recommending = a.pool.Post(a.worker, func() any {
		var r Recommended
		r.Err = isolated(func() (err error) { r.Found, err = p.Recommend(); return err })
		return r
	})
}

// Flush is answered by Flushed when everything that was asked for has been done.
func (a *Advisor) Flush() { a.pool.Post(a.worker, func() any { return Flushed{} }) }

// Broken says that the policy must be made anew before it is asked.
func (a *Advisor) Broken() bool { return a.failures.broken }

// isRebuilding says that the policy is being made anew.
func (a *Advisor) isRebuilding() bool { return a.toRebuild || a.rebuilding != 0 }

// BeginRebuild forgets what a broken policy was asked; Rebuild follows when the record is
// complete. It reports false where the policy cannot be made anew and is asked as it is.
func (a *Advisor) BeginRebuild() bool {
	a.failures.broken = false
	if a.opt.Rebuild == nil {
		return false
	}
	a.toRebuild, a.deciding, a.unused = true, 0, nil
	return true
}

// Rebuild makes the policy anew from the record. The answer is Rebuilt.
func (a *Advisor) Rebuild() {
	a.toRebuild = false
	ctx := a.ctx
	a.rebuilding = a.pool.Post(a.worker, func() any {
		var r rebuilt
		r.err = isolated(func() (err error) {
			if r.policy, err = a.opt.Rebuild(ctx); err != nil {
				return err
			}
			if best, err := r.policy.Recommend(); err == nil {
				r.best = &best
			}
			return nil
		})
		return r
	})
}

type rebuilt struct {
	policy policy.Policy
	best   *policy.Recommendation
	err    error
}

// Handle takes in a result of the pool. It returns the event that follows, or nil where
// the answer is one that nobody waits for any more; mine says that the result was the
// advisor's.
func (a *Advisor) Handle(r worker.Result) (event any, mine bool) {
	switch v := r.Value.(type) {
	case *decision:
		if arrived(&a.deciding, r.Ticket) {
			a.expectTail(v.tail)
			return &v.Decided, true
		}
	case Adopted:
		if arrived(&a.deciding, r.Ticket) {
			return r.Value, true
		}
	case *lesson:
		if arrived(&a.learning, r.Ticket) {
			a.best, a.known = v.learnt.Best, v.learnt.Err == nil
			return &v.learnt, true
		}
	case Recommended:
		if arrived(&a.recommending, r.Ticket) {
			return r.Value, true
		}
	case rebuilt:
		if arrived(&a.rebuilding, r.Ticket) {
			if v.err == nil {
				a.policy = v.policy
			}
			a.best, a.known = v.best, v.err == nil
			a.failures.broken = v.err != nil
			return Rebuilt{v.best, v.err}, true
		}
	case picture:
		if arrived(&a.drawing, r.Ticket) {
			return a.drawn.note(v, a.opt.Clock.Now()), true
		}
	case Flushed:
		return v, true
	default:
		return nil, false
	}
	return nil, true
}

// arrived reports whether t is the awaited ticket, which is then awaited no more.
func arrived(awaited *worker.Ticket, t worker.Ticket) bool {
	if *awaited != t {
		return false
	}
	*awaited = 0
	return true
}

// errPanicked: the policy has no state any more that could be asked.
var errPanicked = errors.New("the policy panicked")

// isolated runs what belongs to the policy: a panic becomes an error.
func isolated(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", errPanicked, r)
		}
	}()
	return f()
}
