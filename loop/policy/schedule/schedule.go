// Package schedule decides which control set a step plays: always the greatest value, or UCB-CVS's
// schedules, which weigh values against what the sets cost.
package schedule

import (
	"cmp"
	"math"
	"slices"

	"github.com/labtuner/tuner/loop/policy/cost"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/space"
)

// Names of schedules in a specification.
const (
	ETC50   = "etc-50"
	ETC100  = "etc-100"
	ETCAda  = "etc-ada"
	Auto    = "auto"
	Epsilon = "epsilon"
	None    = "none"
)

// Spec is what a schedule is made of.
type Spec struct {
	// Name is one of those above; "" stands for none.
	Name string
	// Epsilon is the list of the epsilon-schedule, in the objective's unit.
	Epsilon []float64
	Sets    []space.ControlSet
	// AllCompete says that the full control set does not stand for all: something else than averages
	// is compared, or they are over values out of the ranges.
	AllCompete bool
	Limits     Limits
}

// Limits are what ends a run. Where both are 0, nothing is known of its end.
type Limits struct {
	Budget float64 // bounds the sum of prices; 0: no bound
	Steps  int     // 0: no bound
}

// New makes the schedule of control sets, of which typical steps have these prices.
func New(s Spec, prices []float64) Rule {
	switch s.Name {
	case Auto:
		return newExploreThenBuy(s.Sets, prices, s.Limits)
	case ETC50, ETC100, ETCAda:
		plays := adaTurns
		if each, fixed := map[string]int{ETC50: 50, ETC100: 100}[s.Name]; fixed {
			plays = func(int, float64, float64) int { return each }
		}
		e := newExploreThenCommit(s.Sets, prices, plays)
		if s.AllCompete {
			e.full = -1
		}
		return e
	case Epsilon:
		return &epsilonSchedule{epsilon: s.Epsilon}
	}
	return greedy{}
}

// Rule decides among control sets. Indices are those of Spec.Sets; fits lists, in file order, the
// sets that the rest of the budget can pay.
type Rule interface {
	// Eligible lists the sets worth searching now.
	Eligible(fits []int) []int
	// Choose takes the greatest acquisition value of each eligible set, in the
	// objective's unit, with the whole price of the step that has it (control set, setting and
	// movement), and returns a position in that list.
	Choose(values, prices []float64) int
	// Slack is how much below the greatest value, in the objective's unit, another set's
	// may be and still be chosen.
	Slack() float64
	// PerPrice reports whether Choose takes, in place of values, what they are above the worth of what
	// would be recommended.
	PerPrice() bool
	// RecordPlay counts a step with this set after the initial design.
	RecordPlay(set int)
	// Reprice takes in what a typical step of each set costs by what was read, and whether two sets cost
	// the same, as far as is known.
	Reprice(prices []float64, alike func(i, j int) bool)
}

// greedy takes the set with the greatest value, whatever it costs.
type greedy struct{}

func (greedy) Eligible(fits []int) []int      { return fits }
func (greedy) Choose(values, _ []float64) int { return num.Argmax(values) }
func (greedy) Slack() float64                 { return 0 }
func (greedy) PerPrice() bool                 { return false }
func (greedy) RecordPlay(int)                 {}

func (greedy) Reprice([]float64, func(i, j int) bool) {}

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

func (e *epsilonSchedule) Eligible(fits []int) []int { return fits }

func (e *epsilonSchedule) Choose(values, prices []float64) int {
	epsilon := e.Slack()
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

func (e *epsilonSchedule) Slack() float64 { return e.epsilon[min(e.plays, len(e.epsilon)-1)] }

func (e *epsilonSchedule) PerPrice() bool { return false }

func (e *epsilonSchedule) RecordPlay(int) { e.plays++ }

func (e *epsilonSchedule) Reprice([]float64, func(i, j int) bool) {}

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
	turns  turns
	plays  []int // so far, per set
}

// turns is how many plays a group gets, by its place (0: the cheapest), its price and the highest of all sets.
type turns func(group int, price, highest float64) int

// adaTurns are ETC-Ada's: floor(4 highest/price). The paper writes 4/c for costs whose greatest is 1. A free group
// gets as many as one of a hundredth of the highest price.
func adaTurns(_ int, price, highest float64) int {
	return int(4*highest/max(price, leastPrice(highest)) + cost.Tolerance)
}

// newExploreThenCommit groups the control sets by price, the whole of a typical step's. The full
// set, sets that cost as much or more, and (without a full set) the most expensive group are left
// for the end.
func newExploreThenCommit(sets []space.ControlSet, prices []float64, plays turns) *exploreThenCommit {
	full := slices.IndexFunc(sets, space.ControlSet.Full)
	e := &exploreThenCommit{full: full, limit: full, turns: plays, plays: make([]int, len(sets))}
	e.Reprice(prices, func(i, j int) bool { return cost.Same(prices[i], prices[j]) })
	return e
}

func (e *exploreThenCommit) Reprice(prices []float64, alike func(i, j int) bool) {
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
		e.groups, e.left = append(e.groups, []int{i}), append(e.left, e.turns(last+1, prices[i], slices.Max(prices))-e.plays[i])
	}
}

func (e *exploreThenCommit) Eligible(fits []int) []int {
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

func (e *exploreThenCommit) Choose(values, _ []float64) int { return num.Argmax(values) }

func (e *exploreThenCommit) Slack() float64 { return 0 }

func (e *exploreThenCommit) PerPrice() bool { return false }

func (e *exploreThenCommit) RecordPlay(set int) {
	e.plays[set]++
	for g, group := range e.groups {
		if slices.Contains(group, set) {
			e.left[g]--
		}
	}
}

// exploreThenBuy is ours: the cheapest group first, for a share of the budget that follows from the prices; then,
// among all sets, the one that may improve most on what would be recommended for its price,
//
//	argmax over i of (g_i - m)/price_i,   g_i the greatest expected upper bound over control set i,
//
// m the worth of the recommendation. So a dear set is paid once more can be gained with it, for the same
// money, than with cheap ones. Where steps end the run, one has a price by itself ([exploreThenBuy.priceOfStep]). Where values are no levels but gains by themselves (an improvement, an
// information), m is 0. The first plays guard against a model that is too sure of itself: it then sees nothing
// to gain elsewhere. See [rootTurns] for how many they are.
type exploreThenBuy struct {
	*exploreThenCommit
	least  float64 // as which a price counts that is lower, so that it can be divided by
	limits Limits
	prices []float64
}

func newExploreThenBuy(sets []space.ControlSet, prices []float64, limits Limits) *exploreThenBuy {
	plays := adaTurns // the end of the run is not known
	if limits != (Limits{}) {
		plays = rootTurns(limits)
	}
	e := &exploreThenBuy{newExploreThenCommit(sets, prices, plays), leastPrice(slices.Max(prices)), limits, slices.Clone(prices)}
	e.full = -1 // all compete
	return e
}

// rootTurns divides a budget B between plays of the cheapest group, of price c, and the plays of the highest
// price C that follow, all three in the unit of cost. There are sqrt(C/c) times as many of the first,
//
//	floor(share B/c),   share = sqrt(c)/(sqrt(c) + sqrt(C)) = 1/(1 + sqrt(C/c)),
//
// as in the allocation of a budget to two kinds of readings for which 1/n_c + 1/n_C is least (Neyman's with
// costs; Cochran, Sampling Techniques, 1977, section 5.5). Where steps are bounded, the first plays are at most
// that share of the steps. Groups between the cheapest and the highest price get none. The initial design's plays are
// not counted.
func rootTurns(limits Limits) turns {
	return func(group int, price, highest float64) int {
		if group > 0 {
			return 0
		}
		price = max(price, leastPrice(highest))
		share := 1 / (1 + math.Sqrt(highest/price))
		plays := float64(math.MaxInt32)
		if limits.Budget > 0 {
			plays = min(plays, share*limits.Budget/price)
		}
		if limits.Steps > 0 {
			plays = min(plays, share*float64(limits.Steps))
		}
		return int(plays + cost.Tolerance)
	}
}

func (e *exploreThenBuy) Reprice(prices []float64, alike func(i, j int) bool) {
	e.exploreThenCommit.Reprice(prices, alike)
	e.least, e.prices = leastPrice(slices.Max(prices)), slices.Clone(prices)
}

// Eligible leaves out sets below the least price when, at that price, their plays would have used up the budget: what
// is free never ends a run by its cost, and some gain is always left in it.
func (e *exploreThenBuy) Eligible(fits []int) []int {
	eligible := e.exploreThenCommit.Eligible(fits)
	if e.limits.Budget == 0 || e.exploring() {
		return eligible
	}
	used := 0.0
	for i, n := range e.plays {
		if e.prices[i] < e.least {
			used += float64(n) * e.least
		}
	}
	if used < e.limits.Budget {
		return eligible
	}
	paid := slices.DeleteFunc(slices.Clone(eligible), func(i int) bool { return e.prices[i] < e.least })
	if len(paid) == 0 {
		return eligible
	}
	return paid
}

// leastPrice is as what a set counts that is cheaper, or free, beside sets of this highest price: a hundredth, the
// least of the costs in the paper's experiments.
func leastPrice(highest float64) float64 { return highest / 100 }

func (e *exploreThenBuy) Choose(gains, prices []float64) int {
	if e.exploring() || e.least == 0 {
		return num.Argmax(gains)
	}
	best, most, step := 0, math.Inf(-1), e.priceOfStep()
	for k, gain := range gains {
		if rate := gain / max(prices[k]+step, e.least); rate > most {
			best, most = k, rate
		}
	}
	return best
}

// priceOfStep is what a step takes of those that are left, in the unit of cost: the rest of the budget over the steps that
// are left, so that what is cheap wastes neither them nor money that nothing else could be bought for; at most the
// highest price. Where the budget has no bound it is the geometric mean of the lowest and the highest price, by which
// rootTurns shares the steps, and 0 where steps have none.
func (e *exploreThenBuy) priceOfStep() float64 {
	highest := slices.Max(e.prices)
	switch {
	case e.limits.Steps == 0:
		return 0
	case e.limits.Budget == 0:
		return math.Sqrt(highest * max(slices.Min(e.prices), e.least))
	}
	played, spent := 0, 0.0
	for i, n := range e.plays {
		played, spent = played+n, spent+float64(n)*e.prices[i]
	}
	return min(highest, max(e.limits.Budget-spent, 0)/float64(max(e.limits.Steps-played, 1)))
}

// Slack lets every set's value be found to the end: a cheap set's counts however far below the greatest it is.
func (e *exploreThenBuy) Slack() float64 {
	if e.exploring() {
		return 0
	}
	return math.Inf(1)
}

func (e *exploreThenBuy) PerPrice() bool { return !e.exploring() }

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
