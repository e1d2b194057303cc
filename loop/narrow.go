package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
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
// it, ranges of variables inside the present ones, and Stop. words tell the record what
// was changed. Where anything is wider, or an actuator stands where a new hard bound
// would not let it be, all of it is refused: the error wraps ErrNotNarrower or
// safety.ErrLimits, and the run goes on unchanged. Else it is nil, and the change acts
// from the next tick on: a range from the next decision.
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
	limits, err := plan.SafetyLimits(next, l.start.Round(0))
	if err != nil {
		return err
	}
	for i := range limits.Bypasses {
		limits.Bypasses[i].Until += l.base
	}
	l.letDosesEnd(&limits)
	if err := limits.Within(&l.limits); err != nil {
		return err
	}
	if err := errors.Join(l.rangesInside(next), l.opt.Stop.Outlasts(next.Stop)); err != nil {
		return err
	}
	for i := range l.opt.Variables {
		if err := l.standsInside(i, &limits.Variables[i]); err != nil {
			return err
		}
	}
	l.limits, l.opt.Safety, l.opt.Stop = limits, next.Safety, next.Stop
	l.opt.Variables = slices.Clone(l.opt.Variables) // the caller's stay as they are
	l.ranges = make([][2]float64, len(l.opt.Variables))
	for i := range l.opt.Variables {
		l.opt.Variables[i].Limits = next.Variables[i].Limits
		l.ranges[i] = [2]float64{next.Variables[i].Low, next.Variables[i].High}
	}
	return l.tellNarrowed(words)
}

// rangesInside refuses ranges that reach beyond the present ones.
func (l *Loop) rangesInside(next *plan.Options) error {
	for i := range next.Variables {
		v, before := &next.Variables[i], l.rangeOf(i)
		if !(v.Low >= before[0] && v.High <= before[1] && v.Low < v.High) {
			return fmt.Errorf("%w: range [%g, %g] of variable %q is not inside [%g, %g]", plan.ErrNotNarrower, v.Low, v.High, v.Name, before[0], before[1])
		}
	}
	return nil
}

// rangeOf is what decisions may ask of a variable.
func (l *Loop) rangeOf(i int) [2]float64 {
	if l.ranges != nil {
		return l.ranges[i]
	}
	return [2]float64{l.opt.Variables[i].Low, l.opt.Variables[i].High}
}

// standsInside refuses a bound that an actuator could keep only by a jump: where it
// stands, and where it is going, must lie inside.
func (l *Loop) standsInside(i int, limits *safety.VariableLimits) error {
	v := &l.safety.Variable[i]
	at := []float64{l.instrument.Written(i)}
	if dest, driven := l.instrument.Wanted(i); driven {
		at = append(at, dest)
	}
	if v.Known {
		at = append(at, v.Way, v.Setpoint)
	}
	for _, x := range at {
		if x < limits.Low || x > limits.High {
			return fmt.Errorf("%w: variable %q is at or on its way to %g, outside [%g, %g]: narrow its range first, and its hard limits when a step has brought it inside",
				plan.ErrNotNarrower, l.opt.Variables[i].Name, x, limits.Low, limits.High)
		}
	}
	return nil
}

func (l *Loop) tellNarrowed(words string) error {
	n := plan.Narrowed{From: l.steps + 1, Ranges: l.ranges, Limits: l.limits}
	if l.step.open { // its decision has been made
		n.From++
	}
	text, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("record the narrower limits: %w", err)
	}
	l.event("info", journal.EventConfiguration, words)
	at := l.stamp()
	l.record("event", func(j *journal.Journal) error {
		return j.Log(journal.Event{Level: "info", Kind: journal.EventNarrowed, Message: string(text), Step: n.From, At: at})
	}, nil)
	return nil
}

// bounds are what decisions about a variable keep to: the hard bounds, and a range
// that was narrowed since the policy learnt of it.
func (l *Loop) bounds(i int) safety.VariableLimits {
	if l.ranges == nil {
		return l.limits.Variables[i]
	}
	return plan.Within(&l.limits.Variables[i], l.ranges[i])
}
