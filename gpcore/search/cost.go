package search

import "github.com/labtuner/tuner/gpcore/internal/vec"

// UnitCost is how many multiply-adds a unit of work takes at most, about, where a single value does
// not take more: about a millisecond of a fast processor. Units that would take more are divided, so that a
// search ends soon after its context, however many observations there are.
const UnitCost = 1 << 24

// metricCost is how many multiply-adds of values take as long as a climber's step for an element of its inverse
// Hessian, about: some 3 us in 40 coordinates.
const metricCost = 32

// Costed is an objective that says what it costs. Without, its units are not divided.
type Costed interface {
	Cost() Costs
}

// Costs are about how many multiply-adds a value of an objective takes among many, and one of its surrogate, 0 where that is not
// known; and the objective's gradient among few, where that is not twice as many as a value.
type Costs struct{ Value, Surrogate, Gradient float64 }

// Plus are the costs of both.
func (c Costs) Plus(o Costs) Costs {
	return Costs{c.Value + o.Value, c.Surrogate + o.Surrogate, c.gradient() + o.gradient()}
}

func (c Costs) gradient() float64 {
	if c.Gradient > 0 {
		return c.Gradient
	}
	return 2 * c.Value
}

func costsOf(o Objective) Costs {
	if c, ok := o.(Costed); ok {
		return c.Cost()
	}
	return Costs{}
}

// parts is how many of n equal pieces of work, of so many multiply-adds each, a unit does.
func parts(n int, cost float64) int {
	if cost*float64(n) <= UnitCost {
		return n
	}
	return max(1, int(UnitCost/cost))
}

// screened is how many points a unit screens: whole panels where they are watched.
func (c Costs) screened(watched bool) int {
	n := parts(screenUnit, c.Surrogate)
	if watched {
		return max(vec.Lanes, n/vec.Lanes*vec.Lanes)
	}
	return n
}

// rounds is how many rounds of so many climbers in d coordinates a unit serves, each of a gradient and a step.
func (c Costs) rounds(climbers, d int, onSurrogate bool) int {
	cost := c.gradient()
	if onSurrogate && c.Value > 0 {
		cost *= c.Surrogate / c.Value
	}
	if cost > 0 {
		cost += metricCost * float64(d*d)
	}
	return parts((stepwise+1)*refineRounds, cost*float64(climbers))
}

// improvements is how many times a unit moves a best point in d coordinates: each climbs it, and looks
// at its neighbours.
func (c Costs) improvements(d int) int {
	return parts(stepwise, c.gradient()*refineRounds+c.Value*float64(2*d))
}
