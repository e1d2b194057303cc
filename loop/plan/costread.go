package plan

import (
	"errors"
	"fmt"
	"math"

	"github.com/labtuner/tuner/loop/journal"
)

// greatestCost is what a reading is believed up to: [Money] holds nine times as much.
const greatestCost = 1e9

// readCost is what the control set of a step has cost by the sensors: the mean over its shots that tell.
//
// Errors: no shot tells, or the mean is negative or above greatestCost.
func (c *Cost) readCost(shots []journal.Shot) (float64, error) {
	sum, n := 0.0, 0
	last := errors.New("no shot was taken")
	for i := range shots {
		cost, err := c.Reading(shots[i].Sensors)
		if err == nil && !finite(cost) {
			err = fmt.Errorf("reads %g", cost)
		}
		if err != nil {
			last = err
			continue
		}
		sum += cost
		n++
	}
	switch mean := sum / float64(n); {
	case n == 0:
		return 0, last
	case !(mean >= 0 && mean <= greatestCost):
		return 0, fmt.Errorf("reads %g %s, and a cost is from 0 to %g", mean, c.Unit, greatestCost)
	default:
		return mean, nil
	}
}

// AtMost is what has to be left for the step, before it: where the control set's cost is read, the most that
// one of its steps was charged so far.
func (s *Step) AtMost(o *Options, shots int, paid *Ledger) Money {
	if s.learnt(o, paid) {
		return paid.Most[s.Set]
	}
	return s.Cost(o, shots)
}

// Unread is what the step is charged where its cost should have been read and was not: the mean of what its
// control set's steps were charged so far.
func (s *Step) Unread(o *Options, shots int, paid *Ledger) Money {
	if s.learnt(o, paid) {
		return paid.BySet[s.Set] / Money(paid.Plays[s.Set])
	}
	return s.Cost(o, shots)
}

// learnt reports whether steps before say what the step will cost.
func (s *Step) learnt(o *Options, paid *Ledger) bool {
	return s.Set >= 0 && o.Cost.Reading != nil && paid.Plays[s.Set] > 0
}

// Charge is what the step is charged, of which these shots were taken, and why its cost was not read, nil
// where it was or is given. paid is what steps before were charged.
func (s *Step) Charge(o *Options, shots []journal.Shot, paid *Ledger) (Money, error) {
	if s.Set < 0 || o.Cost.Reading == nil {
		return s.Cost(o, len(shots)), nil
	}
	read, err := o.Cost.readCost(shots)
	if err != nil {
		return s.Unread(o, len(shots), paid), err
	}
	return o.Cost.stepCost(Bill{Set: read, Setting: s.Setting, Shots: len(shots), Moved: s.Moved}), nil
}

// setCost is what the control set of a step has cost as the policy counts it, with what every step costs;
// NaN where it was not read.
func (o *Options) setCost(c Concluded) float64 {
	if o.Cost.Reading == nil || c.Set < 0 {
		return math.NaN()
	}
	read, err := o.Cost.readCost(c.Shots)
	if err != nil {
		return math.NaN()
	}
	return o.PerStep(read)
}

// PerStep is the price of a control set with what every step of the configured shots costs.
func (o *Options) PerStep(set float64) float64 {
	return set + o.Cost.PerStep + float64(o.Objective.Shots)*o.Cost.PerShot
}
