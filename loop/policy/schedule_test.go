package policy

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/labtuner/tuner/loop/policy/constraint"
	"github.com/labtuner/tuner/loop/policy/internal/num"
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
		if got := e.choose(values, prices); got != want {
			t.Fatalf("seed %d: prices %v, values %v, epsilon %g: chose %d, want %d", seed, prices, values, eps, got, want)
		}
	}
}

func TestEpsilonScheduleAdvances(t *testing.T) {
	e := &epsilonSchedule{epsilon: []float64{5, 0}}
	if got := e.choose([]float64{0, 1}, []float64{1, 2}); got != 0 {
		t.Error("with a large epsilon the cheap set is played")
	}
	e.recordPlay(0)
	e.recordPlay(0) // the last value holds
	if got := e.choose([]float64{0, 1}, []float64{1, 2}); got != 1 {
		t.Error("with epsilon zero the best set is played")
	}
}

// The paper's groups and numbers of plays (Tay et al., NeurIPS 2023, section 5).
func TestExploreThenCommitPlays(t *testing.T) {
	lists := [][]int{{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}}
	for _, c := range []struct {
		name  string
		costs []float64
		plays int
		want  []int
	}{
		{"cheap", []float64{.01, .01, .01, .1, .1, .1, 1}, 0, []int{400, 40}},
		{"moderate", []float64{.1, .1, .1, .2, .2, .2, 1}, 0, []int{40, 20}},
		{"expensive", []float64{.6, .6, .6, .8, .8, .8, 1}, 0, []int{6, 5}},
		{"moderate in cents", []float64{10, 10, 10, 20, 20, 20, 100}, 0, []int{40, 20}},
		{"etc-50", []float64{.1, .1, .1, .2, .2, .2, 1}, 50, []int{50, 50}},
	} {
		e := newExploreThenCommit(sets(3, c.costs, lists...), c.costs, c.plays)
		if !reflect.DeepEqual(e.left, c.want) || !reflect.DeepEqual(e.groups, [][]int{{0, 1, 2}, {3, 4, 5}}) || e.full != 6 {
			t.Errorf("%s: groups %v with %v plays, want %v", c.name, e.groups, e.left, c.want)
		}
	}
}

// The order of play: groups from cheap to dear, then the full set alone; sets that
// do not fit the budget are passed over.
func TestExploreThenCommitOrder(t *testing.T) {
	lists := [][]int{{0, 1, 2}, {1, 2}, {0}, {1}}
	e := newExploreThenCommit(sets(3, make([]float64, 4), lists...), []float64{1, .2, .1, .1}, 2)
	all := []int{0, 1, 2, 3}
	for i, want := range [][]int{{2, 3}, {2, 3}, {1}, {1}, {0}, {0}} {
		got := e.eligible(all)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("play %d: eligible %v, want %v", i, got, want)
		}
		e.recordPlay(got[0])
	}
	if got := e.eligible([]int{1, 2, 3}); !reflect.DeepEqual(got, []int{1, 2, 3}) {
		t.Errorf("when the full set does not fit, all that fit compete: %v", got)
	}
	// Without a full set, the most expensive group is not explored for its own sake.
	e = newExploreThenCommit(sets(3, make([]float64, 3), []int{0}, []int{1}, []int{2}), []float64{.1, .2, 1}, 1)
	if !reflect.DeepEqual(e.groups, [][]int{{0}, {1}}) {
		t.Errorf("groups %v", e.groups)
	}
	e.recordPlay(0)
	e.recordPlay(1)
	if got := e.eligible([]int{0, 1, 2}); !reflect.DeepEqual(got, []int{0, 1, 2}) {
		t.Errorf("after all groups everything competes: %v", got)
	}
}

// Without a schedule the greatest value is played, whatever it costs and however long
// the run; a kind that needs a schedule accepts that there is none.
func TestNoSchedule(t *testing.T) {
	s := subsetsSpec("ucb-cvs", 1)
	s.Schedule = "none"
	if _, err := New(s); err != nil {
		t.Fatal(err)
	}
	rule := newSchedule(&s, nil)
	for range 200 {
		if got := rule.choose([]float64{1, 3, 2}, nil); got != 1 || rule.slack() != 0 {
			t.Fatalf("chose %d with a slack of %v, want the greatest and none", got, rule.slack())
		}
		rule.recordPlay(1)
	}
	if got := rule.eligible([]int{0, 2}); !reflect.DeepEqual(got, []int{0, 2}) {
		t.Errorf("eligible %v, want all that fit", got)
	}
}

// The full control set stands for all where it is the best of all whatever is known; where it may not
// be, all compete when exploring is over.
func TestExploreThenCommitAmongAll(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *Spec)
		want   int
	}{
		"plain":       {func(*Spec) {}, 2},
		"per cost":    {func(s *Spec) { s.PerCost = true }, -1},
		"constraints": {func(s *Spec) { s.Constraints = make([]constraint.Spec, 1) }, -1},
		"learnt":      {func(s *Spec) { s.Variables[2].Random.Kind = space.Learnt }, -1},
	} {
		s := subsetsSpec("ucb-cvs", 1)
		s.Schedule = "etc-ada"
		c.change(&s)
		if got := newSchedule(&s, []float64{.1, .2, 1}).(*exploreThenCommit).full; got != c.want {
			t.Errorf("%s: commits to %d, want %d", name, got, c.want)
		}
	}
}

// Schedules look at the whole price of a step: a control set that is free, but dear to move, is not the
// cheapest.
func TestSchedulesLookAtTheWholePrice(t *testing.T) {
	s := subsetsSpec("ucb-cvs", 1)
	s.ControlSets[0].Cost = 0
	s.SettingCost = func(set int, _ []float64) float64 { return []float64{3, 0, 0}[set] }
	s.Schedule, s.Epsilon = "epsilon", []float64{1e6}
	e := fresh(t, s).(*engine)
	fill(t, e, s, s.InitialSteps+1, 1)
	if p := propose(t, e); p.ControlSet != 1 {
		t.Errorf("control set %d, want 1: it is the cheapest with its setting", p.ControlSet)
	}
	s.Schedule = "etc-50"
	if got := fresh(t, s).(*engine).schedule.(*exploreThenCommit).groups; !reflect.DeepEqual(got, [][]int{{1}}) {
		t.Errorf("groups %v, want the one that is cheaper than the full set", got)
	}
}

// The rule as it is written: after the cheap groups' plays the greatest gain for its price, all sets
// competing; a free set does not win by being free.
func TestExploreThenBuy(t *testing.T) {
	costs := []float64{.1, .2, 1}
	e := newExploreThenBuy(sets(3, costs, []int{0}, []int{0, 1}, []int{0, 1, 2}), costs)
	all := []int{0, 1, 2}
	if want := []int{40, 20}; !reflect.DeepEqual(e.left, want) {
		t.Fatalf("plays %v, want %v", e.left, want)
	}
	for i := range 60 {
		if want := []int{min(i/40, 1)}; !reflect.DeepEqual(e.eligible(all), want) || e.perPrice() || e.slack() != 0 {
			t.Fatalf("play %d: eligible %v, want %v", i, e.eligible(all), want)
		}
		e.recordPlay(e.eligible(all)[0])
	}
	if got := e.eligible(all); !reflect.DeepEqual(got, all) || !e.perPrice() || !math.IsInf(e.slack(), 1) {
		t.Fatalf("after the first plays: eligible %v", got)
	}
	const seed = 6
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		gains, prices := []float64{}, []float64{}
		want, most := -1, math.Inf(-1)
		for k := range 1 + rng.IntN(6) {
			gains, prices = append(gains, rng.NormFloat64()), append(prices, float64(rng.IntN(4))/2)
			if rate := gains[k] / max(prices[k], 1./1000); rate > most {
				want, most = k, rate
			}
		}
		if got := e.choose(gains, prices); got != want {
			t.Fatalf("seed %d: gains %v, prices %v: chose %d, want %d", seed, gains, prices, got, want)
		}
	}
	free := newExploreThenBuy(sets(2, []float64{0, 0}, []int{0}, []int{0, 1}), []float64{0, 0})
	if got := free.choose([]float64{1, 2}, []float64{0, 0}); got != 1 {
		t.Errorf("where nothing costs anything: chose %d, want the greatest gain", got)
	}
}

// A dear set is paid when it may gain more for its price than cheap ones, which depends on the data: the
// gain is counted from what would be recommended, without which the cheap sets' quotients win.
func TestAutoPaysWhenMoreIsToBeGained(t *testing.T) {
	s := subsetsSpec("ucb-cvs", 1)
	s.Schedule = "auto"
	for i, price := range []float64{.6, .8, 1} {
		s.ControlSets[i].Cost = price
	}
	differ := 0
	for n := s.InitialSteps + 1; n < s.InitialSteps+13; n++ {
		e := fresh(t, s).(*engine)
		fill(t, raised{e}, s, n, 1)
		clear(e.schedule.(*exploreThenBuy).left)
		p := propose(t, e)
		worth, err := recommendedWorth(e)
		if err != nil {
			t.Fatal(err)
		}
		d := prepared(t, e, p.Step, []int{0, 1, 2})
		options, err := e.options(d)
		if err != nil {
			t.Fatal(err)
		}
		found, err := e.search(d, options, math.Inf(1))
		if err != nil {
			t.Fatal(err)
		}
		gain, level := make([]float64, len(options)), make([]float64, len(options))
		for i, o := range options {
			value, price := o.InUserUnits(e.model.Active, found[i].Value), s.ControlSets[o.Set].Cost
			gain[i], level[i] = (value-worth)/price, value/price
		}
		if want := num.Argmax(gain); p.ControlSet != want {
			t.Errorf("%d observations: control set %d, want %d, of gains %v a unit of cost", n, p.ControlSet, want, gain)
		}
		if num.Argmax(gain) != num.Argmax(level) {
			differ++
		}
	}
	if differ == 0 {
		t.Error("counting from the recommendation made no difference: the test tests nothing")
	}
}

// raised is a policy that reads everything 3 higher, so that a level is no gain.
type raised struct{ *engine }

func (r raised) Observe(o Observation) error {
	o.Mean += 3
	return r.engine.Observe(o)
}

// Where costs are read, the guesses do not matter: groups and their plays follow the readings, plays so far
// count, and sets whose costs are not told apart share a group.
func TestScheduleFollowsReadCosts(t *testing.T) {
	lists := [][]int{{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}}
	guesses := []float64{1, 1, 1, 1, 1, 1, 1}
	e := newExploreThenCommit(sets(3, guesses, lists...), guesses, 0)
	if len(e.groups) != 0 {
		t.Fatalf("equal guesses make groups %v", e.groups)
	}
	e.recordPlay(0)
	e.recordPlay(4)
	prices := []float64{.1, .11, .1, .2, .2, .21, 1}
	near := func(i, j int) bool { return math.Abs(prices[i]-prices[j]) <= 0.02 }
	e.reprice(prices, near)
	if want := [][]int{{0, 2, 1}, {3, 4, 5}}; !reflect.DeepEqual(e.groups, want) || !reflect.DeepEqual(e.left, []int{39, 19}) {
		t.Errorf("groups %v with %v plays left, want %v with 39 and 19", e.groups, e.left, want)
	}
}

// Every set is played once, then what was read decides: with guesses the wrong way round Algorithm 1 takes the
// set that was read to be cheap.
func TestReadCostsDecide(t *testing.T) {
	s := cvsSpec()
	s.InitialSteps, s.CostsRead, s.Schedule, s.Epsilon = 3, true, "epsilon", []float64{100}
	s.ControlSets = sets(3, []float64{1, .2, .1}, []int{0}, []int{0, 1}, []int{0, 1, 2})
	p := fresh(t, s)
	truth := []float64{.1, .2, 1}
	for step := range 12 {
		q := propose(t, p)
		if step < 3 && q.ControlSet != step || step >= 3 && q.ControlSet != 0 {
			t.Fatalf("step %d plays set %d; want each once, then the cheapest", step+1, q.ControlSet+1)
		}
		for _, o := range answers(&s, q) {
			if o.Cost > 0 {
				o.Cost, o.SetCost = truth[q.ControlSet], truth[q.ControlSet]*(1+0.1*math.Sin(float64(step)))
			}
			observe(t, p, o)
		}
	}
	for _, bad := range []float64{-1, math.Inf(1)} {
		if err := p.Observe(Observation{Step: 13, X: []float64{.5, .5, .5}, Variance: math.NaN(), Shots: 1, SetCost: bad}); err == nil {
			t.Errorf("a control set's cost of %g is taken", bad)
		}
	}
}
