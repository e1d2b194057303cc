package policy

import (
	"context"
	"errors"
)

// refits runs the hyperparameter fits on a schedule of steps. A fit is launched at
// the boundary before a step, with the observations known then; it runs on a
// goroutine of its own while the step is decided and measured, and comes into force
// lag boundaries later, where the caller waits for it. So neither its data nor the
// step at which it is used depends on how long it takes. The first fit comes into
// force at once: it has only the initial design to look at.
type refits struct {
	every, lag int
	last       int // boundary of the latest launch; 0: none yet
	pending    *pendingFit
}

// pendingFit is a fit under way or about to start.
type pendingFit struct {
	task    *fitTask
	due     int // the step at which it comes into force
	started bool
	done    chan struct{}
	hyper   *hyper
	err     error
}

// launch prepares a fit without starting it.
func (r *refits) launch(t *fitTask) {
	due := t.step + r.lag
	if r.last == 0 {
		due = t.step
	}
	r.last = t.step
	r.pending = &pendingFit{task: t, due: due, done: make(chan struct{})}
}

// start begins the pending fit, if any. The goroutine ends by itself: a fit's work
// is bounded.
func (r *refits) start() {
	p := r.pending
	if p == nil || p.started {
		return
	}
	p.started = true
	go func() {
		defer close(p.done)
		p.hyper, p.err = p.task.run(context.Background())
	}()
}

// join waits for the pending fit if it is due at step. A deadline does not end the
// wait, because what comes into force when must not depend on the clock, and a
// fit's work is bounded; a cancellation does, and leaves the fit pending.
func (r *refits) join(ctx context.Context, step int) (*pendingFit, error) {
	p := r.pending
	if p == nil || step < p.due {
		return nil, nil
	}
	r.start()
	ended := ctx.Done()
	for {
		select {
		case <-p.done:
			r.pending = nil
			return p, nil
		case <-ended:
			if errors.Is(ctx.Err(), context.Canceled) {
				return nil, ctx.Err()
			}
			ended = nil
		}
	}
}

// due says that a new fit is to be launched before step.
func (r *refits) due(step int) bool {
	return r.pending == nil && (r.last == 0 || step-r.last >= r.every)
}
