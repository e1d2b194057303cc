package guard

import (
	"strings"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// Readings is what was read last, by which causes are explained.
type Readings interface {
	// Sensor and Variable are what was believed, OddSensor what was not.
	Sensor(i int) plan.Reading
	OddSensor(i int) plan.Reading
	Variable(i int) plan.Reading
	// Written is what the device of variable i acknowledged last.
	Written(i int) float64
	// Answer is what a channel gave in place of a value, Odd what the channel of variable i did.
	Answer(c plan.Channel) string
	Odd(i int) string
}

// explainer says causes in words to a person.
type explainer struct {
	plan     *plan.Options
	limits   *safety.Limits
	state    *safety.State
	readings Readings
	devices  []string
	clock    drivers.Clock
}

// Causes says in words what a set of causes is about.
func (g *Guard) Causes(c safety.Causes) string {
	var out []string
	for r, i := range c.All() {
		out = append(out, g.cause(r, i))
	}
	if len(out) == 0 {
		return "an operator asked for it"
	}
	return strings.Join(out, ", ")
}

// cause says in words what a cause is about.
func (g *Guard) cause(r safety.Rule, i int) string {
	text := g.explain.causeWords(r, i)
	if r == safety.RuleRecord && !g.found.Has(r) {
		text += ": " + g.Problem()
	}
	return text
}

// Active says what holds now, Refused what keeps a command from being followed.
func (g *Guard) Active() string  { return g.Causes(g.out.Active) }
func (g *Guard) Refused() string { return g.Causes(g.out.Refused) }

// Story is the first-out, and what has been latched after it.
func (g *Guard) Story() string {
	later := g.state.Latched
	for r := range later {
		later[r] = later[r].Without(g.state.FirstOut[r])
	}
	if later.Empty() {
		return g.Causes(g.state.FirstOut)
	}
	return g.Causes(g.state.FirstOut) + "; then " + g.Causes(later)
}

// All is what holds now and what is latched, FirstOut what came first.
func (g *Guard) All() []control.Cause {
	all := g.out.Active
	all.Join(&g.state.Latched)
	return g.list(all)
}

func (g *Guard) FirstOut() []control.Cause { return g.list(g.state.FirstOut) }

// list names causes; never nil, so that it is a list as JSON too.
func (g *Guard) list(set safety.Causes) []control.Cause {
	out := []control.Cause{}
	for r, i := range set.All() {
		out = append(out, control.Cause{Rule: r.String(), Of: g.explain.subject(r, i), Latched: g.state.Latched[r].Has(i), Text: g.cause(r, i)})
	}
	return out
}
