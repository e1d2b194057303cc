package safety

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// Within refuses limits that are not at least as tight as those of w in everything, or
// that are of other things. Limits that are within those of a running layer may take
// their place between two ticks. What may be tighter: hard bounds, slew, dwell, time
// above a value, the longest hold, the silence of a link, what a sensor may do in time,
// the ranges of interlocks and permissives, how soon a change must show, budgets of
// doses. All else must be equal, also what this function does not know. The error wraps
// ErrLimits.
func (l *Limits) Within(w *Limits) error {
	if len(l.Variables) != len(w.Variables) || len(l.Sensors) != len(w.Sensors) || len(l.Interlocks) != len(w.Interlocks) ||
		len(l.Permissives) != len(w.Permissives) || len(l.Responses) != len(w.Responses) || len(l.Doses) != len(w.Doses) {
		return fmt.Errorf("%w: they are of other things", ErrLimits)
	}
	c := comparison{rest: l.clone()}
	c.shorter("hold", &c.rest.HoldMax, w.HoldMax, false)
	c.shorter("silence of a link", &c.rest.Comms, w.Comms, true)
	for i := range c.rest.Variables {
		c.variable(&c.rest.Variables[i], &w.Variables[i])
	}
	for i := range c.rest.Sensors {
		a, b := &c.rest.Sensors[i], &w.Sensors[i]
		lower(&c, "rate", &a.Rate, b.Rate, true)
		lower(&c, "stuck", &a.Stuck, b.Stuck, true)
		lower(&c, "tolerance", &a.Tolerance, b.Tolerance, false)
		c.shorter("time of disagreement", &a.AgreeTime, b.AgreeTime, false)
	}
	for _, pair := range [][2][]Condition{{c.rest.Interlocks, w.Interlocks}, {c.rest.Permissives, w.Permissives}} {
		for i := range pair[0] {
			c.inside("condition", &pair[0][i].Low, &pair[0][i].High, [2]float64{pair[1][i].Low, pair[1][i].High})
		}
	}
	for i := range c.rest.Responses {
		c.shorter("response", &c.rest.Responses[i].Within, w.Responses[i].Within, false)
	}
	for i := range c.rest.Doses {
		c.dose(&c.rest.Doses[i], &w.Doses[i])
	}
	if c.err == nil && !reflect.DeepEqual(&c.rest, w) {
		c.err = fmt.Errorf("%w: something else than the tightness of a limit differs", ErrLimits)
	}
	return c.err
}

func (l *Limits) clone() Limits {
	c := *l
	c.Variables, c.Sensors, c.Responses, c.Doses = slices.Clone(l.Variables), slices.Clone(l.Sensors), slices.Clone(l.Responses), slices.Clone(l.Doses)
	c.Interlocks, c.Permissives = slices.Clone(l.Interlocks), slices.Clone(l.Permissives)
	return c
}

// comparison looks at one limit after another and makes those it has found tighter equal, so
// that what is left over must be equal.
type comparison struct {
	rest Limits
	err  error
}

func (c *comparison) refuse(what string, got, most any) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: %s of %v is wider than %v", ErrLimits, what, got, most)
	}
}

// lower wants *a at most b; where zero means that there is no bound, a bound is tighter.
func lower[T cmp.Ordered](c *comparison, what string, a *T, b T, zeroIsNone bool) {
	var none T
	unbounded := zeroIsNone && b == none
	if !unbounded && (*a > b || zeroIsNone && *a == none) || *a != *a {
		c.refuse(what, *a, b)
	}
	*a = b
}

func (c *comparison) shorter(what string, a *time.Duration, b time.Duration, zeroIsNone bool) {
	lower(c, what, a, b, zeroIsNone)
}

func (c *comparison) longer(what string, a *time.Duration, b time.Duration) {
	if *a < b {
		c.refuse(what, *a, b)
	}
	*a = b
}

func (c *comparison) inside(what string, low, high *float64, w [2]float64) {
	if !(*low >= w[0] && *high <= w[1]) {
		c.refuse(what, fmt.Sprintf("[%g, %g]", *low, *high), fmt.Sprintf("[%g, %g]", w[0], w[1]))
	}
	*low, *high = w[0], w[1]
}

func (c *comparison) variable(a, b *VariableLimits) {
	if a.OnFault != RestNone {
		c.inside("hard bounds", &a.Low, &a.High, [2]float64{b.Low, b.High})
		lower(c, "slew", &a.SlewUp, b.SlewUp, false)
		lower(c, "slew", &a.SlewDown, b.SlewDown, false)
	}
	c.longer("dwell", &a.Dwell, b.Dwell)
	if b.AboveTime > 0 { // else any exposure limit is tighter than none
		lower(c, "exposure above", &a.Above, b.Above, false)
	}
	a.Above = b.Above
	c.shorter("time above a value", &a.AboveTime, b.AboveTime, true)
}

func (c *comparison) dose(a, b *DoseLimits) {
	lower(c, "dose", &a.PerDose, b.PerDose, false)
	lower(c, "budget of an hour", &a.Hour, b.Hour, true)
	lower(c, "budget of a day", &a.Day, b.Day, true)
	lower(c, "budget of a run", &a.Run, b.Run, true)
	lower(c, "reservoir", &a.Reservoir, b.Reservoir, true)
	c.longer("interval between doses", &a.MinInterval, b.MinInterval)
}
