package policy

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/sobol"
)

// costModel says before a step what it will cost:
//
//	cost(i, x) = cost of control set i + SettingCost(i, x) + sum over j of MoveCost_j |x_j - last_j|,
//
// where j goes over the variables that set i controls and last_j is where variable j was
// last measured. It is safe for concurrent use while nothing is observed.
type costModel struct {
	sets    []float64
	setting func(set int, x []float64) float64 // nil: nothing
	move    []float64                          // nil: nothing
	axes    []axis
	last    []float64 // unit coordinates; the surroundings'
	cash    *ledger
	average float64 // of settings, see typical; it makes values per cost of order one
}

// varies says that the cost depends on the setting.
func (c *costModel) varies() bool { return c.setting != nil || c.move != nil }

// of is the cost of setting x of a domain, in its coordinates. It may be what a
// SettingCost returned by mistake: negative or not a number.
func (c *costModel) of(d *domain, x []float64) float64 {
	if !c.varies() {
		return c.sets[d.set]
	}
	return c.price(d, d.proposal(x))
}

// price is the cost of a setting in the users' units, NaN for variables left random.
func (c *costModel) price(d *domain, user []float64) float64 {
	sum := c.sets[d.set]
	if c.setting != nil {
		sum += c.setting(d.set, user)
	}
	if c.move != nil {
		for _, i := range d.coords {
			sum += c.move[i] * math.Abs(user[i]-c.axes[i].user(c.last[i]))
		}
	}
	return sum
}

// affordable says whether setting x can be paid.
func (c *costModel) affordable(d *domain, x []float64) bool { return c.cash.affords(c.of(d, x)) }

// wall is a penalty on settings that cannot be paid, like the vote's: the dearer the
// greater.
func (c *costModel) wall(d *domain, x []float64) float64 {
	cost := c.of(d, x)
	switch {
	case c.cash.affords(cost):
		return 0
	case math.IsNaN(cost):
		return 4e6
	}
	left := max(c.cash.budget-c.cash.spent(), 0)
	return 1e6 * (1 + 2*(1-left/max(cost, left)))
}

// bounded says that some settings of a set that fits may be too dear.
func (c *costModel) bounded() bool { return c.varies() && c.cash.budget > 0 }

// gradient sets grad to the slopes of the cost at x, by central differences, and
// returns the cost.
func (c *costModel) gradient(d *domain, grad, x []float64) float64 {
	const h = 1e-6 // of the range
	at := slices.Clone(x)
	for i, v := range x {
		at[i] = min(v+h, 1)
		up, span := c.smooth(d, at), at[i]
		at[i] = max(v-h, 0)
		grad[i] = (up - c.smooth(d, at)) / (span - at[i])
		at[i] = v
	}
	return c.of(d, x)
}

// smooth is the cost without rounding to the values that may be proposed.
func (c *costModel) smooth(d *domain, x []float64) float64 {
	user := NaNs(len(c.axes))
	for j, i := range d.coords {
		user[i] = c.axes[i].user(x[j])
	}
	return c.price(d, user)
}

// check refuses a cost that is none, naming the setting.
func (c *costModel) check(d *domain, x []float64) (float64, error) {
	user := d.proposal(x)
	if c.setting != nil {
		if own := c.setting(d.set, user); !finite(own) || own < 0 {
			return 0, fmt.Errorf("setting %v of control set %d costs %g, which must be finite and not negative: correct the cost of settings",
				user, d.set+1, own)
		}
	}
	return c.price(d, user), nil
}

// typical is a cost to divide by, so that values per cost are of order one: the mean
// over sixteen Sobol points of each set's domain.
func (c *costModel) typical(domains []*domain) float64 {
	const points = 16
	sum, n := 0.0, 0
	for _, d := range domains {
		sequence, x := sobol.New(d.size()), make([]float64, d.size())
		for k := range points {
			sequence.Point(x, k)
			d.settle(x)
			if cost := c.of(d, x); finite(cost) && cost > 0 {
				sum, n = sum+cost, n+1
			}
		}
	}
	if n == 0 {
		return 1
	}
	return sum / float64(n)
}

// payable is setting x of a domain, or, where that cannot be paid, one that can: the
// nearest of a list; in a box the first on the way to where the variables are, else the
// cheapest that a search finds. ErrBudget: there is none.
func (c *costModel) payable(d *domain, x []float64) ([]float64, error) {
	if !c.bounded() || c.affordable(d, x) {
		return x, nil
	}
	best := slices.Clone(x)
	if d.listed() > 0 {
		distance := math.Inf(1)
		for k := range d.listed() {
			if q := squaredDistance(d.row(k), x); q < distance && c.affordable(d, d.row(k)) {
				distance = q
				copy(best, d.row(k))
			}
		}
		if math.IsInf(distance, 1) {
			return nil, c.broke()
		}
		return best, nil
	}
	const steps = 32
	for k := 1; k <= steps; k++ {
		for j, i := range d.coords {
			best[j] = x[j] + float64(k)/steps*(c.last[i]-x[j])
		}
		if d.settle(best); c.affordable(d, best) {
			return best, nil
		}
	}
	m, err := gpcore.Maximize(context.Background(), gpcore.Problem{Objective: thrift{c, d}, Axes: d.problemAxes()}, gpcore.Options{})
	if err != nil {
		return nil, err
	}
	if !c.affordable(d, m.X) {
		return nil, c.broke()
	}
	return m.X, nil
}

// broke is the error where nothing can be paid.
func (c *costModel) broke() error {
	return fmt.Errorf("%w: spent %g of %g", ErrBudget, c.cash.spent(), c.cash.budget)
}

// fitting lists the control sets that fit what is left of the budget.
func (c *costModel) fitting() []int {
	var fits []int
	for i, cost := range c.sets {
		if c.cash.fits(cost) {
			fits = append(fits, i)
		}
	}
	return fits
}

// thrift is minus the cost of a setting.
type thrift struct {
	costs  *costModel
	domain *domain
}

// Dim implements [gpcore.Objective].
func (t thrift) Dim() int { return t.domain.size() }

// Values implements [gpcore.Objective].
func (t thrift) Values(dst, x []float64) {
	for j := range dst {
		dst[j] = -t.costs.of(t.domain, x[j*t.Dim():(j+1)*t.Dim()])
	}
}

// Fork implements [gpcore.Objective].
func (t thrift) Fork() gpcore.Objective { return t }
