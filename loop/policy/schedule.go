package policy

import (
	"cmp"
	"math"
	"slices"

	"github.com/labtuner/tuner/loop/policy/cost"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/space"
)

// schedule decides among control sets. Indices are those of Spec.ControlSets; fits
// lists, in file order, the sets that the rest of the budget can pay.
type schedule interface {
	// eligible lists the sets worth searching now.
	eligible(fits []int) []int
	// choose takes the greatest acquisition value of each eligible set, in the
	// objective's unit, with the whole price of the step that has it (control set, setting and
	// movement), and returns a position in that list.
	choose(values, prices []float64) int
	// slack is how much below the greatest value, in the objective's unit, another set's
	// may be and still be chosen.
	slack() float64
	// perPrice reports whether choose takes, in place of values, what they are above the worth of what
	// would be recommended.
	perPrice() bool
	// recordPlay counts a step with this set after the initial design.
	recordPlay(set int)
	// reprice takes in what a typical step of each set costs by what was read, and whether two sets cost
	// the same, as far as is known.
	reprice(prices []float64, alike func(i, j int) bool)
}

// greedySchedule takes the set with the greatest value, whatever it costs.
type greedySchedule struct{}

func (greedySchedule) eligible(fits []int) []int      { return fits }
func (greedySchedule) choose(values, _ []float64) int { return num.Argmax(values) }
func (greedySchedule) slack() float64                 { return 0 }
func (greedySchedule) perPrice() bool                 { return false }
func (greedySchedule) recordPlay(int)                 {}

func (greedySchedule) reprice([]float64, func(i, j int) bool) {}

// epsilonSchedule is UCB-CVS's Algorithm 1 (Tay et al., NeurIPS 2023). With g_i the
// greatest expected upper bound over control set i and epsilon_t the schedule,
//
//	S1 = { i : g_i + epsilon_t >= max_j g_j }
//	S2 = the cheapest sets of S1, by the whole price of the step
//
// and the set of S2 with the greatest g_i is played.
type epsilonSchedule struct {
	epsilon []float64 // in the objective's unit; the last value holds
	plays   int
}

func (e *epsilonSchedule) eligible(fits []int) []int { return fits }

func (e *epsilonSchedule) choose(values, prices []float64) int {
	epsilon := e.slack()
	greatest := values[num.Argmax(values)]
	near := func(k int) bool { return values[k]+epsilon >= greatest }
	cheapest := math.Inf(1)
	for k, price := range prices {
		if near(k) {
			cheapest = min(cheapest, price)
		}
	}
	best := -1
	for k, price := range prices {
		if near(k) && cost.Same(price, cheapest) && (best < 0 || values[k] > values[best]) {
			best = k
		}
	}
	return best
}

func (e *epsilonSchedule) slack() float64 { return e.epsilon[min(e.plays, len(e.epsilon)-1)] }

func (e *epsilonSchedule) perPrice() bool { return false }

func (e *epsilonSchedule) recordPlay(int) { e.plays++ }

func (e *epsilonSchedule) reprice([]float64, func(i, j int) bool) {}

// exploreThenCommit is UCB-CVS's ETC schedule: while the cheapest group of control
// sets has plays left, the set of the group with the greatest expected upper bound
// is played; after all groups, the full control set if there is one, else the
// greatest of all sets (Tay et al., NeurIPS 2023, section 5). The full set stands for all because
// an average is never above the greatest value. Where that is not what is compared (constraints,
// values per cost) or the average may be over values out of the ranges (distributions that are
// learnt), all sets compete.
type exploreThenCommit struct {
	groups [][]int // sets of equal price, the cheapest group first
	left   []int   // plays left, per group
	full   int     // the set that is committed to, -1: all compete
	limit  int     // the full set, of which the price ends the groups; -1: the most expensive one's does
	each   int     // plays of a group; 0: ETC-Ada's
	plays  []int   // so far, per set
}

// Numbers of plays per group.
const (
	etc50  = 50
	etc100 = 100
	// etcAda is what ETC-Ada spends on each group, in costs of the most expensive set: a
	// group of cost c gets floor(4 max cost / c) plays. The paper writes 4/c for costs
	// whose greatest is 1.
	etcAda = 4
)

// newExploreThenCommit groups the control sets by price, the whole of a typical step's. The full
// set, sets that cost as much or more, and (without a full set) the most expensive group are left
// for the end. plays 0 stands for ETC-Ada.
func newExploreThenCommit(sets []space.ControlSet, prices []float64, plays int) *exploreThenCommit {
	full := slices.IndexFunc(sets, space.ControlSet.Full)
	e := &exploreThenCommit{full: full, limit: full, each: plays, plays: make([]int, len(sets))}
	e.reprice(prices, func(i, j int) bool { return cost.Same(prices[i], prices[j]) })
	return e
}

func (e *exploreThenCommit) reprice(prices []float64, alike func(i, j int) bool) {
	limit := e.limit
	if limit < 0 {
		limit = num.Argmax(prices)
	}
	e.groups, e.left = nil, nil
	order := make([]int, len(prices))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(prices[a], prices[b])
	})
	for _, i := range order {
		last := len(e.groups) - 1
		if prices[i] >= prices[limit] || alike(i, limit) {
			continue
		}
		if last >= 0 && alike(i, e.groups[last][0]) {
			e.groups[last] = append(e.groups[last], i)
			e.left[last] -= e.plays[i]
			continue
		}
		e.groups, e.left = append(e.groups, []int{i}), append(e.left, e.playsOf(prices[i], slices.Max(prices))-e.plays[i])
	}
}

// playsOf is how many plays a group of this price gets, where the highest price is highest. A free one
// gets as many as one of a thousandth of the highest.
func (e *exploreThenCommit) playsOf(price, highest float64) int {
	if e.each > 0 {
		return e.each
	}
	return int(etcAda*highest/max(price, leastPrice(highest)) + cost.Tolerance)
}

func (e *exploreThenCommit) eligible(fits []int) []int {
	for g, group := range e.groups {
		if e.left[g] <= 0 {
			continue
		}
		if sets := common(group, fits); len(sets) > 0 {
			return sets
		}
	}
	if slices.Contains(fits, e.full) {
		return []int{e.full}
	}
	return fits
}

func (e *exploreThenCommit) choose(values, _ []float64) int { return num.Argmax(values) }

func (e *exploreThenCommit) slack() float64 { return 0 }

func (e *exploreThenCommit) perPrice() bool { return false }

func (e *exploreThenCommit) recordPlay(set int) {
	e.plays[set]++
	for g, group := range e.groups {
		if slices.Contains(group, set) {
			e.left[g]--
		}
	}
}

// exploreThenBuy is ours: ETC-Ada's plays of the cheap groups first, then, among all sets, the one that
// may improve most on what would be recommended for its price,
//
//	argmax over i of (g_i - m)/price_i,   g_i the greatest expected upper bound over control set i,
//
// m the worth of the recommendation. So a dear set is paid once more can be gained with it, for the same
// money, than with cheap ones, and what the first plays cost follows from the prices alone: there is no
// number to set, and a budget need not be known. The first plays guard against a model that is too sure of
// itself: it then sees nothing to gain elsewhere. Where values are no levels but gains by themselves (an
// improvement, an information), m is 0.
type exploreThenBuy struct {
	*exploreThenCommit
	least float64 // as which a price counts that is lower, so that it can be divided by
}

func newExploreThenBuy(sets []space.ControlSet, prices []float64) *exploreThenBuy {
	e := &exploreThenBuy{newExploreThenCommit(sets, prices, 0), leastPrice(slices.Max(prices))}
	e.full = -1 // all compete
	return e
}

func (e *exploreThenBuy) reprice(prices []float64, alike func(i, j int) bool) {
	e.exploreThenCommit.reprice(prices, alike)
	e.least = leastPrice(slices.Max(prices))
}

// leastPrice is as what a free set counts beside sets of this highest price.
func leastPrice(highest float64) float64 { return highest / 1000 }

func (e *exploreThenBuy) choose(gains, prices []float64) int {
	if e.exploring() || e.least == 0 {
		return num.Argmax(gains)
	}
	rates := make([]float64, len(gains))
	for k, gain := range gains {
		rates[k] = gain / max(prices[k], e.least)
	}
	return num.Argmax(rates)
}

// slack lets every set's value be found to the end: a cheap set's counts however far below the greatest it is.
func (e *exploreThenBuy) slack() float64 {
	if e.exploring() {
		return 0
	}
	return math.Inf(1)
}

func (e *exploreThenBuy) perPrice() bool { return !e.exploring() }

// exploring reports whether cheap groups have plays left.
func (e *exploreThenBuy) exploring() bool {
	return slices.ContainsFunc(e.left, func(plays int) bool { return plays > 0 })
}

// common lists what two lists of control sets share, in the order of the second.
func common(group, fits []int) []int {
	var out []int
	for _, i := range fits {
		if slices.Contains(group, i) {
			out = append(out, i)
		}
	}
	return out
}
