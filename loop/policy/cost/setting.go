package cost

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/gpcore/sobol"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/space"
)

// Model says before a step what it will cost:
//
//	cost(i, x) = cost of control set i + SettingCost(i, x) + sum over j of MoveCost_j |x_j - last_j|,
//
// where j goes over the variables that set i controls and last_j is where variable j was
// last measured. It is safe for concurrent use while nothing is observed.
type Model struct {
	Sets        []float64                          // what each is expected to cost
	Setting     func(set int, x []float64) float64 // nil: nothing
	Move        []float64                          // nil: nothing
	Axes        []space.Axis
	Last        []float64 // unit coordinates; shared with the random variables
	Ledger      *Ledger
	TypicalCost float64 // of settings, see typical; it makes values per cost of order one
	learnt      *learnt // nil: Sets are given
}

// varies reports whether the cost depends on the setting.
func (c *Model) varies() bool { return c.Setting != nil || c.Move != nil }

// Of is the cost of setting x of a domain, in its coordinates. It may be what a
// SettingCost returned by mistake: negative or not a number.
func (c *Model) Of(d *space.Domain, x []float64) float64 {
	if !c.varies() {
		return c.Sets[d.Set]
	}
	return c.price(d, d.Proposal(x))
}

// Weighed is the cost that a decision weighs against what a step may bring: [Model.Of], or less where costs of
// control sets are learnt.
func (c *Model) Weighed(d *space.Domain, x []float64) float64 {
	if c.learnt == nil {
		return c.Of(d, x)
	}
	return c.Of(d, x) - c.learnt.margin(d.Set)
}

// price is the cost of a setting in the users' units, NaN for variables left random.
func (c *Model) price(d *space.Domain, user []float64) float64 {
	sum := c.Sets[d.Set]
	if c.Setting != nil {
		sum += c.Setting(d.Set, user)
	}
	if c.Move != nil {
		for _, i := range d.Coords {
			sum += c.Move[i] * math.Abs(user[i]-c.Axes[i].User(c.Last[i]))
		}
	}
	return sum
}

// atMost is [Model.Of], or what has to be left for the setting where costs of control sets are learnt.
func (c *Model) atMost(d *space.Domain, x []float64) float64 { return c.Of(d, x) + c.surplus(d.Set) }

// Affordable reports whether setting x can be paid.
func (c *Model) Affordable(d *space.Domain, x []float64) bool {
	return c.Ledger.affords(c.atMost(d, x))
}

// Penalty is a penalty on settings that cannot be paid, like that of failed settings: the greater the cost the
// greater.
func (c *Model) Penalty(d *space.Domain, x []float64) float64 {
	cost := c.atMost(d, x)
	switch {
	case c.Ledger.affords(cost):
		return 0
	case math.IsNaN(cost):
		return 4e6
	}
	left := max(c.Ledger.Budget-c.Ledger.Spent(), 0)
	return 1e6 * (1 + 2*(1-left/max(cost, left)))
}

// AffordsAll reports whether every setting of a domain can be paid, where that is known without
// looking at them.
func (c *Model) AffordsAll(d *space.Domain) bool {
	if c.Setting != nil {
		return false
	}
	const rounding = 1e-9 // of a sum
	sum := c.Sets[d.Set] + c.surplus(d.Set)
	if c.Move != nil {
		for _, i := range d.Coords {
			last := c.Axes[i].User(c.Last[i])
			sum += c.Move[i] * max(math.Abs(c.Axes[i].User(0)-last), math.Abs(c.Axes[i].User(1)-last))
		}
	}
	return c.Ledger.affords(sum * (1 + rounding))
}

// Bounded reports whether some settings of a set that fits may cost more than what is left.
func (c *Model) Bounded() bool { return c.varies() && c.Ledger.Budget > 0 }

// gradient sets grad to the slopes of the cost at x, by central differences, and
// returns the cost.
func (c *Model) gradient(d *space.Domain, grad, x []float64) float64 {
	const h = 1e-6 // of the range
	at := slices.Clone(x)
	for i, v := range x {
		at[i] = min(v+h, 1)
		up, span := c.unrounded(d, at), at[i]
		at[i] = max(v-h, 0)
		grad[i] = (up - c.unrounded(d, at)) / (span - at[i])
		at[i] = v
	}
	return c.Weighed(d, x)
}

// unrounded is the cost without rounding to the values that may be proposed.
func (c *Model) unrounded(d *space.Domain, x []float64) float64 {
	user := num.NaNs(len(c.Axes))
	for j, i := range d.Coords {
		user[i] = c.Axes[i].User(x[j])
	}
	return c.price(d, user)
}

// Check refuses a cost that is none, naming the setting.
func (c *Model) Check(d *space.Domain, x []float64) (float64, error) {
	if !c.varies() {
		return c.Sets[d.Set], nil
	}
	user := d.Proposal(x)
	if c.Setting != nil {
		if own := c.Setting(d.Set, user); !num.Finite(own) || own < 0 {
			return 0, fmt.Errorf("setting %v of control set %d costs %g, which must be finite and not negative: correct the cost of settings",
				user, d.Set+1, own)
		}
	}
	return c.price(d, user), nil
}

// Typical is a cost to divide by, so that values per cost are of order one: the mean over all
// control sets' points (see TypicalOf) that cost something.
func (c *Model) Typical(domains []*space.Domain) float64 {
	sum, n := 0.0, 0
	for _, d := range domains {
		for _, cost := range c.sampled(d) {
			if num.Finite(cost) && cost > 0 {
				sum, n = sum+cost, n+1
			}
		}
	}
	if n == 0 {
		return 1
	}
	return sum / float64(n)
}

// TypicalOf is the typical price of a step with each control set: the mean over sixteen Sobol
// points of its domain; where the setting does not matter, the set's cost.
func (c *Model) TypicalOf(domains []*space.Domain) []float64 {
	if !c.varies() {
		return c.Sets
	}
	out := make([]float64, len(domains))
	for i, d := range domains {
		costs := c.sampled(d)
		for _, cost := range costs {
			if num.Finite(cost) { // what is none is refused when it is proposed
				out[i] += cost / float64(len(costs))
			}
		}
	}
	return out
}

// sampled are the costs at sixteen Sobol points of a domain.
func (c *Model) sampled(d *space.Domain) []float64 {
	out := make([]float64, 16)
	sequence, x := sobol.New(d.Size()), make([]float64, d.Size())
	for k := range out {
		sequence.Point(x, k)
		d.Round(x)
		out[k] = c.Of(d, x)
	}
	return out
}

// NearestAffordable is setting x of a domain, or, where that cannot be paid, one that can: the
// nearest of a list; in a box the first on the way to where the variables are, else the
// cheapest that a search finds. ErrBudget: there is none.
func (c *Model) NearestAffordable(d *space.Domain, x []float64) ([]float64, error) {
	if !c.Bounded() || c.Affordable(d, x) {
		return x, nil
	}
	best := slices.Clone(x)
	if d.Listed() > 0 {
		distance := math.Inf(1)
		for k := range d.Listed() {
			if q := num.SquaredDistance(d.Row(k), x); q < distance && c.Affordable(d, d.Row(k)) {
				distance = q
				copy(best, d.Row(k))
			}
		}
		if math.IsInf(distance, 1) {
			return nil, c.BudgetError()
		}
		return best, nil
	}
	const steps = 32
	for k := 1; k <= steps; k++ {
		for j, i := range d.Coords {
			best[j] = x[j] + float64(k)/steps*(c.Last[i]-x[j])
		}
		if d.Round(best); c.Affordable(d, best) {
			return best, nil
		}
	}
	m, err := search.Maximize(context.Background(), search.Problem{Objective: negativeCost{c, d}, Axes: d.ProblemAxes()}, search.Options{})
	if err != nil {
		return nil, err
	}
	if !c.Affordable(d, m.X) {
		return nil, c.BudgetError()
	}
	return m.X, nil
}

// BudgetError is the error where nothing can be paid.
func (c *Model) BudgetError() error {
	return fmt.Errorf("%w: spent %g of %g", ErrBudget, c.Ledger.Spent(), c.Ledger.Budget)
}

// AffordableSets appends the control sets that fit what is left of the budget to fits.
func (c *Model) AffordableSets(fits []int) []int {
	for i, cost := range c.Sets {
		if c.Ledger.Fits(cost + c.surplus(i)) {
			fits = append(fits, i)
		}
	}
	return fits
}

// negativeCost is minus the cost of a setting.
type negativeCost struct {
	costs  *Model
	domain *space.Domain
}

// Dim implements [search.Objective].
func (t negativeCost) Dim() int { return t.domain.Size() }

// Values implements [search.Objective].
func (t negativeCost) Values(dst, x []float64) {
	for j := range dst {
		dst[j] = -t.costs.Of(t.domain, x[j*t.Dim():(j+1)*t.Dim()])
	}
}

// Fork implements [search.Objective].
func (t negativeCost) Fork() search.Objective { return t }
