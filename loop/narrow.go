package loop

import (
	"context"
	"fmt"
	"slices"

	"github.com/labtuner/tuner/loop/guard"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

// Narrower brings narrower limits to a running loop, from any goroutine. A nil one
// brings none.
type Narrower struct{ asked chan narrowing }

// NewNarrower returns one for Deps.
func NewNarrower() *Narrower { return &Narrower{asked: make(chan narrowing)} }

type narrowing struct {
	next   *plan.Options
	words  string
	answer chan error
}

// Narrow has the loop go on by the limits of next, which is the options that it runs by with
// tighter ones: Safety, the variables' and sensors' Limits as safety.Limits.Within has
// it; ranges and stop conditions are what Deps.Amend changes. words tell the record what
// was changed. Where anything is wider, or an actuator stands where a new hard bound
// would not let it be, all of it is refused: the error wraps ErrNotNarrower or
// safety.ErrLimits, and the run goes on unchanged. Else it is nil, and the change acts
// from the next tick on.
func (n *Narrower) Narrow(ctx context.Context, next plan.Options, words string) error {
	q := narrowing{&next, words, make(chan error, 1)}
	select {
	case n.asked <- q:
	case <-ctx.Done():
		return ctx.Err()
	}
	return <-q.answer
}

func (n *Narrower) asks() <-chan narrowing {
	if n == nil {
		return nil
	}
	return n.asked
}

// narrow answers one request, on the loop's goroutine.
func (l *Loop) narrow(q narrowing) { q.answer <- l.narrowTo(q.next, q.words) }

func (l *Loop) narrowTo(next *plan.Options, words string) error {
	if l.phase >= homing {
		return fmt.Errorf("%w: and this one is ending", plan.ErrNotNarrower)
	}
	if len(next.Variables) != len(l.opt.Variables) || len(next.Sensors) != len(l.opt.Sensors) {
		return fmt.Errorf("%w: variables or sensors are others", plan.ErrNotNarrower)
	}
	err := l.guard.Narrow(next, l.endsByItself, func(i int) guard.Stand {
		wanted, driven := l.instrument.Wanted(i)
		return guard.Stand{Written: l.instrument.Written(i), Wanted: wanted, Driven: driven}
	})
	if err != nil {
		return err
	}
	l.opt.Safety = next.Safety
	l.opt.Variables = slices.Clone(l.opt.Variables) // the caller's stay as they are
	for i := range l.opt.Variables {
		l.opt.Variables[i].Limits = next.Variables[i].Limits
	}
	l.event("info", journal.EventConfiguration, words)
	from := l.stepper.steps + 1
	if l.stepper.step.open { // its decision has been made
		from++
	}
	l.stepper.changes.tellKept(from)
	return nil
}
