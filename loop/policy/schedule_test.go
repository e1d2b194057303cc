package policy

import (
	"math"
	"reflect"
	"testing"

	"github.com/labtuner/tuner/loop/policy/constraint"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/space"
)

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
		if got := rule.Choose([]float64{1, 3, 2}, nil); got != 1 || rule.Slack() != 0 {
			t.Fatalf("chose %d with a slack of %v, want the greatest and none", got, rule.Slack())
		}
		rule.RecordPlay(1)
	}
	if got := rule.Eligible([]int{0, 2}); !reflect.DeepEqual(got, []int{0, 2}) {
		t.Errorf("eligible %v, want all that fit", got)
	}
}

// The full control set stands for all where it is the best of all whatever is known; where it may not
// be, all compete when exploring is over.
func TestExploreThenCommitAmongAll(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *Spec)
		want   []int
	}{
		"plain":       {func(*Spec) {}, []int{2}},
		"per cost":    {func(s *Spec) { s.PerCost = true }, []int{0, 1, 2}},
		"constraints": {func(s *Spec) { s.Constraints = make([]constraint.Spec, 1) }, []int{0, 1, 2}},
		"learnt":      {func(s *Spec) { s.Variables[2].Random.Kind = space.Learnt }, []int{0, 1, 2}},
	} {
		s := subsetsSpec("ucb-cvs", 1)
		s.Schedule = "etc-ada"
		c.change(&s)
		rule := newSchedule(&s, []float64{.1, .2, 1})
		for range 100 { // more than the cheap sets have plays
			rule.RecordPlay(0)
			rule.RecordPlay(1)
		}
		if got := rule.Eligible([]int{0, 1, 2}); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v compete in the end, want %v", name, got, c.want)
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
	if got := fresh(t, s).(*engine).schedule.Eligible([]int{0, 1, 2}); !reflect.DeepEqual(got, []int{1}) {
		t.Errorf("%v begin, want the one that is cheaper than the full set", got)
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
		for !e.schedule.PerPrice() { // the cheap sets' plays are over
			e.schedule.RecordPlay(0)
			e.schedule.RecordPlay(1)
		}
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

// The budget decides when all sets compete, and without one the end of the steps does: the cheapest set gets
// its share, sqrt(0.1)/(sqrt(0.1) + 1) of either, before.
func TestAutoSharesTheBudget(t *testing.T) {
	for name, c := range map[string]struct {
		budget float64
		steps  int
		plays  int
	}{
		"a budget of 3":           {3, 0, 7},
		"20 steps":                {0, 20, 4},
		"an open end: ETC-Ada's":  {0, 0, 40},
		"a budget, and steps too": {3, 20, 4},
	} {
		s := subsetsSpec("ucb-cvs", 1)
		s.Schedule, s.Budget, s.Steps = "auto", c.budget, c.steps
		rule := newSchedule(&s, []float64{.1, .2, 1})
		plays := 0
		for reflect.DeepEqual(rule.Eligible([]int{0, 1, 2}), []int{0}) {
			rule.RecordPlay(0)
			plays++
		}
		if plays != c.plays {
			t.Errorf("%s: %d plays of the cheapest set, want %d", name, plays, c.plays)
		}
	}
}

// raised is a policy that reads everything 3 higher, so that a level is no gain.
type raised struct{ *engine }

func (r raised) Observe(o Observation) error {
	o.Mean += 3
	return r.engine.Observe(o)
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
