package plan

import (
	"fmt"
	"math"
	"math/bits"
)

// Money is an amount of the cost unit in billionths, so that sums of prices such
// as 0.1 and 0.2 are exact and a budget is spent to the last step.
type Money int64

const moneyScale = 1e9

// AsMoney rounds an amount to a billionth; amounts beyond what fits saturate.
func AsMoney(x float64) Money {
	y := math.Round(x * moneyScale)
	switch {
	case math.IsNaN(y):
		return 0
	case y >= math.MaxInt64:
		return math.MaxInt64
	case y <= math.MinInt64:
		return math.MinInt64
	}
	return Money(y)
}

// Plus adds without overflow.
func (m Money) Plus(n Money) Money {
	sum := m + n
	switch {
	case m > 0 && n > 0 && sum < 0:
		return math.MaxInt64
	case m < 0 && n < 0 && sum >= 0:
		return math.MinInt64
	}
	return sum
}

// times is n prices, n not negative; what does not fit saturates.
func (m Money) times(n int) Money {
	size := uint64(m)
	if m < 0 {
		size = -size
	}
	high, low := bits.Mul64(size, uint64(n))
	switch fits := high == 0 && low <= math.MaxInt64; {
	case fits && m < 0:
		return -Money(low)
	case fits:
		return Money(low)
	case m < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

// Float is the amount in the cost unit.
func (m Money) Float() float64 { return float64(m) / moneyScale }

// Ledger adds up what a run costs.
type Ledger struct {
	Spent Money
	// BySet, Plays and Most have one entry per control set: what its steps were charged, how many they
	// are, and the most expensive of them.
	BySet, Most []Money
	Plays       []int
}

func NewLedger(sets int) Ledger {
	return Ledger{BySet: make([]Money, sets), Most: make([]Money, sets), Plays: make([]int, sets)}
}

// Charge books the cost of a step that played control set s.
func (g *Ledger) Charge(s int, cost Money) {
	g.Spent = g.Spent.Plus(cost)
	for s >= len(g.Plays) {
		g.BySet, g.Most, g.Plays = append(g.BySet, 0), append(g.Most, 0), append(g.Plays, 0)
	}
	if s >= 0 {
		g.BySet[s] = g.BySet[s].Plus(cost)
		g.Most[s] = max(g.Most[s], cost)
		g.Plays[s]++
	}
}

// Fits reports whether a cost stays within a budget; no budget bounds nothing.
func (g *Ledger) Fits(cost Money, budget float64) bool {
	return budget <= 0 || g.Spent.Plus(cost) <= AsMoney(budget)
}

// Bill is what a step has used.
type Bill struct {
	// Set is the control set's price, setting the setting's own.
	Set, Setting float64
	Shots        int
	// Moved is the way of each variable, in its unit.
	Moved []float64
}

// stepCost is what a step costs: the control set, the setting, the step, the shots
// and the way that the variables were moved, each rounded to a billionth before they
// are added.
func (c *Cost) stepCost(b Bill) Money {
	total := AsMoney(b.Set).Plus(AsMoney(b.Setting)).Plus(AsMoney(c.PerStep)).Plus(AsMoney(c.PerShot).times(b.Shots))
	for i, way := range b.Moved {
		if i < len(c.PerMove) && c.PerMove[i] > 0 {
			total = total.Plus(AsMoney(c.PerMove[i] * way))
		}
	}
	return total
}

// SettingCost is what a setting of a control set costs besides the step.
func (c *Cost) SettingCost(set int, x []float64) (float64, error) {
	if c.Setting == nil {
		return 0, nil
	}
	cost := c.Setting(set, x)
	if !(cost >= 0) || math.IsInf(cost, 1) {
		return 0, fmt.Errorf("cost of setting %v is %g, and must be finite and not negative: correct the cost formula", x, cost)
	}
	return cost, nil
}
