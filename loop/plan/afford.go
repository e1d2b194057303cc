package plan

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/labtuner/tuner/loop/journal"
)

// verifyShots is how many shots each step of the comparison takes.
func (o *Options) verifyShots() int {
	if o.Verify.Risk > 0 {
		return max(o.Objective.Shots, 2) // one shot says nothing of its scatter
	}
	return o.Objective.Shots
}

// shotsOf is how many shots a step takes: as many as its decision says, else as are
// configured.
func (o *Options) shotsOf(d *journal.Decision) int {
	if d.Compared.Comparison > 0 {
		return o.verifyShots()
	}
	return cmp.Or(d.Shots, o.Objective.Shots)
}

// Unverifiable says why no comparison can follow the search whatever that finds, "" where
// one may: every pair is two steps, which cost what their control set and shots cost at
// least, and takes as long as the settling on both sides.
func (o *Options) Unverifiable() string {
	if o.Verify.Pairs == 0 {
		return cmp.Or(o.Verify.Why, "it was not asked for")
	}
	cost, wait := Money(math.MaxInt64), time.Duration(math.MaxInt64)
	for i := range o.ControlSets {
		step := o.Cost.stepCost(Bill{Set: o.ControlSets[i].Cost, Shots: o.verifyShots()})
		cost = min(cost, step.Plus(step))
		settle := time.Duration(math.MaxInt64)
		for _, v := range o.ControlSets[i].Variables { // the settings may differ in one only
			settle = min(settle, o.Variables[v].Settle)
		}
		wait = min(wait, 2*settle)
	}
	if limit := o.Verify.Cost; limit > 0 && o.Cost.Reading == nil && MinPairs*cost.Float() > limit { // what is read is not known yet
		return fmt.Sprintf("a pair costs %s at least, so %d cost more than the %s that stop.verify_cost allows", o.Sum(cost.Float()), MinPairs, o.Sum(limit))
	}
	if limit := o.Verify.Time; limit > 0 && wait > limit/MinPairs {
		return fmt.Sprintf("a pair takes %v to settle at least, so %d take longer than the %v that stop.verify_time allows", wait, MinPairs, limit)
	}
	return ""
}

// Sum writes an amount with its unit.
func (o *Options) Sum(x float64) string {
	return strings.TrimRight(fmt.Sprintf("%.4g %s", x, o.Cost.Unit), " ")
}

// PairSoFar is what the search tells of a pair of steps: how long it takes (0: nobody knows), and what
// steps were charged.
type PairSoFar struct {
	Time time.Duration
	Paid *Ledger
}

// affordablePairs is how many pairs of a comparison fit in what it may cost and take, or why
// they are too few.
func (o *Options) affordablePairs(c journal.Comparison, pair PairSoFar) (pairs int, why string) {
	pairs = c.Pairs
	if limit := o.Verify.Cost; limit > 0 {
		cost := o.pairCost(c, pair.Paid)
		if fits := limit / cost; fits < float64(pairs) {
			pairs = int(fits)
		}
		if pairs < MinPairs {
			return 0, fmt.Sprintf("a pair costs %s, so %d cost more than the %s that stop.verify_cost allows", o.Sum(cost), MinPairs, o.Sum(limit))
		}
	}
	if limit := o.Verify.Time; limit > 0 && pair.Time > 0 {
		if fits := float64(limit) / float64(pair.Time); fits < float64(pairs) {
			pairs = int(fits)
		}
		if pairs < MinPairs {
			return 0, fmt.Sprintf("a pair takes about %v, so %d take longer than the %v that stop.verify_time allows",
				pair.Time.Round(time.Second), MinPairs, limit)
		}
	}
	return pairs, ""
}

// pairCost is what a pair costs at most, or, where costs are read, has cost so far.
func (o *Options) pairCost(c journal.Comparison, paid *Ledger) float64 {
	total := Money(0)
	moved := make([]float64, len(c.Start))
	for i := range moved {
		if way := math.Abs(c.Recommended[i] - c.Start[i]); !math.IsNaN(way) {
			moved[i] = way
		}
	}
	for _, x := range [][]float64{c.Recommended, c.Start} {
		setting, err := o.Cost.SettingCost(c.ControlSet, x)
		if err != nil {
			setting = math.Inf(1)
		}
		step := Step{Set: c.ControlSet, Setting: setting, Moved: moved}
		total = total.Plus(step.AtMost(o, c.Shots, paid))
	}
	return total.Float()
}
