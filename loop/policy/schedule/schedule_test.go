package schedule

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/labtuner/tuner/loop/policy/space"
)

// Algorithm 1 as the paper states it, written down again in its own order: S1, S2,
// the largest bound. Costs come in any order here.
func TestEpsilonScheduleIsAlgorithm1(t *testing.T) {
	const seed = 4
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		n := 1 + rng.IntN(6)
		e := &epsilonSchedule{epsilon: []float64{rng.Float64(), rng.Float64() / 4}, plays: rng.IntN(4)}
		values, prices := []float64{}, []float64{}
		for range n {
			prices, values = append(prices, float64(1+rng.IntN(3))/10), append(values, rng.Float64())
		}
		eps := e.epsilon[min(e.plays, 1)]
		greatest := math.Inf(-1)
		for _, v := range values {
			greatest = max(greatest, v)
		}
		want, cost, bound := -1, math.Inf(1), math.Inf(-1)
		for k, c := range prices {
			if values[k]+eps < greatest {
				continue
			}
			if c < cost || c == cost && values[k] > bound {
				want, cost, bound = k, c, values[k]
			}
		}
		if got := e.Choose(values, prices); got != want {
			t.Fatalf("seed %d: prices %v, values %v, epsilon %g: chose %d, want %d", seed, prices, values, eps, got, want)
		}
	}
}

func TestEpsilonScheduleAdvances(t *testing.T) {
	e := &epsilonSchedule{epsilon: []float64{5, 0}}
	if got := e.Choose([]float64{0, 1}, []float64{1, 2}); got != 0 {
		t.Error("with a large epsilon the cheap set is played")
	}
	e.RecordPlay(0)
	e.RecordPlay(0) // the last value holds
	if got := e.Choose([]float64{0, 1}, []float64{1, 2}); got != 1 {
		t.Error("with epsilon zero the best set is played")
	}
}

// The paper's groups and numbers of plays (Tay et al., NeurIPS 2023, section 5).
func TestExploreThenCommitPlays(t *testing.T) {
	lists := [][]int{{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}}
	for _, c := range []struct {
		name     string
		costs    []float64
		schedule string
		want     []int
	}{
		{"cheap", []float64{.01, .01, .01, .1, .1, .1, 1}, ETCAda, []int{400, 40}},
		{"moderate", []float64{.1, .1, .1, .2, .2, .2, 1}, ETCAda, []int{40, 20}},
		{"expensive", []float64{.6, .6, .6, .8, .8, .8, 1}, ETCAda, []int{6, 5}},
		{"moderate in cents", []float64{10, 10, 10, 20, 20, 20, 100}, ETCAda, []int{40, 20}},
		{"etc-50", []float64{.1, .1, .1, .2, .2, .2, 1}, ETC50, []int{50, 50}},
		{"etc-100", []float64{.1, .1, .1, .2, .2, .2, 1}, ETC100, []int{100, 100}},
	} {
		e := New(Spec{Name: c.schedule, Sets: sets(3, c.costs, lists...)}, c.costs).(*exploreThenCommit)
		if !reflect.DeepEqual(e.left, c.want) || !reflect.DeepEqual(e.groups, [][]int{{0, 1, 2}, {3, 4, 5}}) || e.full != 6 {
			t.Errorf("%s: groups %v with %v plays, want %v", c.name, e.groups, e.left, c.want)
		}
	}
}

// The order of play: groups from cheap to dear, then the full set alone; sets that
// do not fit the budget are passed over.
func TestExploreThenCommitOrder(t *testing.T) {
	lists := [][]int{{0, 1, 2}, {1, 2}, {0}, {1}}
	e := newExploreThenCommit(sets(3, make([]float64, 4), lists...), []float64{1, .2, .1, .1}, always(2))
	all := []int{0, 1, 2, 3}
	for i, want := range [][]int{{2, 3}, {2, 3}, {1}, {1}, {0}, {0}} {
		got := e.Eligible(all)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("play %d: eligible %v, want %v", i, got, want)
		}
		e.RecordPlay(got[0])
	}
	if got := e.Eligible([]int{1, 2, 3}); !reflect.DeepEqual(got, []int{1, 2, 3}) {
		t.Errorf("when the full set does not fit, all that fit compete: %v", got)
	}
	// Without a full set, the most expensive group is not explored for its own sake.
	e = newExploreThenCommit(sets(3, make([]float64, 3), []int{0}, []int{1}, []int{2}), []float64{.1, .2, 1}, always(1))
	if !reflect.DeepEqual(e.groups, [][]int{{0}, {1}}) {
		t.Errorf("groups %v", e.groups)
	}
	e.RecordPlay(0)
	e.RecordPlay(1)
	if got := e.Eligible([]int{0, 1, 2}); !reflect.DeepEqual(got, []int{0, 1, 2}) {
		t.Errorf("after all groups everything competes: %v", got)
	}
}

// The shares of the budget by hand, c the cheapest group's cost beside 1: sqrt(c)/(sqrt(c) + 1), which is 1/11,
// 0.2403 and 0.4365. A budget in cents gives the same plays, and bounded steps bound them.
func TestShareOfTheBudget(t *testing.T) {
	lists := [][]int{{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}}
	cheap, moderate, expensive := []float64{.01, .01, .01, .1, .1, .1, 1}, []float64{.1, .1, .1, .2, .2, .2, 1}, []float64{.6, .6, .6, .8, .8, .8, 1}
	for _, c := range []struct {
		name   string
		costs  []float64
		limits Limits
		want   []int
	}{
		{"cheap", cheap, Limits{Budget: 50}, []int{454, 0}},
		{"moderate", moderate, Limits{Budget: 50}, []int{120, 0}},
		{"expensive", expensive, Limits{Budget: 50}, []int{36, 0}},
		{"in cents", []float64{60, 60, 60, 80, 80, 80, 100}, Limits{Budget: 5000}, []int{36, 0}},
		{"a small budget", expensive, Limits{Budget: 1}, []int{0, 0}},
		{"a budget without end", cheap, Limits{Budget: 1e300}, []int{math.MaxInt32, 0}},
		{"of steps, 100/11", cheap, Limits{Steps: 100}, []int{9, 0}},
		{"of both, the fewer", cheap, Limits{Budget: 50, Steps: 100}, []int{9, 0}},
		{"of both, the fewer", expensive, Limits{Budget: 50, Steps: 100}, []int{36, 0}},
		{"no end is known: ETC-Ada's", moderate, Limits{}, []int{40, 20}},
		{"free: as one of a hundredth", []float64{0, 0, 0, 1, 1, 1, 2}, Limits{Budget: 50}, []int{227, 0}}, // 50/0.02 sqrt(0.01)/(sqrt(0.01) + 1)
	} {
		e := newExploreThenBuy(sets(3, c.costs, lists...), c.costs, c.limits)
		if !reflect.DeepEqual(e.left, c.want) {
			t.Errorf("%s: plays %v, want %v", c.name, e.left, c.want)
		}
	}
	for name, costs := range map[string][]float64{"equal": {2, 2, 2}, "none": {0, 0, 0}} {
		e := newExploreThenBuy(sets(3, costs, []int{0}, []int{0, 1}, []int{0, 1, 2}), costs, Limits{Budget: 50})
		if e.exploring() || !reflect.DeepEqual(e.Eligible([]int{0, 2}), []int{0, 2}) || e.Choose([]float64{1, 3, 2}, costs) != 1 {
			t.Errorf("costs that are %s: groups %v; nothing is cheaper, so the greatest gain is played", name, e.groups)
		}
	}
	one := newExploreThenBuy(sets(1, []float64{1}, []int{0}), []float64{1}, Limits{Budget: 50})
	if one.exploring() || one.Choose([]float64{1}, []float64{1}) != 0 {
		t.Error("a single set is all there is to play")
	}
}

// A cheaper group gets a smaller share of the money and more plays; a larger budget gives more.
func TestShareIsMonotone(t *testing.T) {
	budget := Limits{Budget: 50}
	more := Limits{Budget: 60}
	last, money := math.MaxInt, 0.0
	for price := 0.01; price < 1; price += 0.01 {
		plays := rootTurns(budget)(0, price, 1)
		if spent := (float64(plays) + 1) * price; plays > last || spent < money-price || plays > rootTurns(more)(0, price, 1) {
			t.Errorf("price %.2f: %d plays after %d, %g spent after %g", price, plays, last, spent, money)
		}
		last, money = plays, float64(plays)*price
	}
}

// The rule as it is written: after the cheapest group's plays the greatest gain for its price, all sets
// competing; a free set does not win by being free.
func TestExploreThenBuy(t *testing.T) {
	costs := []float64{.1, .2, 1}
	e := newExploreThenBuy(sets(3, costs, []int{0}, []int{0, 1}, []int{0, 1, 2}), costs, Limits{Budget: 25})
	all := []int{0, 1, 2}
	for i := range 60 { // 25/0.1 times 0.2403
		if want := []int{0}; !reflect.DeepEqual(e.Eligible(all), want) || e.PerPrice() || e.Slack() != 0 {
			t.Fatalf("play %d: eligible %v, want %v", i, e.Eligible(all), want)
		}
		e.RecordPlay(0)
	}
	if got := e.Eligible(all); !reflect.DeepEqual(got, all) || !e.PerPrice() || !math.IsInf(e.Slack(), 1) {
		t.Fatalf("after the first plays: eligible %v", got)
	}
	const seed = 6
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		gains, prices := []float64{}, []float64{}
		want, most := -1, math.Inf(-1)
		for k := range 1 + rng.IntN(6) {
			gains, prices = append(gains, rng.NormFloat64()), append(prices, float64(rng.IntN(4))/2)
			if rate := gains[k] / max(prices[k], 1./100); rate > most {
				want, most = k, rate
			}
		}
		if got := e.Choose(gains, prices); got != want {
			t.Fatalf("seed %d: gains %v, prices %v: chose %d, want %d", seed, gains, prices, got, want)
		}
	}
	free := newExploreThenBuy(sets(2, []float64{0, 0}, []int{0}, []int{0, 1}), []float64{0, 0}, Limits{Budget: 1})
	if got := free.Choose([]float64{1, 2}, []float64{0, 0}); got != 1 {
		t.Errorf("where nothing costs anything: chose %d, want the greatest gain", got)
	}
}

// Where steps end the run a step has a price too: what the budget has left for it, at most the highest price. So money that
// only a dear set can use is spent before the steps are over.
func TestStepsHaveAPrice(t *testing.T) {
	for _, c := range []struct {
		name          string
		cheap         float64 // cost; the other one's is 5
		limits        Limits
		cheapPlays    int
		price, factor float64 // of a step, and by how many times a dear set's gain must be greater
	}{
		{"no steps", 1, Limits{Budget: 100}, 0, 0, 5},
		{"no budget", 1, Limits{Steps: 20}, 10, math.Sqrt(5), math.Sqrt(5)},
		{"both", 1, Limits{Budget: 100, Steps: 60}, 10, 90. / 50, 6.8 / 2.8},
		{"steps run out", 1, Limits{Budget: 100, Steps: 60}, 50, 5, 10. / 6},
		{"a free set, at the beginning", 0, Limits{Budget: 100, Steps: 200}, 0, 0.5, 11},
		{"a free set, at the end", 0, Limits{Budget: 100, Steps: 200}, 190, 5, 2},
		{"more steps than are bought", 1, Limits{Budget: 5, Steps: 60}, 10, 0, 5},
	} {
		costs := []float64{c.cheap, 5}
		e := newExploreThenBuy(sets(2, costs, []int{0}, []int{0, 1}), costs, c.limits)
		for range c.cheapPlays {
			e.RecordPlay(0)
		}
		if got := e.priceOfStep(); math.Abs(got-c.price) > 1e-12 {
			t.Errorf("%s: a step has the price %g, want %g", c.name, got, c.price)
		}
		e.left = nil // the first plays are over
		for want, gain := range []float64{0.99 * c.factor, 1.01 * c.factor} {
			if got := e.Choose([]float64{1, gain}, costs); got != want {
				t.Errorf("%s: with a gain of %.3f times the cheap one's set %d is played", c.name, gain, got)
			}
		}
	}
}

// Free sets do not keep a run from spending its budget: they are out when they would have used it up at the least price,
// unless nothing else fits.
func TestFreeSetsEnd(t *testing.T) {
	costs := []float64{0, 0, 0.5, 1}
	e := newExploreThenBuy(sets(2, costs, []int{0}, []int{1}, []int{1}, []int{0, 1}), costs, Limits{Budget: 3})
	all := []int{0, 1, 2, 3}
	for i := range 300 { // 3/0.01
		if want := slices.Contains(e.Eligible(all), 0); !want {
			t.Fatalf("after %d plays for nothing they are out", i)
		}
		e.RecordPlay(i % 2)
	}
	if got := e.Eligible(all); !reflect.DeepEqual(got, []int{2, 3}) {
		t.Errorf("after 300 plays for nothing: eligible %v, want those that cost something", got)
	}
	if got := e.Eligible([]int{0, 1}); !reflect.DeepEqual(got, []int{0, 1}) {
		t.Errorf("where nothing else fits: eligible %v", got)
	}
	open := newExploreThenBuy(sets(2, costs, []int{0}, []int{1}, []int{1}, []int{0, 1}), costs, Limits{Steps: 1000})
	for range 600 {
		open.RecordPlay(0)
	}
	if got := open.Eligible(all); !reflect.DeepEqual(got, all) {
		t.Errorf("without a budget: eligible %v, want all", got)
	}
}

// Where costs are read, the guesses do not matter: groups and their plays follow the readings, plays so far
// count, and sets whose costs are not told apart share a group.
func TestScheduleFollowsReadCosts(t *testing.T) {
	lists := [][]int{{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}}
	guesses := []float64{1, 1, 1, 1, 1, 1, 1}
	e := newExploreThenCommit(sets(3, guesses, lists...), guesses, adaTurns)
	if len(e.groups) != 0 {
		t.Fatalf("equal guesses make groups %v", e.groups)
	}
	e.RecordPlay(0)
	e.RecordPlay(4)
	prices := []float64{.1, .11, .1, .2, .2, .21, 1}
	near := func(i, j int) bool { return math.Abs(prices[i]-prices[j]) <= 0.02 }
	e.Reprice(prices, near)
	if want := [][]int{{0, 2, 1}, {3, 4, 5}}; !reflect.DeepEqual(e.groups, want) || !reflect.DeepEqual(e.left, []int{39, 19}) {
		t.Errorf("groups %v with %v plays left, want %v with 39 and 19", e.groups, e.left, want)
	}
}

// Where costs are read, the share of the budget follows the readings.
func TestShareFollowsReadCosts(t *testing.T) {
	guesses := []float64{1, 1, 1}
	e := newExploreThenBuy(sets(3, guesses, []int{0}, []int{0, 1}, []int{0, 1, 2}), guesses, Limits{Budget: 50})
	for i := range guesses {
		e.RecordPlay(i)
	}
	prices := []float64{.8, .6, 1}
	e.Reprice(prices, func(i, j int) bool { return prices[i] == prices[j] })
	if want := []int{35, -1}; !reflect.DeepEqual(e.groups, [][]int{{1}, {0}}) || !reflect.DeepEqual(e.left, want) {
		t.Errorf("groups %v with %v plays left, want set 1 first with 35 of 36, and none of set 0", e.groups, e.left)
	}
}

// always is the same number of plays for every group.
func always(plays int) turns { return func(int, float64, float64) int { return plays } }

// sets are control sets of d variables.
func sets(d int, costs []float64, lists ...[]int) []space.ControlSet {
	out := make([]space.ControlSet, len(lists))
	for i, list := range lists {
		out[i] = space.ControlSet{Controlled: make([]bool, d), Cost: costs[i]}
		for _, j := range list {
			out[i].Controlled[j] = true
		}
	}
	return out
}
