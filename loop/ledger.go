package loop

import "math"

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

// stepCost is what a step costs: the control set, the step, the shots and the
// way that the variables were moved (in each variable's unit).
func (c *Cost) stepCost(set float64, shots int, moved []float64) money {
	total := asMoney(set).plus(asMoney(c.PerStep))
	for range shots {
		total = total.plus(asMoney(c.PerShot))
	}
	for i, way := range moved {
		if i < len(c.PerMove) && c.PerMove[i] > 0 {
			total = total.plus(asMoney(c.PerMove[i] * way))
		}
	}
	return total
}
