package cost

import (
	"errors"
	"math"
)

// ErrBudget: every control set costs more than what is left of the budget.
var ErrBudget = errors.New("no control set fits the remaining budget")

// Ledger keeps what was spent. Costs are decimal numbers of a file, such as 0.1,
// that float64 cannot hold; sums of them are off by rounding. So spending is
// summed with compensation (Neumaier, ZAMM 54 (1974) 39-51) and a cost fits if it
// exceeds what is left by no more than one part in 10^9 of the budget: 50 - 40*0.1
// - 20*0.2 leaves room for exactly 42 plays of cost 1.
type Ledger struct {
	Budget float64 // 0: no bound
	sum    float64
	carry  float64
}

// Tolerance is what a sum of costs may be off by, as a fraction.
const Tolerance = 1e-9

func (l *Ledger) Charge(cost float64) {
	t := l.sum + cost
	if l.sum >= cost {
		l.carry += l.sum - t + cost
	} else {
		l.carry += cost - t + l.sum
	}
	l.sum = t
}

// Spent is the sum of all charges.
func (l *Ledger) Spent() float64 { return l.sum + l.carry }

// Fits reports whether a step of this cost can still be paid.
func (l *Ledger) Fits(cost float64) bool {
	return l.Budget == 0 || cost <= l.Budget-l.Spent()+Tolerance*l.Budget
}

// affords is fits for a cost that is no number of a file but depends on the setting: in
// billionths of the cost's unit, without a tolerance that a search would make use of. A
// cost that is no number is not afforded.
func (l *Ledger) affords(cost float64) bool {
	const parts = 1e9
	return !math.IsNaN(cost) && (l.Budget == 0 || math.Round((l.Spent()+cost)*parts) <= math.Round(l.Budget*parts))
}

// Same reports whether two costs differ by rounding only.
func Same(a, b float64) bool {
	d := a - b
	if d < 0 {
		d = -d
	}
	return d <= Tolerance*max(a, b)
}
