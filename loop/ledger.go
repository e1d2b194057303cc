package loop

import (
	"fmt"
	"math"
)

// money is an amount of the cost unit in billionths, so that sums of prices such
// as 0.1 and 0.2 are exact and a budget is spent to the last step.
type money int64

const moneyScale = 1e9

// asMoney rounds an amount to a billionth; amounts beyond what fits saturate.
func asMoney(x float64) money {
	y := math.Round(x * moneyScale)
	switch {
	case math.IsNaN(y):
		return 0
	case y >= math.MaxInt64:
		return math.MaxInt64
	case y <= math.MinInt64:
		return math.MinInt64
	}
	return money(y)
}

// plus adds without overflow.
func (m money) plus(n money) money {
	sum := m + n
	switch {
	case m > 0 && n > 0 && sum < 0:
		return math.MaxInt64
	case m < 0 && n < 0 && sum >= 0:
		return math.MinInt64
	}
	return sum
}

func (m money) float() float64 { return float64(m) / moneyScale }

// ledger adds up what a run costs.
type ledger struct {
	spent money
	// bySet and plays have one entry per control set.
	bySet []money
	plays []int
}

func newLedger(sets int) ledger {
	return ledger{bySet: make([]money, sets), plays: make([]int, sets)}
}

// charge books the cost of a step that played control set s.
func (g *ledger) charge(s int, cost money) {
	g.spent = g.spent.plus(cost)
	if s >= 0 {
		g.bySet[s] = g.bySet[s].plus(cost)
		g.plays[s]++
	}
}

// fits reports whether a cost stays within a budget; no budget bounds nothing.
func (g *ledger) fits(cost money, budget float64) bool {
	return budget <= 0 || g.spent.plus(cost) <= asMoney(budget)
}

// bill is what a step has used.
type bill struct {
	// set is the control set's price, setting the setting's own.
	set, setting float64
	shots        int
	// moved is the way of each variable, in its unit.
	moved []float64
}

// stepCost is what a step costs: the control set, the setting, the step, the shots
// and the way that the variables were moved, each rounded to a billionth before they
// are added.
func (c *Cost) stepCost(b bill) money {
	total := asMoney(b.set).plus(asMoney(b.setting)).plus(asMoney(c.PerStep))
	for range b.shots {
		total = total.plus(asMoney(c.PerShot))
	}
	for i, way := range b.moved {
		if i < len(c.PerMove) && c.PerMove[i] > 0 {
			total = total.plus(asMoney(c.PerMove[i] * way))
		}
	}
	return total
}

// settingCost is what a setting of a control set costs beside the step.
func (c *Cost) settingCost(set int, x []float64) (float64, error) {
	if c.Setting == nil {
		return 0, nil
	}
	cost := c.Setting(set, x)
	if !(cost >= 0) || math.IsInf(cost, 1) {
		return 0, fmt.Errorf("cost of setting %v is %g, and must be finite and not negative: correct the cost formula", x, cost)
	}
	return cost, nil
}
