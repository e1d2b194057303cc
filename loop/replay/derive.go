package replay

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/safety"
)

// derive proposes and compares; own is the step as the policy counts.
func (p *Decisions) derive(ctx context.Context, d journal.Decision, own int) (*Difference, error) {
	if limiter, ok := p.Policy.(policy.WorkLimiter); ok {
		limiter.LimitWork(0)
		if d.Cut {
			limiter.LimitWork(d.Work)
		}
	}
	q, err := p.Policy.Propose(ctx)
	switch skipper, skips := p.Policy.(policy.Skipper); {
	case ctx.Err() != nil: // the decision was cut
		return nil, context.Cause(ctx)
	case err != nil && p.Lenient && skips: // it was made all the same
		return differ(d.Step, "decision", fmt.Sprintf("control set %d", d.ControlSet), err), skipper.Skip(own)
	case errors.Is(err, policy.ErrBudget):
		return differ(d.Step, "decision", fmt.Sprintf("control set %d", d.ControlSet), err), nil
	case err != nil:
		return nil, fmt.Errorf("derive step %d: %w", d.Step, err)
	}
	return p.compare(d, q), nil
}

// compare gives the first difference between what was recorded and what is proposed.
func (p *Decisions) compare(d journal.Decision, q policy.Proposal) *Difference {
	differs := func(what string, recorded, derived any) *Difference { return differ(d.Step, what, recorded, derived) }
	switch {
	case q.ControlSet != d.ControlSet:
		return differs("control set", d.ControlSet, q.ControlSet)
	case q.Initial != d.Initial:
		return differs("belongs to the initial design", d.Initial, q.Initial)
	case q.Shots != d.Shots:
		return differs("number of shots asked for", d.Shots, q.Shots)
	case len(q.X) != len(d.Requested):
		return differs("number of variables", len(d.Requested), len(q.X))
	}
	for i, v := range p.Options.Variables {
		if exactly(q.X[i]) != exactly(d.Requested[i]) {
			return differs("setting of "+v.Name, exactly(d.Requested[i]), exactly(q.X[i]))
		}
		if math.IsNaN(q.X[i]) {
			continue
		}
		// What was recorded replaces it where the proposal is no number: then the bounds
		// fall back on where the variable was, which is not kept.
		bounds := p.bounds(i, d.Step)
		applied, _ := bounds.Clamp(q.X[i], d.Applied[i])
		if exactly(applied) != exactly(d.Applied[i]) {
			return differs("destination of "+v.Name+" within its bounds", exactly(d.Applied[i]), exactly(applied))
		}
	}
	if q.Work != d.Work {
		return differs("work units", d.Work, q.Work)
	}
	return nil
}

// bounds are what the decision of a step kept to.
func (p *Decisions) bounds(variable, step int) safety.VariableLimits {
	for _, n := range slices.Backward(p.narrowed) {
		if step >= n.From {
			return plan.Within(&n.Limits.Variables[variable], n.Ranges[variable])
		}
	}
	return p.Options.Variables[variable].Limits
}

// exactly writes a number so that two texts are equal where the numbers are, to the
// last bit; all NaN are one.
func exactly(v float64) string {
	if math.IsNaN(v) {
		return "random"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
