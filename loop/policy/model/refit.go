package model

import (
	"context"
	"errors"
	"slices"
)

// Refits runs the hyperparameter fits on a schedule of steps. A fit is launched at
// the boundary before a step, with the observations known then; it runs on a
// goroutine of its own while the step is decided and measured, and comes into force
// lag boundaries later, where the caller waits for it. So neither its data nor the
// step at which it is used depends on how long it takes. The first fit comes into
// force at once: it has only the initial design to look at.
type Refits struct {
	Every, Lag int
	last       int  // boundary of the latest launch; 0: none yet
	unchanged  bool // the latest fit has left the hyperparameters in force
	Pending    *PendingFit
	memory     fitMemory // of the fits, of which one goes on at a time
}

// PendingFit is a fit under way or about to start.
type PendingFit struct {
	Task    *FitTask
	Due     int // the step at which it comes into force
	Started bool
	Done    chan struct{}
	hyper   *Hyper
	Err     error
	loaded  *loading // with the rows that are expected at the boundary; nil: nobody has said that they are complete
}

// loading is a model that is loaded with a fit's hyperparameters beside the one in force.
type loading struct {
	rows  int // how many had ever been learnt
	model *Model
	err   error
	done  chan struct{}
}

// load loads the rows of a model by the fit, as soon as it has ended, on a goroutine of its own.
func (p *PendingFit) load(m *Model) {
	l := &loading{rows: m.Data.made, done: make(chan struct{})}
	l.model = &Model{Rules: m.Rules, Data: Store{Capacity: m.Data.Capacity, Dims: m.Data.Dims, Rows: slices.Clone(m.Data.Rows)}}
	p.loaded = l
	go func() {
		defer close(l.done)
		if <-p.Done; p.Err == nil && !p.kept() {
			l.err = l.model.adopt(p.hyper)
		}
	}()
}

// kept reports whether a fit that has ended left the hyperparameters that it began with.
func (p *PendingFit) kept() bool { return p.hyper != nil && p.hyper == p.Task.start }

// launch prepares a fit without starting it.
func (r *Refits) launch(t *FitTask) {
	due := t.step + r.Lag
	if r.last == 0 {
		due = t.step
	}
	r.last, t.memory = t.step, &r.memory
	r.Pending = &PendingFit{Task: t, Due: due, Done: make(chan struct{})}
}

// Start begins the pending fit, if any. The goroutine ends by itself: a fit's work
// is bounded.
func (r *Refits) Start() {
	p := r.Pending
	if p == nil || p.Started {
		return
	}
	p.Started = true
	go func() {
		defer close(p.Done)
		p.hyper, p.Err = p.Task.run(context.Background())
	}()
}

// join waits for the pending fit if it is due at step. A deadline does not end the
// wait, because what comes into force when must not depend on the clock, and a
// fit's work is bounded; where it can be paused, the wait does not count in it. A cancellation ends it, and leaves the
// fit pending.
func (r *Refits) join(ctx context.Context, step int) (*PendingFit, error) {
	p := r.Pending
	if p == nil || step < p.Due {
		return nil, nil
	}
	r.Start()
	defer waiting(ctx, p.Done)()
	ended := ctx.Done()
	for {
		select {
		case <-p.Done:
			r.Pending = nil
			return p, nil
		case <-ended:
			if errors.Is(ctx.Err(), context.Canceled) {
				return nil, ctx.Err()
			}
			ended = nil
		}
	}
}

// waiting has a context whose deadline can be paused not count the wait for a fit that has not ended, and returns what
// ends the pause.
func waiting(ctx context.Context, done <-chan struct{}) (over func()) {
	select {
	case <-done:
		return func() {}
	default:
	}
	if c, ok := ctx.(interface{ Pause() (resume func()) }); ok {
		return c.Pause()
	}
	return func() {}
}

// due reports whether a new fit is to be launched before step.
func (r *Refits) due(step int) bool {
	return r.Pending == nil && (r.last == 0 || step-r.last >= r.Every)
}
