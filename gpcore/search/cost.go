package search

import "github.com/labtuner/tuner/gpcore/internal/vec"

// UnitCost is how many multiply-adds a unit of work takes at most, about, where a single value does
// not take more: a few milliseconds of a fast processor. Units that would take more are divided, so that a
// search ends soon after its context, however many observations there are.
const UnitCost = 1 << 26

// Costed is an objective that says what it costs. Without, its units are not divided.
type Costed interface {
	// Cost is about how many multiply-adds one value takes, and one of the surrogate.
	Cost() (value, surrogate float64)
}

// costs are those of one value of an objective, and of its surrogate; 0: not known.
type costs struct{ value, surrogate float64 }

func costsOf(o Objective) costs {
	c, ok := o.(Costed)
	if !ok {
		return costs{}
	}
	value, surrogate := c.Cost()
	return costs{value, surrogate}
}

// parts is how many of n equal pieces of work, of so many multiply-adds each, a unit does.
func parts(n int, cost float64) int {
	if cost*float64(n) <= UnitCost {
		return n
	}
	return max(1, int(UnitCost/cost))
}

// screened is how many points a unit screens: whole panels where they are watched.
func (c costs) screened(watched bool) int {
	n := parts(screenUnit, c.surrogate)
	if watched {
		return max(vec.Lanes, n/vec.Lanes*vec.Lanes)
	}
	return n
}

// rounds is how many rounds of gradients of so many climbers, each of twice a value's cost, a unit serves.
func (c costs) rounds(climbers int, onSurrogate bool) int {
	cost := c.value
	if onSurrogate {
		cost = c.surrogate
	}
	return parts((stepwise+1)*refineRounds, 2*cost*float64(climbers))
}

// improvements is how many times a unit moves a best point in d coordinates: each climbs it, and looks
// at its neighbours.
func (c costs) improvements(d int) int {
	return parts(stepwise, c.value*float64(2*refineRounds+2*d))
}
