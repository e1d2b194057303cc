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

// takeFit puts the pending fit in force if it is due and tells of it; nil: there was
// none. A fit that failed leaves things as they are.
func (m *model) takeFit(ctx context.Context, step int) (*Fit, error) {
	p, err := m.refits.join(ctx, step)
	if err != nil || p == nil {
		return nil, err
	}
	note := Fit{Err: p.err}
	if p.err == nil {
		if err := m.adopt(p.hyper); err != nil {
			return nil, err
		}
		note = p.hyper.describe()
	}
	note.Through = p.task.step - 1
	return &note, nil
}

// launchFit prepares a fit before a step if one is to be, and takes it where it comes
// into force at once.
func (m *model) launchFit(ctx context.Context, step int) (*Fit, error) {
	if !m.fits() || !m.refits.due(step) {
		return nil, nil
	}
	m.refits.launch(m.task(step))
	return m.takeFit(ctx, step)
}

// startFit lets the fit that was launched at this boundary run in the background.
func (m *model) startFit() { m.refits.start() }

// due says that a new fit is to be launched before step.
func (r *refits) due(step int) bool {
	return r.pending == nil && (r.last == 0 || step-r.last >= r.every)
}
